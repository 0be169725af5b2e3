#include "client/commands/matrix_file.h"

#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "lib/base/status_macros.h"
#include "lib/matrix/matrix_reader.h"

namespace hydrant::client {

absl::StatusOr<MatrixFile> ReadMatrixFile(const std::string& path) {
  HYDRANT_ASSIGN_OR_RETURN(const hydrant::MatrixText text, LoadMatrixFile(path));
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) return absl::NotFoundError(path + ": " + error.message());
  MatrixFile file;
  file.text.set_toml(text.toml);
  for (const auto& [name, content] : text.files) (*file.text.mutable_files())[name] = content;
  file.text.set_directory(absolute.lexically_normal().parent_path().string());
  file.text.set_file(path);
  HYDRANT_ASSIGN_OR_RETURN(file.matrix, ReadMatrix(text, path, file.text.directory()));
  return file;
}

std::string LocalSystem() {
  utsname name;
  if (uname(&name) != 0) return "x86_64-linux";
  return std::string(name.machine) + "-linux";
}

v1::GetStatusResponse StatusOfExpansion(const Matrix& matrix, const Expansion& expansion) {
  v1::GetStatusResponse status;
  std::vector<std::string> slices;
  for (const Slice& slice : expansion.slices) slices.push_back(SliceJson(slice));
  for (const Variant& variant : expansion.variants) {
    v1::VariantStatus& cell = *status.add_variants();
    cell.set_id(variant.id);
    cell.set_package(variant.package);
    cell.set_slice_json(slices[variant.slice]);
    cell.set_state(variant.cause == Cause::kNone ? "pending" : "impossible");
    cell.set_cause(std::string(CauseName(variant.cause)));
    cell.set_message(variant.message);
    const auto matches = [&](const std::string& glob) { return MatchesVariant(matrix, glob, variant); };
    cell.set_required(std::any_of(matrix.gate.required.begin(), matrix.gate.required.end(), matches));
    ++(*status.mutable_totals())[cell.state()];
  }
  return status;
}

}  // namespace hydrant::client
