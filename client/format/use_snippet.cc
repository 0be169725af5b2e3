#include "client/format/use_snippet.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/format/text.h"

namespace hydrant::client {
namespace {

// Nix remembers a miss for an hour by default: what a farm built a minute ago would not be found.
constexpr int kNegativeTtl = 60;
constexpr int kConnectTimeout = 5;

std::string NixString(const std::string& text) {
  return "\"" + absl::StrReplaceAll(Clean(text), {{"\\", "\\\\"}, {"\"", "\\\""}, {"${", "\\${"}}) + "\"";
}

std::string ShellWord(const std::string& text) {
  return "'" + absl::StrReplaceAll(Clean(text), {{"'", "'\\''"}}) + "'";
}

std::string NixConf(const SnippetInput& input) {
  return absl::StrCat(
      "extra-substituters = ", Clean(input.url), "\n",
      "extra-trusted-public-keys = ", Clean(input.public_key), "\n", "connect-timeout = ", kConnectTimeout,
      "\n", "fallback = true\n",
      "# Nix remembers a miss for an hour by default; with this, what the farm built since is found.\n",
      "narinfo-cache-negative-ttl = ", kNegativeTtl, "\n");
}

std::string Settings(const SnippetInput& input, const std::string& indent) {
  return absl::StrCat(indent, "extra-substituters = [ ", NixString(input.url), " ];\n", indent,
                      "extra-trusted-public-keys = [ ", NixString(input.public_key), " ];\n", indent,
                      "connect-timeout = ", kConnectTimeout, ";\n", indent, "fallback = true;\n", indent,
                      "narinfo-cache-negative-ttl = ", kNegativeTtl, ";  # an hour by default\n");
}

std::string Options(const SnippetInput& input) {
  return absl::StrCat("--option extra-substituters ", ShellWord(input.url),
                      " --option extra-trusted-public-keys ", ShellWord(input.public_key));
}

std::string FetchLines(const SnippetInput& input, std::string_view comment) {
  const std::string mark(comment);
  return absl::StrCat("\n", mark, " ", Clean(input.variant), ", once the settings are in force:\n", mark,
                      "   nix-store -r ", Clean(input.output), "\n", mark, " without them, into any store:\n",
                      mark, "   nix copy --extra-experimental-features nix-command --from ",
                      ShellWord(input.url), " --option extra-trusted-public-keys ",
                      ShellWord(input.public_key), " ", Clean(input.output), "\n");
}

// A head for scripts that works with every Nix from 2.3 on and has no bound on its length, unlike a #! line.
std::string Shebang(const SnippetInput& input) {
  return absl::StrCat("#!/bin/sh\n# ", Clean(input.variant), " on PATH for what follows.\n",
                      "out=$(nix-store -r ", Clean(input.output), " ", Options(input), ") || exit 1\n",
                      "PATH=$out/bin:$PATH\n", "export PATH\n");
}

}  // namespace

std::string MakeSnippet(SnippetFormat format, const SnippetInput& input) {
  const bool fetch = !input.output.empty();
  switch (format) {
    case SnippetFormat::kNixConf:
      return NixConf(input) + (fetch ? FetchLines(input, "#") : "");
    case SnippetFormat::kFlake:
      return "nixConfig = {\n" + Settings(input, "  ") + "};\n" + (fetch ? FetchLines(input, "#") : "");
    case SnippetFormat::kNixos:
      return "{\n  nix.settings = {\n" + Settings(input, "    ") + "  };\n}\n" +
             (fetch ? FetchLines(input, "#") : "");
    case SnippetFormat::kShebang:
      return Shebang(input);
  }
  return "";
}

}  // namespace hydrant::client
