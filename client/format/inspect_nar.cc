#include "client/format/inspect_nar.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "client/format/json_document.h"

namespace hydrant::client {
namespace {

using nix::NarEntry;

// As Nix restores it.
const char* ModeOf(const NarEntry& entry) {
  switch (entry.type) {
    case NarEntry::Type::kDirectory:
      return "dr-xr-xr-x";
    case NarEntry::Type::kSymlink:
      return "lrwxrwxrwx";
    case NarEntry::Type::kRegular:
      return entry.executable ? "-r-xr-xr-x" : "-r--r--r--";
  }
  return "";
}

const char* TypeWord(const NarEntry& entry) {
  switch (entry.type) {
    case NarEntry::Type::kDirectory:
      return "directory";
    case NarEntry::Type::kSymlink:
      return "symlink";
    case NarEntry::Type::kRegular:
      return "regular";
  }
  return "";
}

// Calls visit(entry, path) in the archive's order; the root's path is empty.
template <typename Visit>
void ForEach(const nix::NarListing& listing, Visit visit) {
  std::string path;
  std::vector<size_t> lengths;  // of the path, before each open entry's name
  for (const NarEntry& entry : listing.entries()) {
    if (entry.depth < lengths.size()) {
      path.resize(lengths[entry.depth]);
      lengths.resize(entry.depth);
    }
    lengths.push_back(path.size());
    if (entry.depth > 1) path += '/';
    path += entry.name;
    visit(entry, path);
  }
}

Json EntryOf(const NarEntry& entry, const std::string& path) {
  Json json = {{"path", path}, {"type", TypeWord(entry)}};
  if (entry.type == NarEntry::Type::kRegular) {
    json["size"] = entry.size;
    json["executable"] = entry.executable;
    json["nar_offset"] = entry.nar_offset;
  }
  if (entry.type == NarEntry::Type::kSymlink) json["target"] = entry.target;
  return json;
}

}  // namespace

Table ListingTable(const nix::NarListing& listing) {
  Table table{.columns = {{"mode"}, {"size", true}, {"path"}}};
  ForEach(listing, [&](const NarEntry& entry, const std::string& path) {
    const bool file = entry.type == NarEntry::Type::kRegular;
    std::string shown = path.empty() ? "." : path;
    if (entry.type == NarEntry::Type::kSymlink) shown.append(" -> ").append(entry.target);
    table.rows.push_back({ModeOf(entry), file ? absl::StrCat(entry.size) : "", std::move(shown)});
  });
  return table;
}

std::string ListingLines(const nix::NarListing& listing) {
  std::string lines;
  ForEach(listing, [&](const NarEntry& entry, const std::string& path) {
    lines += Dump(EntryOf(entry, path), JsonLayout::kLines);
  });
  return lines;
}

}  // namespace hydrant::client
