#include "lib/nix/nar_listing_json.h"

#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lib/base/status_macros.h"

namespace hydrant::nix {
namespace {

// The length of the UTF-8 character that `text` begins with; 0: it begins with none.
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && second < 0xA0, surrogate = first == 0xED && second >= 0xA0;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && second < 0x90, beyond = first == 0xF4 && second >= 0x90;
    return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

// As Nix escapes: \u00XX for control characters other than \n, \r, \t. False when `text` is not UTF-8.
bool AppendQuoted(std::string_view text, std::string& out) {
  out += '"';
  for (size_t i = 0; i < text.size();) {
    const size_t length = Utf8Length(text.substr(i));
    if (length == 0) return false;
    const char c = text[i];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (length == 1 && c < ' ') {
      absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned>(c));
    } else {
      out.append(text.substr(i, length));
    }
    i += length;
  }
  out += '"';
  return true;
}

absl::Status NotUtf8(std::string_view what, std::string_view bytes) {
  return absl::InvalidArgumentError(absl::StrCat("write a listing as JSON: the ", AbslView(what), " \"",
                                                 absl::CHexEscape(AbslView(bytes)), "\" is not UTF-8"));
}

absl::Status AppendNode(const NarEntry& entry, std::string& out) {
  switch (entry.type) {
    case NarEntry::Type::kDirectory:
      out.append(R"({"type":"directory","entries":{)");
      return absl::OkStatus();  // closed behind its last entry
    case NarEntry::Type::kRegular:
      absl::StrAppend(&out, R"({"type":"regular","size":)", entry.size);
      if (entry.executable) out.append(R"(,"executable":true)");
      if (entry.nar_offset != 0) absl::StrAppend(&out, R"(,"narOffset":)", entry.nar_offset);
      out += '}';
      return absl::OkStatus();
    case NarEntry::Type::kSymlink:
      out.append(R"({"type":"symlink","target":)");
      if (!AppendQuoted(entry.target, out)) return NotUtf8("target", entry.target);
      out += '}';
      return absl::OkStatus();
  }
  return absl::InternalError("an entry of no type");
}

constexpr std::array<std::string_view, 8> kFields = {"version",    "root",      "type",    "size",
                                                     "executable", "narOffset", "entries", "target"};
enum Field { kVersion, kRoot, kType, kSize, kExecutable, kNarOffset, kEntries, kTarget, kNone };

// Takes nlohmann's events; nothing is kept but the listing and one frame per open object.
class Reader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Reader(size_t max_bytes) : lister_(max_bytes) {}

  absl::StatusOr<NarListing> Finish() {
    HYDRANT_RETURN_IF_ERROR(status_);
    return lister_.Finish();
  }

  bool start_object(std::size_t) override {
    if (frames_.empty()) {
      frames_.push_back({.kind = Kind::kTop});
    } else if (frames_.back().kind == Kind::kEntries) {
      (void)lister_.EnterEntry(frames_.back().name);
      if (!lister_.status().ok()) return Stop(lister_.status());
      frames_.push_back({.kind = Kind::kNode});
    } else if (field_ == kRoot) {
      frames_.push_back({.kind = Kind::kNode});
    } else if (field_ == kEntries) {
      if (folders_ == kNarMaxDepth)
        return Fail(absl::StrCat("folders are nested deeper than ", kNarMaxDepth));
      ++folders_;
      frames_.push_back({.kind = Kind::kEntries});
    } else {
      return Unexpected("an object");
    }
    return true;
  }

  bool key(string_t& key) override {
    Frame& frame = frames_.back();
    if (frame.kind == Kind::kEntries) {
      if (!IsNarName(key)) return Fail(absl::StrCat("no archive can have the name ", Quoted(key)));
      if (!frame.name.empty() && key <= frame.name) {
        return Fail(
            absl::StrCat("expected a name after ", Quoted(frame.name), " in byte order, got ", Quoted(key)));
      }
      frame.name = key;
      return true;
    }
    const Field first = frame.kind == Kind::kTop ? kVersion : kType,
                end = frame.kind == Kind::kTop ? kType : kNone;
    field_ = first;
    while (field_ < end && kFields[field_] != key) field_ = static_cast<Field>(field_ + 1);
    if (field_ == end) {
      return Fail(absl::StrCat(
          "unknown field ", Quoted(key), ", expected one of ",
          frame.kind == Kind::kTop ? "version, root" : "type, size, executable, narOffset, entries, target"));
    }
    if (frame.has(field_)) return Fail(absl::StrCat("the field ", Quoted(key), " is there twice"));
    frame.seen |= 1u << field_;
    return true;
  }

  bool end_object() override {
    const Frame frame = std::move(frames_.back());
    frames_.pop_back();
    if (frame.kind == Kind::kTop) {
      if (!frame.has(kVersion) || !frame.has(kRoot))
        return Fail("the field \"version\" or \"root\" is missing");
    } else if (frame.kind == Kind::kEntries) {
      --folders_;
    } else {
      if (!EndNode(frame)) return false;
      if (frames_.back().kind == Kind::kEntries) (void)lister_.LeaveEntry();
    }
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (field_ == kVersion && InFields())
      return value == 1 || Fail(absl::StrCat("version: expected 1, got ", value));
    if ((field_ != kSize && field_ != kNarOffset) || !InFields()) return Unexpected("a number");
    if (value >> 63 != 0)
      return Fail(absl::StrCat(AbslView(kFields[field_]), ": expected less than 2^63, got ", value));
    (field_ == kSize ? frames_.back().size : frames_.back().nar_offset) = value;
    return true;
  }

