#include "daemon/evaluate/repl_questions.h"

#include <stdlib.h>

#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "daemon/evaluate/driver_request.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

constexpr size_t kWords = 16 << 10;

std::string NixString(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '$') quoted.push_back('\\');
    quoted.push_back(c);
  }
  return quoted + "\"";
}

// Cuts standard error at the marks that stand between the questions.
class Conversation {
 public:
  Conversation(const ReplProcess& process, const std::vector<ReplQuestion>& questions,
               const std::function<bool(size_t, const ReplAnswer&)>& answer)
      : process_(process),
        questions_(questions),
        answer_(answer),
        driver_mark_(NewMark()),
        mark_(absl::StrCat("@@", driver_mark_, " ")) {}

  // All that is asked. A mark before each question, one more before its words, one at the end.
  std::string Text() const {
    std::string text;
    std::optional<size_t> import;
    for (size_t i = 0; i < questions_.size(); ++i) {
      const ReplQuestion& question = questions_[i];
      if (import != question.import) {
        absl::StrAppend(&text, "d = import (/. + ", NixString(process_.driver),
                        ") { input = ", NixString(process_.inputs[question.import]),
                        "; mark = ", NixString(driver_mark_), "; }\n");
        import = question.import;
      }
      absl::StrAppend(&text, Mark(absl::StrCat(i)));
      const std::string lines = question.id.empty() ? "d.tellSlice" : "d.tell " + NixString(question.id);
      if (question.tell) absl::StrAppend(&text, lines, "\n", Mark("words"));
      const std::string last =
          question.id.empty() ? "d.ready" : absl::StrCat("(d.textOf ", NixString(question.id), ")");
      absl::StrAppend(&text, "builtins.seq ", last, " (", Trace("ok"), ")\n");
    }
    return text + Mark("end");
  }

  bool Take(std::string_view line) {
    const std::string start = "trace: " + mark_;
    if (line.starts_with(start)) return TakeMark(line.substr(start.size()));
    if (!began_ || over_) return false;
    if (transcript_.has_value()) return TakeLine(line);
    if (line.starts_with("trace: ")) return false;
    answer_now_.words.append(line.substr(0, kWords)).push_back('\n');
    if (answer_now_.words.size() > 2 * kWords) answer_now_.words.erase(0, answer_now_.words.size() - kWords);
    return false;
  }

  ReplEnd End(const LineProcessEnd& end) {
    CloseTranscript();
    return {.end = end,
            .answered = began_ ? next_ - 1 : next_,
            .began = began_,
            .unfinished = answer_now_,
            .ended_itself = over_};
  }
  bool dropped() const { return dropped_; }
  const absl::Status& kept() const { return kept_; }

 private:
  std::string Trace(const std::string& text) const {
    return absl::StrCat("builtins.trace ", NixString(mark_ + text), " 0");
  }
  std::string Mark(const std::string& text) const { return Trace(text) + "\n"; }

  bool TakeMark(std::string_view text) {
    if (text == "ok") {
      answer_now_.evaluates = true;
      return true;
    }
    if (text == "words") {
      CloseTranscript();
      return true;
    }
    Finish();
    over_ |= text == "end";
    if (over_ || next_ == questions_.size()) return true;
    if (questions_[next_].tell) {
      const std::string& id = questions_[next_].id;
      transcript_.emplace(id.empty() ? std::vector<std::string>() : std::vector<std::string>{id},
                          driver_mark_);
    }
    ++next_;
    began_ = true;
    return true;
  }

  bool TakeLine(std::string_view line) {
    const bool of_use = transcript_->Take(line);
    if (!of_use || !transcript_->in_details()) return of_use;
    const NameReport& report = transcript_->reports().back();
    for (const std::string& derivation : {report.derivation, report.environment}) {
      if (kept_.ok() && !derivation.empty()) kept_ = process_.keep(derivation);
    }
    return true;
  }

  // What `tell` said is complete: a report, or the words of which it died.
  void CloseTranscript() {
    if (!transcript_.has_value()) return;
    answer_now_.report = transcript_->reports();
    answer_now_.in_details = transcript_->in_details();
    answer_now_.named = transcript_->named();
    answer_now_.words = transcript_->words();
    if (answer_now_.words.size() > kWords) answer_now_.words.erase(0, answer_now_.words.size() - kWords);
    const bool of_import = questions_[next_ - 1].id.empty();
    const bool caught =
        !answer_now_.report.empty() && answer_now_.report[0].kind == NameReport::Kind::kCaught;
    if (of_import || caught) answer_now_.words.clear();
    transcript_.reset();
  }

  void Finish() {
    CloseTranscript();
    if (began_ && !dropped_) dropped_ = !answer_(next_ - 1, answer_now_);
    began_ = false;
    answer_now_ = {};
  }

  const ReplProcess& process_;
  const std::vector<ReplQuestion>& questions_;
  const std::function<bool(size_t, const ReplAnswer&)>& answer_;
  const std::string driver_mark_, mark_;
  size_t next_ = 0;  // the first question that has not begun
  bool began_ = false, over_ = false, dropped_ = false;
  std::optional<DriverTranscript> transcript_;
  ReplAnswer answer_now_;
  absl::Status kept_;
};

}  // namespace

absl::StatusOr<ReplEnd> AskRepl(const ReplProcess& process, const std::vector<ReplQuestion>& questions,
                                const std::function<bool(size_t, const ReplAnswer&)>& answer,
                                const std::function<bool()>& stop) {
  Conversation conversation(process, questions, answer);
  const LineProcess repl{
      .argv = {"nix", "repl", "--option", "allow-import-from-derivation", process.ifd ? "true" : "false"},
      .env = process.env,
      .input = conversation.Text(),
      .patience_now = process.patience_now,
      .clock = process.clock,
      .started = process.started,
      .kill = process.kill};
  HYDRANT_ASSIGN_OR_RETURN(
      const LineProcessEnd end,
      RunLineProcess(
          repl, [&](std::string_view line) { return conversation.Take(line); },
          [&] { return conversation.dropped() || !conversation.kept().ok() || stop(); }));
  if (!conversation.kept().ok()) return conversation.kept();
  return conversation.End(end);
}

}  // namespace hydrant
