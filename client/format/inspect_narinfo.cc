#include "client/format/inspect_narinfo.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/format/description.h"
#include "client/format/json_document.h"

namespace hydrant::client {
namespace {

// The fields that Nix lets a narinfo lack.
std::vector<std::string> MissingFields(const nix::NarInfo& info) {
  std::vector<std::string> missing;
  if (!info.file_hash.has_value()) missing.push_back("FileHash");
  if (info.file_size == 0) missing.push_back("FileSize");
  if (info.deriver.empty()) missing.push_back("Deriver");
  if (info.signatures.empty()) missing.push_back("Sig");
  return missing;
}

std::string StateWord(SignatureState state) {
  switch (state) {
    case SignatureState::kNotJudged:
      return "not judged";
    case SignatureState::kRight:
      return "right";
    case SignatureState::kWrong:
      return "wrong";
  }
  return "";
}

Style StyleOf(SignatureState state) {
  return state == SignatureState::kRight   ? Style::kGood
         : state == SignatureState::kWrong ? Style::kBad
                                           : Style::kPlain;
}

}  // namespace

std::string FormatNarinfo(const InspectedNarinfo& inspected, const Screen& screen) {
  const nix::NarInfo& info = inspected.info;
  Writer writer(screen);
  writer.Text(info.store_path.path(), Style::kBold).Line();
  Describe(writer, "url", info.url);
  Describe(writer, "compression", info.compression);
  if (info.file_hash.has_value()) Describe(writer, "file hash", info.file_hash->ToNixString());
  if (info.file_size > 0) Describe(writer, "file size", absl::StrCat(info.file_size));
  Describe(writer, "nar hash", info.nar_hash.ToNixString());
  Describe(writer, "nar size", absl::StrCat(info.nar_size));
  Describe(writer, "deriver", info.deriver);
  Describe(writer, "ca", info.content_address);
  for (const nix::StorePath& reference : info.references) Describe(writer, "reference", reference.path());
  for (const SignatureVerdict& verdict : inspected.signatures) {
    Describe(writer, "signature", absl::StrCat(verdict.key, ": ", StateWord(verdict.state)),
             StyleOf(verdict.state));
  }
  for (const std::string& key : inspected.absent_keys)
    Describe(writer, "signature", key + ": missing", Style::kWarn);
  Describe(writer, "missing", absl::StrJoin(MissingFields(info), " "), Style::kWarn);
  return writer.Take();
}

std::string NarinfoJson(const InspectedNarinfo& inspected, JsonLayout layout) {
  const nix::NarInfo& info = inspected.info;
  const Json signatures = List(inspected.signatures, [](const SignatureVerdict& verdict) {
    const bool judged = verdict.state != SignatureState::kNotJudged;
    return Json{{"key", verdict.key},
                {"signature", verdict.signature},
                {"right", judged ? Json(verdict.state == SignatureState::kRight) : Json(nullptr)}};
  });
  return Dump(
      {{"store_path", info.store_path.path()},
       {"url", info.url},
       {"compression", info.compression},
       {"file_hash", info.file_hash.has_value() ? Json(info.file_hash->ToNixString()) : Json(nullptr)},
       {"file_size", info.file_size > 0 ? Json(info.file_size) : Json(nullptr)},
       {"nar_hash", info.nar_hash.ToNixString()},
       {"nar_size", info.nar_size},
       {"references", List(info.references, [](const nix::StorePath& path) { return Json(path.path()); })},
       {"deriver", Nullable(info.deriver)},
       {"ca", Nullable(info.content_address)},
       {"signatures", signatures},
       {"keys_without_signature", inspected.absent_keys},
       {"missing", MissingFields(info)},
       {"fingerprint", nix::Fingerprint(info)}},
      layout);
}

std::string SignatureFault(const InspectedNarinfo& inspected) {
  bool vouched = false;
  for (const SignatureVerdict& verdict : inspected.signatures) {
    if (verdict.state == SignatureState::kWrong)
      return absl::StrCat("the signature of ", verdict.key, " is not that of this narinfo");
    vouched = vouched || verdict.state == SignatureState::kRight;
  }
  if (vouched) return "";
  std::string fault = absl::StrCat("no signature of ", absl::StrJoin(inspected.absent_keys, " or "));
  if (inspected.signatures.empty()) return fault + "; it has none at all";
  return absl::StrCat(
      fault, "; it has one of ",
      absl::StrJoin(inspected.signatures, ", ",
                    [](std::string* out, const SignatureVerdict& verdict) { *out += verdict.key; }));
}

}  // namespace hydrant::client
