#include "lib/nix/derivation_view.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/hash.h"
#include "lib/nix/store_path.h"

namespace hydrant::nix {
namespace {

absl::Status ErrorAt(size_t offset, std::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat("derivation: byte ", offset, ": ", AbslView(message)));
}

// A quote ends a string unless an odd number of backslashes stands before it.
bool IsEscaped(const char* quote, const char* start) {
  const char* p = quote;
  while (p != start && p[-1] == '\\') --p;
  return (quote - p) % 2 == 1;
}

// Returns false with error_ set: cheaper than a Status for each token.
class Parser {
 public:
  Parser(std::string_view text, DerivationView& view)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()), view_(view) {}

  absl::Status Parse() {
    if (std::string_view(at_, end_ - at_).starts_with("DrvWithVersion(")) {
      return ErrorAt(
          0,
          "expected \"Derive(\"; DrvWithVersion is the experimental format of dynamic derivations, "
          "which is not read");
    }
    return Fields() ? absl::OkStatus() : error_;
  }

 private:
  bool Fields() {
    view_.outputs.clear();
    view_.input_derivations.clear();
    view_.input_sources.clear();
    view_.arguments.clear();
    view_.environment.clear();
    if (!(Expect("Derive(") && List([this] { return Output(); }) && Expect(",") &&
          List([this] { return InputDerivation(); }) && Expect(",") &&
          List([this] { return InputSource(); }) && Expect(",") && String(view_.system) && Expect(",") &&
          String(view_.builder) && Expect(",") &&
          List([this] { return String(view_.arguments.emplace_back()); }) && Expect(",") &&
          List([this] { return Variable(); }) && Expect(")")))
      return false;
    if (at_ != end_) return Fail(at_, "expected the end of the file");
    if (view_.outputs.empty()) return Fail(begin_ + 8, "expected at least one output");
    return true;
  }

  bool Fail(const char* where, std::string_view message) {
    error_ = ErrorAt(static_cast<size_t>(where - begin_), message);
    return false;
  }

  bool Expect(std::string_view token) {
    if (token.size() == 1) return Take(token[0]) || Missing(token);
    if (!std::string_view(at_, end_ - at_).starts_with(token)) return Missing(token);
    at_ += token.size();
    return true;
  }

  bool Missing(std::string_view token) {
    size_t same = 0;
    while (at_ != end_ && *at_ == token[same]) ++at_, ++same;
    const std::string got = at_ != end_
                                ? absl::StrCat("\"", absl::CHexEscape(absl::string_view(at_, 1)), "\"")
                                : "the end of the file";
    return Fail(at_,
                absl::StrCat("expected \"", absl::CHexEscape(AbslView(token.substr(same))), "\", got ", got));
  }

  bool Take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  template <typename Element>
  bool List(Element element) {
    if (!Expect("[")) return false;
    if (Take(']')) return true;
    while (true) {
      if (!element()) return false;
      if (Take(']')) return true;
      if (!Take(',')) return Fail(at_, "expected \",\" or \"]\" in a list");
    }
  }

  bool String(RawString& raw) {
    if (!Take('"')) return Expect("\"");
    const char* const start = at_;
    for (const char* p = start; p < end_; ++p) {
      p = static_cast<const char*>(memchr(p, '"', static_cast<size_t>(end_ - p)));
      if (p == nullptr) break;
      if (IsEscaped(p, start)) continue;
      raw = {start, static_cast<size_t>(p - start)};
      at_ = p + 1;
      return true;
    }
    return Fail(start - 1, "expected a string, which has no closing quote");
  }

  bool Path(RawString& raw) {
    if (!String(raw)) return false;
    const absl::Status checked = CheckStorePath(raw);
    return checked.ok() || Fail(raw.data() - 1, StdView(checked.message()));
  }

  bool Output() {
    const char* const start = at_;
    DerivationView::Output& o = view_.outputs.emplace_back();
    if (!(Expect("(") && String(o.name) && Expect(","))) return false;
    const char* const path = at_;
    if (!(String(o.path) && Expect(",") && String(o.hash_algo) && Expect(",") && String(o.hash) &&
          Expect(")")))
      return false;
    if (o.name.empty()) return Fail(start + 1, "expected the name of an output, which is empty");
    if (!o.path.empty()) {
      if (const absl::Status bad = CheckStorePath(o.path); !bad.ok())
        return Fail(path, StdView(bad.message()));
    }
    return Kind(o) && IsNew(view_.outputs, start, "an output");
  }

