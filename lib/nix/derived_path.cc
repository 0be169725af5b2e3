#include "lib/nix/derived_path.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lib/base/status_macros.h"
#include "lib/nix/realisation.h"
#include "lib/nix/store_path.h"

namespace hydrant::nix {
absl::Status DerivedPath::Check() const {
  HYDRANT_RETURN_IF_ERROR(CheckStorePath(path));
  if (kind == Kind::kOpaque) return absl::OkStatus();
  if (!std::string_view(path).ends_with(".drv"))
    return absl::InvalidArgumentError(absl::StrCat(path, " has no outputs: it is no derivation"));
  if (kind == Kind::kOutputs && outputs.empty())
    return absl::InvalidArgumentError(absl::StrCat(path, ": no output is named, expected at least one"));
  for (const std::string& name : outputs) HYDRANT_RETURN_IF_ERROR(Annotate(CheckOutputName(name), path));
  return absl::OkStatus();
}

std::string DerivedPath::ToString() const {
  switch (kind) {
    case Kind::kOpaque:
      return path;
    case Kind::kAllOutputs:
      return path + "!*";
    case Kind::kOutputs:
      return absl::StrCat(path, "!", absl::StrJoin(outputs, ","));
  }
  return path;
}

absl::StatusOr<DerivedPath> DerivedPath::Parse(std::string_view text) {
  const size_t mark = text.find('!');
  DerivedPath result = Opaque(std::string(text.substr(0, mark)));
  if (mark != std::string_view::npos) {
    const std::string_view names = text.substr(mark + 1);
    result.kind = names == "*" ? Kind::kAllOutputs : Kind::kOutputs;
    if (names != "*") {
      for (const auto name : absl::StrSplit(AbslView(names), ',')) result.outputs.insert(std::string(name));
    }
  }
  HYDRANT_RETURN_IF_ERROR(result.Check());
  return result;
}

}  // namespace hydrant::nix
