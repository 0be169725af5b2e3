#include "lib/matrix/matrix_reader.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/axes_reader.h"
#include "lib/matrix/channel_names.h"
#include "lib/matrix/git_address.h"
#include "lib/matrix/names.h"
#include "lib/matrix/nearest_word.h"
#include "lib/matrix/nixpkgs_sets_reader.h"
#include "lib/matrix/policy_reader.h"
#include "lib/matrix/table_reader.h"
#include "lib/matrix/toml_reader.h"
#include "lib/matrix/uri_prefixes.h"

namespace hydrant {
namespace {

using Kind = TomlNode::Kind;

const std::vector<std::string> BuiltInRecipes() { return {"auto", "2020", "2022", "2025"}; }

const std::vector<std::string> NixpkgsKeys() {
  return {"recipe",       "allow",        "config", "overlays",   "ifd",
          "allowed_uris", "overlay_sets", "probe",  "config_sets"};
}

bool IsRecipeFile(const std::string& recipe) { return recipe.ends_with(".nix"); }

// `path` from `directory` (itself from the working folder), without "." and ".." where they cancel out.
std::string AbsolutePath(std::string_view directory, const std::string& path) {
  const auto joined = std::filesystem::absolute(std::filesystem::path(directory) / path).lexically_normal();
  return joined.has_filename() || joined == joined.root_path() ? joined.string()
                                                               : joined.parent_path().string();
}

class MatrixReader {
 public:
  MatrixReader(const MatrixText& text, std::string_view file, std::string_view directory)
      : text_(text), directory_(directory), errors_(file) {}

  absl::StatusOr<Matrix> Read(const TomlNode& document);

 private:
  void ReadHead(TableReader* top);
  void ReadSource(const TomlNode& table);
  void ReadNixpkgs(const TomlNode& table);
  void ReadRecipe(TableReader* reader);
  void ReadProbe(TableReader* reader);
  void ReadConfig(TableReader* reader);
  void ReadSets(TableReader* reader);
  // The text of a file that the matrix names.
  std::string FileText(TableReader* reader, const TomlMember& member, const std::string& path);

