#include "lib/nix/daemon_log.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant::nix {
namespace {

constexpr uint64_t kNext = 0x6f6c6d67, kRead = 0x64617461, kLast = 0x616c7473, kError = 0x63787470,
                   kStartActivity = 0x53545254, kStopActivity = 0x53544f50, kResult = 0x52534c54;
constexpr uint64_t kActivityBuild = 105;
constexpr uint64_t kResultBuildLogLine = 101, kResultPhase = 104, kResultProgress = 105,
                   kResultPostBuildLogLine = 107;
constexpr uint64_t kMaxFields = 64, kMaxTraces = 1024, kMaxUpload = 1 << 20;

struct Field {
  uint64_t number = 0;
  std::string text;
};

class LogReader {
 public:
  LogReader(DaemonWire& wire, uint64_t minor, const LogSink& log, Source* upload)
      : wire_(wire), minor_(minor), log_(log), upload_(upload) {}

  absl::Status Run() {
    while (true) {
      HYDRANT_ASSIGN_OR_RETURN(const uint64_t message, wire_.ReadNumber());
      switch (message) {
        case kLast:
          return absl::OkStatus();
        case kError:
          return Error();
        case kNext:
          HYDRANT_RETURN_IF_ERROR(Message());
          break;
        case kRead:
          HYDRANT_RETURN_IF_ERROR(Upload());
          break;
        case kStartActivity:
          HYDRANT_RETURN_IF_ERROR(Start());
          break;
        case kStopActivity:
          HYDRANT_RETURN_IF_ERROR(Stop());
          break;
        case kResult:
          HYDRANT_RETURN_IF_ERROR(Result());
          break;
        default:
          return wire_.Break(absl::DataLossError(
              absl::StrCat("the Nix daemon sent an unknown message number ", absl::Hex(message))));
      }
    }
  }

 private:
  void Tell(const LogEvent& event) {
    if (log_) log_(event);
  }

  absl::Status Message() {
    HYDRANT_ASSIGN_OR_RETURN(std::string text, wire_.ReadString());
    while (text.ends_with('\n')) text.pop_back();
    Tell({.kind = LogEvent::Kind::kMessage, .text = std::move(text)});
    return absl::OkStatus();
  }

  absl::Status Upload() {
    HYDRANT_ASSIGN_OR_RETURN(const uint64_t asked, wire_.ReadNumber());
    if (upload_ == nullptr)
      return wire_.Break(absl::DataLossError("the Nix daemon asked for data that was not offered"));
    std::string block(std::min<uint64_t>(std::max<uint64_t>(asked, 1), kMaxUpload), '\0');
    const absl::StatusOr<size_t> n = upload_->Read(block);
    if (!n.ok()) return wire_.Break(n.status());
    wire_.PutString(std::string_view(block).substr(0, *n));
    return wire_.Flush();
  }

  absl::StatusOr<std::vector<Field>> Fields() {
    HYDRANT_ASSIGN_OR_RETURN(const uint64_t count, wire_.ReadNumber());
    if (count > kMaxFields) return wire_.Break(absl::DataLossError("the Nix daemon sent too many fields"));
    std::vector<Field> fields(count);
    for (Field& field : fields) {
      HYDRANT_ASSIGN_OR_RETURN(const uint64_t type, wire_.ReadNumber());
      if (type == 0) {
        HYDRANT_ASSIGN_OR_RETURN(field.number, wire_.ReadNumber());
      } else if (type == 1) {
        HYDRANT_ASSIGN_OR_RETURN(field.text, wire_.ReadString());
      } else {
        return wire_.Break(
            absl::DataLossError(absl::StrCat("the Nix daemon sent a field of unknown type ", type)));
      }
    }
    return fields;
  }

  absl::Status Start() {
    LogEvent event;
    HYDRANT_ASSIGN_OR_RETURN(event.activity, wire_.ReadNumber());
    HYDRANT_RETURN_IF_ERROR(wire_.ReadNumber().status());  // level
    HYDRANT_ASSIGN_OR_RETURN(const uint64_t type, wire_.ReadNumber());
    HYDRANT_ASSIGN_OR_RETURN(event.text, wire_.ReadString());
    HYDRANT_ASSIGN_OR_RETURN(std::vector<Field> fields, Fields());
    HYDRANT_RETURN_IF_ERROR(wire_.ReadNumber().status());  // parent
    if (type == kActivityBuild) {
      event.kind = LogEvent::Kind::kBuildStart;
      if (!fields.empty()) event.derivation = std::move(fields[0].text);
    }
    Tell(event);
    return absl::OkStatus();
  }

