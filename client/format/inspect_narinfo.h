// How `hydrant inspect narinfo` shows a narinfo and what it says of its signatures.
#ifndef HYDRANT_CLIENT_FORMAT_INSPECT_NARINFO_H_
#define HYDRANT_CLIENT_FORMAT_INSPECT_NARINFO_H_

#include <string>
#include <vector>

#include "client/format/json.h"
#include "client/format/screen.h"
#include "lib/nix/narinfo.h"

namespace hydrant::client {

enum class SignatureState { kNotJudged, kRight, kWrong };  // not judged: no key of its name was given

struct SignatureVerdict {
  std::string signature, key;  // the key's name
  SignatureState state = SignatureState::kNotJudged;
};

struct InspectedNarinfo {
  std::string file;
  nix::NarInfo info;
  std::vector<SignatureVerdict> signatures;  // one for each of info
  std::vector<std::string> absent_keys;      // names of given keys that signed nothing
};

std::string FormatNarinfo(const InspectedNarinfo& inspected, const Screen& screen);
std::string NarinfoJson(const InspectedNarinfo& inspected, JsonLayout layout);

// Why the given keys do not vouch for it: a signature of theirs is wrong, or none of them signed it. Empty:
// they do.
std::string SignatureFault(const InspectedNarinfo& inspected);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_INSPECT_NARINFO_H_
