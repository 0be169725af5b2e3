#include "daemon/matrix_folder.h"

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "lib/base/log.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/matrix_reader.h"

namespace hydrant {

absl::Status ApplyMatrixFolder(const std::string& folder, const std::string& system, Coordinator& coordinator) {
  if (folder.empty()) return absl::OkStatus();
  std::error_code error;
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".toml") files.insert(entry.path().string());
  }
  if (error) return absl::NotFoundError(absl::StrCat("read the folder of matrices ", folder, ": ", error.message()));
  std::vector<MatrixTextRecord> texts;
  std::map<std::string, std::string> by_name;  // matrix -> file
  std::set<std::string> names;
  for (const std::string& file : files) {
    HYDRANT_ASSIGN_OR_RETURN(MatrixText text, LoadMatrixFile(file));
    MatrixTextRecord record{.toml = text.toml, .files = text.files, .directory = folder, .file = file};
    HYDRANT_ASSIGN_OR_RETURN(std::shared_ptr<const Declared> declared, Declare(record, system));
    const std::string& name = declared->matrix.name;
    if (auto [other, added] = by_name.try_emplace(name, file); !added) {
      return absl::InvalidArgumentError(absl::StrCat(file, ": name: '", name, "' is the name of ", other->second, " too"));
    }
    names.insert(name);
    texts.push_back(std::move(record));
  }
  for (MatrixTextRecord& text : texts) {
    const std::string file = text.file;
    HYDRANT_ASSIGN_OR_RETURN(ApplyResult applied, coordinator.Apply(std::move(text), true));
    Log(LogLevel::kInfo, "matrix applied", {{"matrix", applied.name}, {"file", file}});
  }
  return coordinator.KeepOfFolder(names);
}

}  // namespace hydrant
