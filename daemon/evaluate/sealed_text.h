// A text as the bytes of a file that may be damaged, cut off or another version's: magic, version, SHA-256 of
// the rest, the text in zstd. Knows nothing of what the text says.
#ifndef HYDRANT_DAEMON_EVALUATE_SEALED_TEXT_H_
#define HYDRANT_DAEMON_EVALUATE_SEALED_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hydrant {

struct Seal {
  std::string_view magic;
  char version = 1;
};

absl::StatusOr<std::string> SealText(const Seal& seal, std::string_view text);
// DataLoss says what is wrong; at most 256 MiB of text.
absl::StatusOr<std::string> UnsealText(const Seal& seal, std::string_view bytes);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_SEALED_TEXT_H_