  // Which fields go together: Nix's libstore, parseDerivationOutput.
  bool Kind(DerivationView::Output& o) {
    if (o.hash_algo.empty()) {
      if (!o.hash.empty())
        return Fail(o.hash_algo.data(), "expected a hash algorithm, because the output has a hash");
      o.kind = o.path.empty() ? OutputKind::kDeferred : OutputKind::kInputAddressed;
      return true;
    }
    std::string_view algorithm = o.hash_algo;
    for (const std::string_view method : {"r:", "text:", "git:"}) {
      if (!algorithm.starts_with(method)) continue;
      algorithm.remove_prefix(method.size());
      break;
    }
    const auto known = ParseHashAlgorithm(algorithm);
    if (!known.ok()) return Fail(o.hash_algo.data(), StdView(known.status().message()));
    o.kind = o.hash.empty()       ? OutputKind::kFloating
             : o.hash == "impure" ? OutputKind::kImpure
                                  : OutputKind::kFixed;
    if (o.kind != OutputKind::kFixed)
      return o.path.empty() || Fail(o.path.data(), "expected no path, because the output has no hash yet");
    if (o.path.empty()) return Fail(o.path.data(), "expected a path, because the output has a hash");
    const auto digits = Hash::ParseDigits(*known, o.hash);
    return digits.ok() || Fail(o.hash.data(), StdView(digits.status().message()));
  }

  bool InputDerivation() {
    const char* const start = at_;
    DerivationView::Input& input = view_.input_derivations.emplace_back();
    if (!(Expect("(") && String(input.path))) return false;
    if (!input.path.ends_with(".drv")) {
      const absl::Status bad = CheckStorePath(input.path);
      return Fail(start + 1, bad.ok() ? "expected a path that ends in .drv" : StdView(bad.message()));
    }
    if (!Expect(",")) return false;
    const char* const list = at_ + 1;
    RawString ignored;
    if (!List([&] { return String(ignored); })) return false;
    input.output_names = {list, static_cast<size_t>(at_ - 1 - list)};
    return Expect(")") && IsNew(view_.input_derivations, start, "an input derivation");
  }

  bool InputSource() { return Path(view_.input_sources.emplace_back()); }

  bool Variable() {
    const char* const start = at_;
    DerivationView::Variable& variable = view_.environment.emplace_back();
    return Expect("(") && String(variable.name) && Expect(",") && String(variable.value) && Expect(")") &&
           IsNew(view_.environment, start, "an environment variable");
  }

  static RawString Key(const DerivationView::Input& input) { return input.path; }
  template <typename Named>
  static RawString Key(const Named& named) {
    return named.name;
  }

  // Nix sorts each list, so that a look at the one before is enough for a file of Nix's.
  template <typename Element>
  bool IsNew(const std::vector<Element>& list, const char* start, std::string_view what) {
    if (list.size() < 2) return true;
    const RawString last = Key(list.back()), previous = Key(list[list.size() - 2]);
    if (&list != sorted_list_) sorted_list_ = &list, sorted_ = true;
    sorted_ = sorted_ && previous < last && last.find('\\') == last.npos && previous.find('\\') == last.npos;
    if (sorted_) return true;
    if (seen_list_ != &list) {
      seen_list_ = &list;
      seen_.clear();
      for (size_t i = 0; i + 1 < list.size(); ++i) seen_.insert(Unescape(Key(list[i])));
    }
    return seen_.insert(Unescape(last)).second ||
           Fail(start, absl::StrCat(AbslView(what), " is named twice"));
  }

  const char* const begin_;
  const char* at_;
  const char* const end_;
  DerivationView& view_;
  absl::Status error_;
  const void* sorted_list_ = nullptr;  // the list that sorted_ is about
  bool sorted_ = false;
  const void* seen_list_ = nullptr;  // the list that seen_ is about
  std::set<std::string> seen_;
};

}  // namespace

std::string_view OutputKindName(OutputKind kind) {
  switch (kind) {
    case OutputKind::kInputAddressed:
      return "input-addressed";
    case OutputKind::kFixed:
      return "fixed";
    case OutputKind::kFloating:
      return "floating";
    case OutputKind::kDeferred:
      return "deferred";
    case OutputKind::kImpure:
      return "impure";
  }
  return "unknown";
}

std::string Unescape(RawString raw) {
  std::string value;
  value.reserve(raw.size());
  while (true) {
    const size_t stop = raw.find('\\');
    value.append(raw.substr(0, stop));
    if (stop == raw.npos || stop + 1 == raw.size()) return value;
    const char c = raw[stop + 1];
    value += c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
    raw.remove_prefix(stop + 2);
  }
}

const RawString* DerivationView::Find(std::string_view name) const {
  for (const Variable& variable : environment) {
    // Nix writes no escapes into such a name, but reads them.
    if (variable.name == name ||
        (variable.name.find('\\') != variable.name.npos && Unescape(variable.name) == name))
      return &variable.value;
  }
  return nullptr;
}

absl::Status ParseDerivationView(std::string_view aterm, DerivationView& view) {
  return Parser(aterm, view).Parse();
}

std::vector<RawString> SplitRawList(std::string_view list) {
  std::vector<RawString> strings;
  for (size_t at = 0; at < list.size();) {
    const size_t start = at + 1;
    size_t stop = list.find('"', start);
    while (stop != list.npos && IsEscaped(list.data() + stop, list.data() + start))
      stop = list.find('"', stop + 1);
    if (stop == list.npos) return strings;
    strings.push_back(list.substr(start, stop - start));
    at = stop + 2;
  }
  return strings;
}

}  // namespace hydrant::nix
