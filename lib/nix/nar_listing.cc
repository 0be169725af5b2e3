#include "lib/nix/nar_listing.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lib/base/status_macros.h"

namespace hydrant::nix {
namespace {

constexpr size_t kTextBlock = 64 << 10;

std::string Quoted(std::string_view text) {
  return absl::StrCat("\"", absl::CHexEscape(AbslView(text)), "\"");
}

// "it has "a", "b" and 3 more".
std::string Children(const std::deque<NarEntry>& entries, size_t folder) {
  constexpr size_t kMost = 8;
  std::string out = "it has ";
  size_t count = 0;
  for (size_t i = folder + 1; i < entries[folder].end; i = entries[i].end, ++count) {
    if (count < kMost) absl::StrAppend(&out, count == 0 ? "" : ", ", Quoted(entries[i].name));
  }
  if (count == 0) return "it is empty";
  if (count > kMost) absl::StrAppend(&out, " and ", count - kMost, " more");
  return out;
}

void PrintEntry(const NarEntry& entry, std::string_view shown, bool details, std::string& out) {
  if (details) {
    const char* mode = entry.type == NarEntry::Type::kDirectory ? "dr-xr-xr-x"
                       : entry.type == NarEntry::Type::kSymlink ? "lrwxrwxrwx"
                       : entry.executable                       ? "-r-xr-xr-x"
                                                                : "-r--r--r--";
    absl::StrAppendFormat(&out, "%s %20d ", mode, entry.size);
  }
  out.append(shown);
  if (details && entry.type == NarEntry::Type::kSymlink) out.append(" -> ").append(entry.target);
  out += '\n';
}

}  // namespace

absl::StatusOr<size_t> NarListing::Find(std::string_view path) const {
  const std::deque<NarEntry>& all = entries();
  if (path.starts_with('/')) path.remove_prefix(1);
  std::string_view rest = path;
  size_t at = 0;
  while (!rest.empty()) {
    const std::string_view folder = path.substr(0, path.size() - rest.size());
    const std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    size_t child = all[at].end;
    if (all[at].type == NarEntry::Type::kDirectory) {
      for (child = at + 1; child < all[at].end && all[child].name != part;) child = all[child].end;
    }
    if (child < all[at].end) {
      at = child;
      continue;
    }
    const std::string there = all[at].type == NarEntry::Type::kDirectory
                                  ? absl::StrCat("; ", Children(all, at))
                                  : std::string(", which is no folder");
    return absl::NotFoundError(absl::StrCat("no ", Quoted(part), " in ",
                                            folder.empty() ? "the archive's root" : Quoted(folder), there));
  }
  return at;
}

NarLister::NarLister(size_t max_bytes) : max_bytes_(max_bytes), tree_(std::make_shared<NarListing::Tree>()) {
  Open("");
}

NarEntry* NarLister::Top() { return status_.ok() ? &tree_->entries[open_.back()] : nullptr; }

std::string_view NarLister::Keep(std::string_view text) {
  std::deque<std::string>& texts = tree_->texts;
  if (texts.empty() || texts.back().capacity() - texts.back().size() < text.size()) {
    texts.emplace_back().reserve(kTextBlock);
  }
  const size_t begin = texts.back().size();
  texts.back().append(text);
  return std::string_view(texts.back()).substr(begin);
}

void NarLister::Open(std::string_view name) {
  if (!status_.ok()) return;
  used_ += sizeof(NarEntry) + name.size();
  if (used_ > max_bytes_) {
    status_ = absl::ResourceExhaustedError(absl::StrCat("the archive's listing takes more than ", max_bytes_,
                                                        " bytes after ", tree_->entries.size(), " entries"));
    tree_->entries.clear();
    tree_->texts.clear();
    return;
  }
  const auto depth = static_cast<uint16_t>(open_.size());
  open_.push_back(static_cast<uint32_t>(tree_->entries.size()));
  tree_->entries.push_back({.depth = depth, .name = Keep(name)});
}

absl::Status NarLister::EnterEntry(std::string_view name) {
  Open(name);
  return absl::OkStatus();
}

absl::Status NarLister::LeaveEntry() {
  if (NarEntry* entry = Top()) {
    entry->end = static_cast<uint32_t>(tree_->entries.size());
    open_.pop_back();
  }
  return absl::OkStatus();
}

absl::Status NarLister::BeginDirectory() {
  if (NarEntry* entry = Top()) entry->type = NarEntry::Type::kDirectory;
  return absl::OkStatus();
}

absl::Status NarLister::BeginFile(bool executable, uint64_t size, uint64_t offset) {
  if (NarEntry* entry = Top()) {
    entry->type = NarEntry::Type::kRegular;
    entry->executable = executable;
    entry->size = size;
    entry->nar_offset = offset;
  }
  return absl::OkStatus();
}

absl::Status NarLister::Symlink(std::string_view target) {
  if (NarEntry* entry = Top()) {
    entry->type = NarEntry::Type::kSymlink;
    entry->target = Keep(target);
    used_ += target.size();
  }
  return absl::OkStatus();
}

absl::StatusOr<NarListing> NarLister::Finish() {
  HYDRANT_RETURN_IF_ERROR(status_);
  if (open_.size() != 1) return absl::FailedPreconditionError("list an archive: it is not complete");
  tree_->entries.front().end = static_cast<uint32_t>(tree_->entries.size());
  return NarListing(std::move(tree_));
}

absl::StatusOr<NarListing> ListNar(Source& nar, size_t max_bytes) {
  NarLister lister(max_bytes);
  HYDRANT_RETURN_IF_ERROR(ParseNar(nar, lister));
  return lister.Finish();
}

absl::StatusOr<std::string> PrintListing(const NarListing& listing, std::string_view path,
                                         const ListFormat& format) {
  HYDRANT_ASSIGN_OR_RETURN(const size_t at, listing.Find(path));
  const std::deque<NarEntry>& entries = listing.entries();
  std::string out;
  if (entries[at].type != NarEntry::Type::kDirectory || format.folder_itself) {
    const bool folder = entries[at].type == NarEntry::Type::kDirectory;
    PrintEntry(entries[at], folder ? "." : entries[at].name, format.details, out);
    return out;
  }
  std::string shown = ".";
  std::vector<size_t> lengths;  // of `shown` at each depth below `at`
  for (size_t i = at + 1; i < entries[at].end; i = format.recursive ? i + 1 : entries[i].end) {
    const size_t depth = entries[i].depth - entries[at].depth - 1u;
    if (depth < lengths.size()) {
      shown.resize(lengths[depth]);
      lengths.resize(depth);
    }
    lengths.push_back(shown.size());
    shown.append("/").append(entries[i].name);
    PrintEntry(entries[i], shown, format.details, out);
  }
  return out;
}

}  // namespace hydrant::nix
