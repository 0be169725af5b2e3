#include "lib/nix/derivation.h"

#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/base/status_macros.h"
#include "lib/nix/store_path.h"

namespace hydrant::nix {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  absl::StatusOr<Derivation> Parse() {
    if (text_.starts_with("DrvWithVersion(")) {
      return Error(
          "expected \"Derive(\"; DrvWithVersion is the experimental format of dynamic derivations, which is "
          "not read");
    }
    Derivation d;
    HYDRANT_RETURN_IF_ERROR(Expect("Derive("));
    HYDRANT_RETURN_IF_ERROR(List([&] { return Output(d); }));
    HYDRANT_RETURN_IF_ERROR(Expect(","));
    HYDRANT_RETURN_IF_ERROR(List([&] { return InputDerivation(d); }));
    HYDRANT_RETURN_IF_ERROR(Expect(","));
    HYDRANT_RETURN_IF_ERROR(List([&] { return InputSource(d); }));
    HYDRANT_RETURN_IF_ERROR(Expect(","));
    HYDRANT_RETURN_IF_ERROR(String(d.system));
    HYDRANT_RETURN_IF_ERROR(Expect(","));
    HYDRANT_RETURN_IF_ERROR(String(d.builder));
    HYDRANT_RETURN_IF_ERROR(Expect(","));
    HYDRANT_RETURN_IF_ERROR(List([&] { return String(d.arguments.emplace_back()); }));
    HYDRANT_RETURN_IF_ERROR(Expect(","));
    HYDRANT_RETURN_IF_ERROR(List([&] { return Variable(d); }));
    HYDRANT_RETURN_IF_ERROR(Expect(")"));
    if (at_ != text_.size()) return Error("expected the end of the file");
    if (d.outputs.empty())
      return absl::InvalidArgumentError("derivation: byte 8: expected at least one output");
    return d;
  }

 private:
  absl::Status Error(std::string_view message) const { return ErrorAt(at_, message); }

  static absl::Status ErrorAt(size_t offset, std::string_view message) {
    return absl::InvalidArgumentError(absl::StrCat("derivation: byte ", offset, ": ", AbslView(message)));
  }

  absl::Status Expect(std::string_view token) {
    if (text_.substr(at_, token.size()) == token) {
      at_ += token.size();
      return absl::OkStatus();
    }
    size_t same = 0;
    while (at_ + same < text_.size() && text_[at_ + same] == token[same]) ++same;
    at_ += same;
    const std::string got = at_ < text_.size()
                                ? absl::StrCat("\"", absl::CHexEscape(AbslView(text_.substr(at_, 1))), "\"")
                                : "the end of the file";
    return Error(
        absl::StrCat("expected \"", absl::CHexEscape(AbslView(token.substr(same))), "\", got ", got));
  }

  template <typename Element>
  absl::Status List(Element element) {
    HYDRANT_RETURN_IF_ERROR(Expect("["));
    if (Take(']')) return absl::OkStatus();
    while (true) {
      HYDRANT_RETURN_IF_ERROR(element());
      if (Take(']')) return absl::OkStatus();
      if (!Take(',')) return Error("expected \",\" or \"]\" in a list");
    }
  }

  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  absl::Status String(std::string& value) {
    const size_t start = at_;
    HYDRANT_RETURN_IF_ERROR(Expect("\""));
    while (true) {
      const size_t stop = text_.find_first_of("\"\\", at_);
      if (stop == std::string_view::npos || stop + 1 >= text_.size() + (text_[stop] == '"' ? 1 : 0)) {
        return ErrorAt(start, "expected a string, which has no closing quote");
      }
      value.append(text_, at_, stop - at_);
      at_ = stop + 1;
      if (text_[stop] == '"') return absl::OkStatus();
      const char escaped = text_[at_++];
      value += escaped == 'n' ? '\n' : escaped == 'r' ? '\r' : escaped == 't' ? '\t' : escaped;
    }
  }

  absl::Status Path(std::string& value) {
    const size_t start = at_;
    HYDRANT_RETURN_IF_ERROR(String(value));
    if (absl::Status bad = CheckStorePath(value); !bad.ok()) return ErrorAt(start, StdView(bad.message()));
    return absl::OkStatus();
  }

  absl::Status Output(Derivation& d) {
    const size_t start = at_;
    std::string name;
    DerivationOutput output;
    HYDRANT_RETURN_IF_ERROR(Expect("("));
    HYDRANT_RETURN_IF_ERROR(String(name));
    HYDRANT_RETURN_IF_ERROR(Expect(","));
    if (text_.substr(at_, 2) == "\"\"") {
      at_ += 2;
    } else {
      HYDRANT_RETURN_IF_ERROR(Path(output.path));
    }
    HYDRANT_RETURN_IF_ERROR(Expect(","));
    HYDRANT_RETURN_IF_ERROR(String(output.hash_algo));
    HYDRANT_RETURN_IF_ERROR(Expect(","));
    HYDRANT_RETURN_IF_ERROR(String(output.hash));
    HYDRANT_RETURN_IF_ERROR(Expect(")"));
    if (name.empty()) return ErrorAt(start + 1, "expected the name of an output, which is empty");
    if (!output.hash.empty() && output.hash_algo.empty()) {
      return ErrorAt(start, "expected a hash algorithm, because the output has a hash");
    }
    if (!d.outputs.emplace(std::move(name), std::move(output)).second)
      return ErrorAt(start, "an output is named twice");
    return absl::OkStatus();
  }