  const MatrixText& text_;
  const std::string directory_;
  ReadErrors errors_;
  Matrix matrix_;
};

absl::StatusOr<Matrix> MatrixReader::Read(const TomlNode& document) {
  TableReader top(document, "the matrix",
                  {"name", "reason", "priority", "source", "schedule", "nixpkgs", "axes", "groups", "include",
                   "exclude", "gate", "check", "limits", "license", "audit"},
                  &errors_);
  ReadHead(&top);
  if (const TomlNode* table = top.ReadTable("source")) ReadSource(*table);
  if (const TomlNode* table = top.ReadTable("nixpkgs")) ReadNixpkgs(*table);
  if (const TomlNode* table = top.ReadTable("axes")) ReadAxes(*table, &errors_, &matrix_);
  if (const TomlNode* table = top.ReadTable("groups")) ReadGroups(*table, &errors_, &matrix_);
  if (const TomlNode* table = top.ReadTable("axes")) CheckDerived(*table, matrix_, &errors_);
  if (const TomlNode* table = top.ReadTable("nixpkgs")) CheckSettings(*table, matrix_, &errors_);
  for (const TomlNode* table : top.ReadTables("include")) ReadInclude(*table, &errors_, &matrix_);
  for (const TomlNode* table : top.ReadTables("exclude")) ReadExclude(*table, &errors_, &matrix_);
  if (const TomlNode* table = top.ReadTable("gate")) ReadGate(*table, &errors_, &matrix_);
  for (const TomlNode* table : top.ReadTables("check")) ReadCheck(*table, &errors_, &matrix_);
  if (const TomlNode* table = top.ReadTable("limits")) ReadLimits(*table, &errors_, &matrix_);
  if (const TomlNode* table = top.ReadTable("license")) ReadLicence(*table, &errors_, &matrix_);
  if (const TomlNode* table = top.ReadTable("audit")) ReadAudit(*table, &errors_, &matrix_);
  if (const TomlNode* table = top.ReadTable("schedule")) ReadSchedule(*table, &errors_, &matrix_);
  if (!errors_.ok()) return errors_.status();
  return std::move(matrix_);
}

void MatrixReader::ReadHead(TableReader* top) {
  for (const char* key : {"name", "source", "axes"}) top->Require(key);
  top->ReadString("name", &matrix_.name);
  top->ReadString("reason", &matrix_.reason);
  top->ReadInteger("priority", -1000, 1000, &matrix_.priority);
  const std::string fault = NameFault(matrix_.name);
  if (errors_.ok() && !fault.empty()) top->Fail(*top->Find("name"), fault);
}

void MatrixReader::ReadSource(const TomlNode& table) {
  TableReader reader(table, "[source]", {"git", "branches", "path"}, &errors_);
  SourceSpec& source = matrix_.source;
  reader.ReadString("git", &source.git);
  reader.ReadString("path", &source.path);
  reader.ReadStrings("branches", {}, &source.branches);
  if (!errors_.ok()) return;
  const TomlMember *git = reader.Find("git"), *path = reader.Find("path"),
                   *branches = reader.Find("branches");
  if (git != nullptr && path != nullptr)
    return reader.Fail(*path, "stands beside git; a matrix has one source");
  if (git == nullptr && path == nullptr)
    return errors_.Add(table.line, "[source] has neither git nor path; one is required");
  if (branches != nullptr && path != nullptr) return reader.Fail(*branches, "only means something with git");
  if (path != nullptr) source.path = AbsolutePath(directory_, source.path);
  if (git != nullptr) {
    if (const auto address = ParseGitAddress(source.git); !address.ok())
      return reader.Fail(*git, StdView(address.status().message()));
  }
  for (const std::string& branch : source.branches) {
    const std::string fault = BranchFault(branch);
    if (!fault.empty()) return reader.Fail(*branches, fault);
  }
  if (const std::string fault = ChannelFault(matrix_); !fault.empty()) reader.Fail(*branches, fault);
}

void MatrixReader::ReadNixpkgs(const TomlNode& table) {
  TableReader reader(table, "[nixpkgs]", NixpkgsKeys(), &errors_);
  NixpkgsSpec& nixpkgs = matrix_.nixpkgs;
  ReadRecipe(&reader);
  ReadConfig(&reader);
  reader.ReadBoolean("ifd", &nixpkgs.ifd);
  reader.ReadStrings("allow", {.may_be_empty = true}, &nixpkgs.allow);
  for (const std::string& gate : nixpkgs.allow) {
    if (gate == "unfree" || gate == "broken" || gate == "insecure") continue;
    reader.Fail(*reader.Find("allow"),
                absl::StrCat("'", gate, "' is not one of unfree, broken, insecure",
                             NearestHint(gate, std::vector<std::string>{"unfree", "broken", "insecure"})));
  }
  reader.ReadStrings("allowed_uris", {.may_be_empty = true}, &nixpkgs.allowed_uris);
  for (const std::string& prefix : nixpkgs.allowed_uris) {
    const std::string fault = UriPrefixFault(prefix);
    if (!fault.empty()) reader.Fail(*reader.Find("allowed_uris"), absl::StrCat("'", prefix, "' ", fault));
  }
  ReadProbe(&reader);
  std::vector<std::string> overlays;
  reader.ReadStrings("overlays", {.may_be_empty = true}, &overlays);
  for (const std::string& path : overlays) {
    nixpkgs.overlays.push_back({path, FileText(&reader, *reader.Find("overlays"), path)});
  }
  ReadSets(&reader);
}

void MatrixReader::ReadSets(TableReader* reader) {
  const auto text_of = [&](TableReader* of, const TomlMember& member, const std::string& path) {
    return FileText(of, member, path);
  };
  if (const TomlNode* sets = reader->ReadTable("overlay_sets"))
    ReadOverlaySets(*sets, text_of, &errors_, &matrix_);
  if (const TomlNode* sets = reader->ReadTable("config_sets")) ReadConfigSets(*sets, &errors_, &matrix_);
}

void MatrixReader::ReadProbe(TableReader* reader) {
  NixpkgsSpec& nixpkgs = matrix_.nixpkgs;
  reader->ReadStrings("probe", {.may_be_empty = true}, &nixpkgs.probe);
  for (const std::string& word : nixpkgs.probe) {
    if (word == "hygiene") continue;
    reader->Fail(*reader->Find("probe"),
                 absl::StrCat("'", word, "' is not hygiene, the only one there is",
                              NearestHint(word, std::vector<std::string>{"hygiene"})));
  }
  if (!nixpkgs.probe.empty() && !nixpkgs.recipe_text.empty())
    reader->Fail(*reader->Find("probe"), "only a built-in recipe can be asked with unfree refused");
}

void MatrixReader::ReadRecipe(TableReader* reader) {
  NixpkgsSpec& nixpkgs = matrix_.nixpkgs;
  reader->ReadString("recipe", &nixpkgs.recipe);
  const TomlMember* member = reader->Find("recipe");
  const std::vector<std::string> known = BuiltInRecipes();
  if (member == nullptr || std::find(known.begin(), known.end(), nixpkgs.recipe) != known.end()) return;
  if (IsRecipeFile(nixpkgs.recipe)) {
    nixpkgs.recipe_text = FileText(reader, *member, nixpkgs.recipe);
    if (reader->errors()->ok() && absl::StripAsciiWhitespace(nixpkgs.recipe_text).empty())
      reader->Fail(*member, absl::StrCat("the file '", nixpkgs.recipe, "' is empty; expected { nixpkgs, slice, ... }: …"));
  } else {
    reader->Fail(*member,
                 absl::StrCat("'", nixpkgs.recipe, "' is neither one of ", absl::StrJoin(known, ", "),
                              " nor a file whose name ends in .nix", NearestHint(nixpkgs.recipe, known)));
  }
}

void MatrixReader::ReadConfig(TableReader* reader) {
  const TomlNode* config = reader->ReadTable("config");
  if (config == nullptr) return;
  const auto json = TomlJson(*config);
  if (!json.ok()) return reader->Fail(*reader->Find("config"), StdView(json.status().message()));
  matrix_.nixpkgs.config_json = *json;
}

std::string MatrixReader::FileText(TableReader* reader, const TomlMember& member, const std::string& path) {
  const auto file = text_.files.find(path);
  if (file != text_.files.end() && file->second.size() <= kMaxTomlBytes) return file->second;
  if (file != text_.files.end()) {
    reader->Fail(member, absl::StrCat("the file '", path, "' has ", file->second.size(),
                                      " bytes; the cap is ", kMaxTomlBytes));
    return "";
  }
  reader->Fail(member, absl::StrCat("the file '", path, "' did not come with the matrix"));
  return "";
}

struct NamedFile {
  std::string name, key;  // by the matrix's own words, and where in [nixpkgs]
  int line = 0;
};

void AddNamed(const TomlNode& list, const std::string& key, std::vector<NamedFile>* files) {
  for (const TomlNode& each : list.items) {
    if (each.kind == Kind::kString) files->push_back({each.text, key, each.line});
  }
}

// The files that a matrix names. Whatever has the wrong type is left to ReadMatrix.
std::vector<NamedFile> NamedFiles(const TomlNode& document) {
  std::vector<NamedFile> files;
  for (const TomlMember& top : document.members) {
    if (top.key != "nixpkgs") continue;
    for (const TomlMember& member : top.value.members) {
      if (member.key == "recipe" && IsRecipeFile(member.value.text))
        files.push_back({member.value.text, member.key, member.line});
      if (member.key == "overlays") AddNamed(member.value, member.key, &files);
      if (member.key != "overlay_sets") continue;
      for (const TomlMember& set : member.value.members) AddNamed(set.value, absl::StrCat(member.key, ".", set.key), &files);
    }
  }
  return files;
}

// A text of a matrix. What is there and cannot be one (a folder, a file without end) is the caller's fault.
absl::StatusOr<std::string> ReadText(const std::string& path) {
  auto text = ReadFile(path, kMaxTomlBytes);
  if (absl::IsInternal(text.status()) || absl::IsResourceExhausted(text.status()))
    return absl::InvalidArgumentError(text.status().message());
  return text;
}

// The .nix file of the same folder whose name is nearest; "" when none is near.
std::string NearestFile(const std::filesystem::path& missing) {
  constexpr size_t kMostFiles = 1000;
  std::vector<std::string> names;
  std::error_code error;
  const std::filesystem::path folder = missing.has_parent_path() ? missing.parent_path() : ".";
  for (std::filesystem::directory_iterator at(folder, error), end;
       !error && at != end && names.size() < kMostFiles; at.increment(error)) {
    if (at->path().extension() == ".nix") names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return NearestWord(missing.filename().string(), names);
}

}  // namespace

absl::StatusOr<Matrix> ReadMatrix(const MatrixText& text, std::string_view file, std::string_view directory) {
  HYDRANT_ASSIGN_OR_RETURN(const TomlNode document, ParseToml(text.toml, file));
  return MatrixReader(text, file, directory).Read(document);
}

absl::StatusOr<MatrixText> LoadMatrixFile(const std::string& path) {
  MatrixText text;
  HYDRANT_ASSIGN_OR_RETURN(text.toml, ReadText(path));
  HYDRANT_ASSIGN_OR_RETURN(const TomlNode document, ParseToml(text.toml, path));
  const std::string directory = std::filesystem::path(path).parent_path();
  for (const auto& [name, key, line] : NamedFiles(document)) {
    auto contents = ReadText((std::filesystem::path(directory) / name).string());
    if (!contents.ok()) {
      const absl::Status status =
          Annotate(contents.status(), StdView(absl::StrCat(path, ":", line, ": [nixpkgs] ", key)));
      const std::string nearest = NearestFile(std::filesystem::path(directory) / name);
      if (nearest.empty() || !absl::IsNotFound(status)) return status;
      return absl::Status(status.code(),
                          absl::StrCat(status.message(), "; the nearest file there is '", nearest, "'"));
    }
    text.files[name] = *std::move(contents);
  }
  return text;
}

}  // namespace hydrant