  absl::Status Stop() {
    LogEvent event{.kind = LogEvent::Kind::kStop};
    HYDRANT_ASSIGN_OR_RETURN(event.activity, wire_.ReadNumber());
    Tell(event);
    return absl::OkStatus();
  }

  absl::Status Result() {
    LogEvent event;
    HYDRANT_ASSIGN_OR_RETURN(event.activity, wire_.ReadNumber());
    HYDRANT_ASSIGN_OR_RETURN(const uint64_t type, wire_.ReadNumber());
    HYDRANT_ASSIGN_OR_RETURN(std::vector<Field> fields, Fields());
    if (!fields.empty()) event.text = std::move(fields[0].text);
    if (type == kResultBuildLogLine) event.kind = LogEvent::Kind::kBuildLogLine;
    if (type == kResultPhase) event.kind = LogEvent::Kind::kPhase;
    if (type == kResultPostBuildLogLine) event.kind = LogEvent::Kind::kMessage;
    if (type == kResultProgress && fields.size() >= 2) {
      event.kind = LogEvent::Kind::kProgress;
      event.done = fields[0].number;
      event.expected = fields[1].number;
    }
    Tell(event);
    return absl::OkStatus();
  }

  // Since 1.26 an error is typed and has traces, of which the first lines are the context that a user needs.
  absl::Status Error() {
    std::string text;
    if (minor_ < 26) {
      HYDRANT_ASSIGN_OR_RETURN(text, wire_.ReadString());
      HYDRANT_RETURN_IF_ERROR(wire_.ReadNumber().status());
    } else {
      HYDRANT_RETURN_IF_ERROR(wire_.ReadString().status());  // "Error"
      HYDRANT_RETURN_IF_ERROR(wire_.ReadNumber().status());  // level
      HYDRANT_RETURN_IF_ERROR(wire_.ReadString().status());  // name
      HYDRANT_ASSIGN_OR_RETURN(text, wire_.ReadString());
      HYDRANT_RETURN_IF_ERROR(NoPosition());
      HYDRANT_ASSIGN_OR_RETURN(const uint64_t traces, wire_.ReadNumber());
      if (traces > kMaxTraces) return wire_.Break(absl::DataLossError("the Nix daemon sent too many traces"));
      for (uint64_t i = 0; i < traces; ++i) {
        HYDRANT_RETURN_IF_ERROR(NoPosition());
        HYDRANT_ASSIGN_OR_RETURN(const std::string trace, wire_.ReadString());
        absl::StrAppend(&text, "; ", trace);
      }
    }
    return ToStatus(WithoutAnsiCodes(text));
  }

  absl::Status NoPosition() {
    HYDRANT_ASSIGN_OR_RETURN(const uint64_t has_position, wire_.ReadNumber());
    if (has_position == 0) return absl::OkStatus();
    return wire_.Break(
        absl::DataLossError("the Nix daemon sent an error with a position, whose layout is not defined"));
  }

  static absl::Status ToStatus(const std::string& text) {
    const std::string message = absl::StrCat("Nix daemon: ", text);
    if (absl::StrContains(text, "is not valid")) return absl::NotFoundError(message);
    if (absl::StrContains(text, "interrupted by the user")) return absl::UnavailableError(message);
    if (absl::StrContains(text, "No space left on device")) return absl::ResourceExhaustedError(message);
    for (const char* phrase : {"not privileged", "not allowed", "Permission denied",
                               "lacks a valid signature", "lacks a signature"}) {
      if (absl::StrContains(text, phrase)) return absl::PermissionDeniedError(message);
    }
    return absl::InternalError(message);
  }

  DaemonWire& wire_;
  const uint64_t minor_;
  const LogSink& log_;
  Source* const upload_;
};

}  // namespace

absl::Status ReadDaemonLog(DaemonWire& wire, uint64_t minor, const LogSink& log, Source* upload) {
  return LogReader(wire, minor, log, upload).Run();
}

std::string WithoutAnsiCodes(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      plain += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && (text[i] < '@' || text[i] > '~')) ++i;
    }
  }
  return plain;
}

}  // namespace hydrant::nix