  absl::Status InputDerivation(Derivation& d) {
    const size_t start = at_;
    std::string path;
    HYDRANT_RETURN_IF_ERROR(Expect("("));
    HYDRANT_RETURN_IF_ERROR(Path(path));
    if (!path.ends_with(".drv")) return ErrorAt(start + 1, "expected a path that ends in .drv");
    HYDRANT_RETURN_IF_ERROR(Expect(","));
    std::set<std::string> names;
    HYDRANT_RETURN_IF_ERROR(List([&] {
      std::string name;
      HYDRANT_RETURN_IF_ERROR(String(name));
      names.insert(std::move(name));
      return absl::OkStatus();
    }));
    HYDRANT_RETURN_IF_ERROR(Expect(")"));
    if (!d.input_derivations.emplace(std::move(path), std::move(names)).second) {
      return ErrorAt(start, "an input derivation is named twice");
    }
    return absl::OkStatus();
  }

  absl::Status InputSource(Derivation& d) {
    std::string path;
    HYDRANT_RETURN_IF_ERROR(Path(path));
    d.input_sources.insert(std::move(path));
    return absl::OkStatus();
  }

  absl::Status Variable(Derivation& d) {
    const size_t start = at_;
    std::string name, value;
    HYDRANT_RETURN_IF_ERROR(Expect("("));
    HYDRANT_RETURN_IF_ERROR(String(name));
    HYDRANT_RETURN_IF_ERROR(Expect(","));
    HYDRANT_RETURN_IF_ERROR(String(value));
    HYDRANT_RETURN_IF_ERROR(Expect(")"));
    if (!d.environment.emplace(std::move(name), std::move(value)).second) {
      return ErrorAt(start, "an environment variable is named twice");
    }
    return absl::OkStatus();
  }

  std::string_view text_;
  size_t at_ = 0;
};

void AppendString(std::string& out, std::string_view value) {
  out += '"';
  while (true) {
    const size_t stop = value.find_first_of("\"\\\n\r\t");
    out.append(value.substr(0, stop));
    if (stop == std::string_view::npos) break;
    out += '\\';
    const char c = value[stop];
    out += c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : c;
    value.remove_prefix(stop + 1);
  }
  out += '"';
}

template <typename Container, typename Append>
void AppendList(std::string& out, const Container& elements, Append append) {
  out += '[';
  bool first = true;
  for (const auto& element : elements) {
    if (!first) out += ',';
    first = false;
    append(element);
  }
  out += ']';
}

nlohmann::json StructuredAttributes(const std::map<std::string, std::string>& environment) {
  const auto found = environment.find("__json");
  if (found == environment.end()) return nullptr;
  return nlohmann::json::parse(found->second, nullptr, /*allow_exceptions=*/false);
}

}  // namespace

bool Derivation::fixed_output() const {
  return outputs.size() == 1 && outputs.begin()->first == "out" && outputs.begin()->second.fixed();
}

std::set<std::string> Derivation::required_system_features() const {
  std::set<std::string> features;
  const nlohmann::json attributes = StructuredAttributes(environment);
  if (attributes.is_object()) {
    const auto listed = attributes.find("requiredSystemFeatures");
    if (listed == attributes.end() || !listed->is_array()) return features;
    for (const auto& feature : *listed) {
      if (feature.is_string()) features.insert(feature.get<std::string>());
    }
    return features;
  }
  const auto found = environment.find("requiredSystemFeatures");
  if (found == environment.end()) return features;
  for (const auto word : absl::StrSplit(found->second, absl::ByAnyChar(" \t\n\r"), absl::SkipEmpty())) {
    features.emplace(word);
  }
  return features;
}

std::string Derivation::name() const {
  const nlohmann::json attributes = StructuredAttributes(environment);
  if (attributes.is_object()) {
    const auto name = attributes.find("name");
    return name != attributes.end() && name->is_string() ? name->get<std::string>() : "";
  }
  const auto found = environment.find("name");
  return found == environment.end() ? "" : found->second;
}

absl::StatusOr<Derivation> ParseDerivation(std::string_view aterm) { return Parser(aterm).Parse(); }

std::string PrintDerivation(const Derivation& derivation) {
  std::string out = "Derive(";
  const auto string = [&out](const std::string& value) { AppendString(out, value); };
  AppendList(out, derivation.outputs, [&](const auto& output) {
    out += '(';
    AppendString(out, output.first);
    for (const std::string* field : {&output.second.path, &output.second.hash_algo, &output.second.hash}) {
      out += ',';
      AppendString(out, *field);
    }
    out += ')';
  });
  out += ',';
  AppendList(out, derivation.input_derivations, [&](const auto& input) {
    out += '(';
    AppendString(out, input.first);
    out += ',';
    AppendList(out, input.second, string);
    out += ')';
  });
  out += ',';
  AppendList(out, derivation.input_sources, string);
  out += ',';
  AppendString(out, derivation.system);
  out += ',';
  AppendString(out, derivation.builder);
  out += ',';
  AppendList(out, derivation.arguments, string);
  out += ',';
  AppendList(out, derivation.environment, [&](const auto& variable) {
    out += '(';
    AppendString(out, variable.first);
    out += ',';
    AppendString(out, variable.second);
    out += ')';
  });
  out += ')';
  return out;
}

}  // namespace hydrant::nix