  bool string(string_t& value) override {
    if (!InFields() || (field_ != kType && field_ != kTarget)) return Unexpected("a string");
    if (field_ == kTarget && !IsNarTarget(value)) {
      return Fail(
          absl::StrCat("target: expected 1 to ", kNarMaxTarget, " bytes without NUL, got ", Quoted(value)));
    }
    (field_ == kType ? frames_.back().type : frames_.back().target) = std::move(value);
    return true;
  }

  bool boolean(bool value) override {
    if (field_ != kExecutable || !InFields()) return Unexpected("true or false");
    frames_.back().executable = value;
    return true;
  }

  bool null() override { return Unexpected("null"); }
  bool number_integer(number_integer_t) override { return Unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return Unexpected("a fraction"); }
  bool binary(binary_t&) override { return Unexpected("bytes"); }
  bool start_array(std::size_t) override { return Unexpected("an array"); }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception&) override {
    return Stop(absl::InvalidArgumentError(absl::StrCat("listing byte ", position, ": not JSON at ",
                                                        Quoted(std::string_view(token).substr(0, 80)))));
  }

 private:
  enum class Kind { kTop, kNode, kEntries };
  struct Frame {
    Kind kind;
    unsigned seen = 0;  // a bit for each Field
    uint64_t size = 0, nar_offset = 0;
    bool executable = false;
    std::string type, target;
    std::string name;  // kEntries: the last one
    bool has(Field field) const { return (seen >> field & 1) != 0; }
  };

  static std::string Quoted(std::string_view text) {
    return absl::StrCat("\"", absl::CHexEscape(AbslView(text)), "\"");
  }

  bool InFields() const { return !frames_.empty() && frames_.back().kind != Kind::kEntries; }

  bool Stop(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
    return false;
  }

  bool Fail(std::string_view message) {
    std::string where;
    for (const Frame& frame : frames_) {
      if (frame.kind == Kind::kEntries) absl::StrAppend(&where, "/", absl::CHexEscape(frame.name));
    }
    return Stop(absl::InvalidArgumentError(
        absl::StrCat("listing", where.empty() ? "" : " at ", where, ": ", AbslView(message))));
  }

  bool Unexpected(std::string_view got) {
    const std::string what = frames_.empty() ? "an object with version and root"
                             : InFields()
                                 ? absl::StrCat("another value of \"", AbslView(kFields[field_]), "\"")
                                 : std::string("an object for each entry");
    return Fail(absl::StrCat("expected ", what, ", got ", AbslView(got)));
  }

  // What a type needs, and what it may have besides.
  bool EndNode(const Frame& frame) {
    const auto bits = [](std::initializer_list<Field> fields) {
      unsigned all = 1u << kType;
      for (const Field field : fields) all |= 1u << field;
      return all;
    };
    unsigned needed = 0, allowed = 0;
    if (frame.type == "directory") {
      needed = allowed = bits({kEntries});
      (void)lister_.BeginDirectory();
    } else if (frame.type == "regular") {
      needed = bits({kSize});
      allowed = bits({kSize, kExecutable, kNarOffset});
      (void)lister_.BeginFile(frame.executable, frame.size, frame.nar_offset);
    } else if (frame.type == "symlink") {
      needed = allowed = bits({kTarget});
      (void)lister_.Symlink(frame.target);
    } else {
      return Fail(
          absl::StrCat("type: expected \"directory\", \"regular\" or \"symlink\", got ", Quoted(frame.type)));
    }
    for (const Field field : {kType, kSize, kExecutable, kNarOffset, kEntries, kTarget}) {
      const bool missing = (needed & ~frame.seen & 1u << field) != 0;
      if (!missing && (frame.seen & ~allowed & 1u << field) == 0) continue;
      return Fail(absl::StrCat("a ", frame.type, missing ? " needs the field \"" : " has no field \"",
                               AbslView(kFields[field]), "\""));
    }
    return true;
  }

  NarLister lister_;
  std::vector<Frame> frames_;
  size_t folders_ = 0;
  Field field_ = kNone;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<std::string> PrintListingJson(const NarListing& listing) {
  std::string out = R"({"version":1,"root":)";
  std::vector<size_t> open;  // the ends of the folders that are open
  size_t position = 0;
  for (const NarEntry& entry : listing.entries()) {
    if (position > 0) {
      for (; open.back() == position; open.pop_back()) out.append("}}");
      if (out.back() != '{') out += ',';
      if (!AppendQuoted(entry.name, out)) return NotUtf8("name", entry.name);
      out += ':';
    }
    HYDRANT_RETURN_IF_ERROR(AppendNode(entry, out));
    if (entry.type == NarEntry::Type::kDirectory) open.push_back(entry.end);
    ++position;
  }
  for (; !open.empty(); open.pop_back()) out.append("}}");
  out += '}';
  return out;
}

absl::StatusOr<NarListing> ParseListingJson(std::string_view text, size_t max_bytes) {
  Reader reader(max_bytes);
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  return reader.Finish();
}

}  // namespace hydrant::nix
