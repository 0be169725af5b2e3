#include "daemon/evaluate/evaluation_key.h"

#include <sys/resource.h>

#include <initializer_list>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "daemon/evaluate/driver_files.h"
#include "lib/base/status_macros.h"
#include "lib/base/subprocess.h"
#include "lib/matrix/nixpkgs_sets.h"
#include "lib/nix/hash.h"

namespace hydrant {
namespace {

// Length-prefixed, so that no two different lists run together.
void Append(std::string& text, std::string_view field) {
  absl::StrAppend(&text, field.size(), ":", AbslView(field), ";");
}

void AppendAll(std::string& text, const std::vector<std::string>& fields) {
  absl::StrAppend(&text, fields.size(), "[");
  for (const std::string& field : fields) Append(text, field);
}

void AppendOverlays(std::string& text, const std::vector<Overlay>& overlays) {
  absl::StrAppend(&text, overlays.size(), "[");
  for (const Overlay& overlay : overlays) {
    Append(text, overlay.file);  // errors name it
    Append(text, overlay.text);
  }
}

}  // namespace

absl::StatusOr<std::string> EvaluatorIdentity(const nix::CommandSettings& nix) {
  HYDRANT_ASSIGN_OR_RETURN(
      const Completed told,
      Run({.argv = {"nix-instantiate", "--version"}, .env = CommandEnvironment(nix), .clear_env = true}, "",
          absl::Minutes(1)));
  if (!told.status.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("ask Nix for its version: ", told.status.ToString(), ": ", told.err));
  }
  rlimit stack = {};
  getrlimit(RLIMIT_STACK, &stack);
  std::string text;
  Append(text, told.out);
  Append(text, absl::StrCat(stack.rlim_cur));
  for (const DriverFile& file : DriverFiles()) {
    Append(text, file.path);
    Append(text, file.text);
  }
  return nix::HashSha256(text).ToBase32();
}

std::string SliceKey(const EvaluationInput& input, const Slice& slice, const std::string& evaluator) {
  // By name, so that a new field is either in the key or does not compile.
  const auto& [recipe, recipe_text, allow, config_json, overlays, overlay_sets, config_sets, ifd,
               allowed_uris, probe] = input.matrix.nixpkgs;
  std::string text;
  const std::string path = input.tree.find("/nix/store/") == std::string::npos ? "" : input.tree;
  const std::string slice_json = SliceJson(slice);
  const std::string own_recipe = recipe_text.empty() ? recipe : "";
  for (const std::string* field :
       {&evaluator, &input.revision, &path, &own_recipe, &recipe_text, &config_json, &slice_json}) {
    Append(text, *field);
  }
  AppendAll(text, allow);
  AppendOverlays(text, overlays);
  Append(text, ifd ? "ifd" : "");
  AppendAll(text, allowed_uris);
  AppendAll(text, probe);
  // Of the sets those that the slice chooses: another one's text changes nothing here.
  if (const auto* own = OverlaySetOf(input.matrix.nixpkgs, slice.axes)) AppendOverlays(text, *own);
  if (const std::string* own = ConfigSetOf(input.matrix.nixpkgs, slice.axes)) Append(text, *own);
  return nix::HashSha256(text).ToBase32();
}

std::string DerivedListKey(const EvaluationInput& input, const std::string& evaluator) {
  const auto& [changed_by, filter] = *input.matrix.derived;
  std::string text;
  Append(text, SliceKey(input, input.expansion.slices[FirstPossibleSlice(input.expansion)], evaluator));
  Append(text, changed_by);
  AppendAll(text, filter);
  for (const std::string& glob : filter) {
    const auto group = input.matrix.groups.find(glob.starts_with('@') ? glob.substr(1) : "");
    if (group != input.matrix.groups.end()) AppendAll(text, group->second);
  }
  return nix::HashSha256(text).ToBase32();
}

}  // namespace hydrant
