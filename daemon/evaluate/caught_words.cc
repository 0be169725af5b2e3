#include "daemon/evaluate/caught_words.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "daemon/evaluate/line_process.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

constexpr size_t kWords = 16 << 10;
constexpr std::string_view kMark = "trace: @@hydrant ";

std::string NixString(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '$') quoted.push_back('\\');
    quoted.push_back(c);
  }
  return quoted + "\"";
}

// A mark before each question; standard error then is cut at the marks.
std::string Questions(const CaughtWordsOptions& options, const std::vector<std::string>& ids, size_t from) {
  std::string text = absl::StrCat("d = import (/. + ", NixString(options.driver),
                                  ") { input = ", NixString(options.input), "; }\n");
  for (size_t i = from; i < ids.size(); ++i) {
    absl::StrAppend(&text, "builtins.trace \"@@hydrant ", i, "\" 0\n", "d.textOf ", NixString(ids[i]), "\n");
  }
  return text + "builtins.trace \"@@hydrant end\" 0\n";
}

}  // namespace

absl::StatusOr<std::vector<std::string>> CaughtWords(const CaughtWordsOptions& options,
                                                     const std::vector<std::string>& ids,
                                                     const std::function<bool()>& stop) {
  std::vector<std::string> words(ids.size());
  size_t next = 0;  // the first that was not asked
  while (next < ids.size()) {
    const size_t from = next;
    bool end = false;
    const auto take = [&](std::string_view line) {
      if (line.starts_with(kMark)) {
        end = line.substr(kMark.size()) == "end";
        if (!end && next < ids.size()) ++next;
        return true;
      }
      if (next > from && !end && words[next - 1].size() < kWords) {
        words[next - 1].append(line.substr(0, kWords)).push_back('\n');
      }
      return false;
    };
    LineProcess repl{
        .argv = {"nix", "repl", "--option", "allow-import-from-derivation", options.ifd ? "true" : "false"},
        .env = options.env,
        .input = Questions(options, ids, from),
        .patience = options.patience};
    HYDRANT_ASSIGN_OR_RETURN(const LineProcessEnd ended, RunLineProcess(repl, take, stop));
    if (ended.kind == LineProcessEnd::Kind::kStopped) return absl::CancelledError("evaluation cancelled");
    if (next == from) break;  // it does not work here: no words then
  }
  return words;
}

}  // namespace hydrant
