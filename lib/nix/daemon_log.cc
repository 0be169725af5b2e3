#include "lib/nix/daemon_log.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant::nix {
namespace {

constexpr uint64_t kNext = 0x6f6c6d67, kRead = 0x64617461, kLast = 0x616c7473, kError = 0x63787470,
                   kStartActivity = 0x53545254, kStopActivity = 0x53544f50, kResult = 0x52534c54;
constexpr uint64_t kMaxFields = 64, kMaxTraces = 1024;
constexpr size_t kMaxEventText = 64 << 20;
// Activities that are open at once and whose type is remembered.
constexpr size_t kMaxOpenActivities = 1 << 16;

uint64_t Number(const std::vector<LogField>& fields, size_t index) {
  const uint64_t* number = index < fields.size() ? std::get_if<uint64_t>(&fields[index]) : nullptr;
  return number != nullptr ? *number : 0;
}

std::string Text(const std::vector<LogField>& fields, size_t index) {
  const std::string* text = index < fields.size() ? std::get_if<std::string>(&fields[index]) : nullptr;
  return text != nullptr ? *text : "";
}

void NameStartFields(LogEvent& event) {
  event.kind = LogEvent::Kind::kStart;
  switch (event.type) {
    case ActivityType::kBuild:
      event.kind = LogEvent::Kind::kBuildStart;
      event.derivation = Text(event.fields, 0);
      event.machine = Text(event.fields, 1);
      break;
    case ActivityType::kSubstitute:
      event.kind = LogEvent::Kind::kSubstituteStart;
      event.path = Text(event.fields, 0);
      event.origin = Text(event.fields, 1);
      break;
    case ActivityType::kCopyPath:
    case ActivityType::kQueryPathInfo:
      event.path = Text(event.fields, 0);
      event.origin = Text(event.fields, 1);
      break;
    case ActivityType::kFileTransfer:
    case ActivityType::kFetchToStore:
      event.origin = Text(event.fields, 0);
      break;
    case ActivityType::kPostBuildHook:
    case ActivityType::kBuildWaiting:
      event.derivation = Text(event.fields, 0);
      break;
    default:
      break;
  }
}

void NameResultFields(LogEvent& event) {
  event.kind = LogEvent::Kind::kOther;
  event.text = Text(event.fields, 0);
  switch (event.result) {
    case ResultType::kBuildLogLine:
      event.kind = LogEvent::Kind::kBuildLogLine;
      break;
    case ResultType::kSetPhase:
      event.kind = LogEvent::Kind::kPhase;
      break;
    case ResultType::kPostBuildLogLine:
      event.kind = LogEvent::Kind::kMessage;
      break;
    case ResultType::kProgress:
      event.kind = LogEvent::Kind::kProgress;
      event.done = Number(event.fields, 0);
      event.expected = Number(event.fields, 1);
      event.running = Number(event.fields, 2);
      event.failed = Number(event.fields, 3);
      break;
    case ResultType::kSetExpected:
      event.kind = LogEvent::Kind::kExpected;
      event.expected_type = static_cast<ActivityType>(Number(event.fields, 0));
      event.expected = Number(event.fields, 1);
      break;
    case ResultType::kUntrustedPath:
    case ResultType::kCorruptedPath:
    case ResultType::kFetchToStore:
      event.path = event.text;
      break;
    default:
      break;
  }
}

absl::Status ErrorStatus(const std::string& text) {
  const std::string message = absl::StrCat("Nix daemon: ", text);
  if (absl::StrContains(text, "is not valid")) return absl::NotFoundError(message);
  if (absl::StrContains(text, "interrupted by the user")) return absl::UnavailableError(message);
  if (absl::StrContains(text, "No space left on device")) return absl::ResourceExhaustedError(message);
  for (const char* phrase : {"not privileged", "not allowed", "Permission denied", "lacks a valid signature",
                             "lacks a signature"}) {
    if (absl::StrContains(text, phrase)) return absl::PermissionDeniedError(message);
  }
  return absl::InternalError(message);
}

class LogReader {
 public:
  LogReader(WireReader& in, uint64_t minor, const LogSink& log, const LogUpload& upload)
      : in_(in), minor_(minor), log_(log), upload_(upload) {}

  absl::Status Run() {
    while (true) {
      HYDRANT_ASSIGN_OR_RETURN(const uint64_t message, in_.ReadNumber());
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
          return in_.Garbled(absl::StrCat("an unknown message number ", absl::Hex(message)));
      }
    }
  }

 private:
  void Tell(const LogEvent& event) {
    if (log_) log_(event);
  }

  absl::Status Message() {
    HYDRANT_ASSIGN_OR_RETURN(std::string text, in_.ReadString());
    while (text.ends_with('\n')) text.pop_back();
    Tell({.kind = LogEvent::Kind::kMessage, .text = std::move(text)});
    return absl::OkStatus();
  }

  absl::Status Upload() {
    HYDRANT_ASSIGN_OR_RETURN(const uint64_t asked, in_.ReadNumber());
    return upload_ ? upload_(asked) : in_.Garbled("a demand for data that was not offered");
  }

  absl::StatusOr<std::vector<LogField>> Fields() {
    HYDRANT_ASSIGN_OR_RETURN(const uint64_t count, in_.ReadCount(kMaxFields, "fields"));
    std::vector<LogField> fields;
    size_t bytes = 0;
    for (uint64_t i = 0; i < count; ++i) {
      HYDRANT_ASSIGN_OR_RETURN(const uint64_t type, in_.ReadNumber());
      if (type == 0) {
        HYDRANT_ASSIGN_OR_RETURN(const uint64_t number, in_.ReadNumber());
        fields.emplace_back(number);
      } else if (type == 1) {
        HYDRANT_ASSIGN_OR_RETURN(std::string text, in_.ReadString());
        bytes += text.size();
        if (bytes > kMaxEventText) return in_.Garbled("an event of more than 64 MiB");
        fields.emplace_back(std::move(text));
      } else {
        return in_.Garbled(absl::StrCat("a field of unknown type ", type));
      }
    }
    return fields;
  }

  absl::Status Start() {
    LogEvent event;
    HYDRANT_ASSIGN_OR_RETURN(event.activity, in_.ReadNumber());
    HYDRANT_ASSIGN_OR_RETURN(const uint64_t level, in_.ReadNumber());
    HYDRANT_ASSIGN_OR_RETURN(const uint64_t type, in_.ReadNumber());
    HYDRANT_ASSIGN_OR_RETURN(event.text, in_.ReadString());
    HYDRANT_ASSIGN_OR_RETURN(event.fields, Fields());
    HYDRANT_ASSIGN_OR_RETURN(event.parent, in_.ReadNumber());
    event.level = static_cast<int>(level);
    event.type = static_cast<ActivityType>(type);
    if (open_.size() < kMaxOpenActivities) open_[event.activity] = event.type;
    NameStartFields(event);
    Tell(event);
    return absl::OkStatus();
  }

  absl::Status Stop() {
    LogEvent event{.kind = LogEvent::Kind::kStop};
    HYDRANT_ASSIGN_OR_RETURN(event.activity, in_.ReadNumber());
    if (const auto found = open_.find(event.activity); found != open_.end()) {
      event.type = found->second;
      open_.erase(found);
    }
    Tell(event);
    return absl::OkStatus();
  }

  absl::Status Result() {
    LogEvent event;
    HYDRANT_ASSIGN_OR_RETURN(event.activity, in_.ReadNumber());
    HYDRANT_ASSIGN_OR_RETURN(const uint64_t result, in_.ReadNumber());
    HYDRANT_ASSIGN_OR_RETURN(event.fields, Fields());
    event.result = static_cast<ResultType>(result);
    if (const auto found = open_.find(event.activity); found != open_.end()) event.type = found->second;
    NameResultFields(event);
    Tell(event);
    return absl::OkStatus();
  }

  // Since 1.26 an error is typed and has traces, of which the first lines are the context that a user needs.
  absl::Status Error() {
    std::string text;
    if (minor_ < 26) {
      HYDRANT_ASSIGN_OR_RETURN(text, in_.ReadString());
      HYDRANT_RETURN_IF_ERROR(in_.ReadNumber().status());
      return ErrorStatus(WithoutAnsiCodes(text));
    }
    HYDRANT_RETURN_IF_ERROR(in_.ReadString().status());  // "Error"
    HYDRANT_RETURN_IF_ERROR(in_.ReadNumber().status());  // level
    HYDRANT_RETURN_IF_ERROR(in_.ReadString().status());  // name
    HYDRANT_ASSIGN_OR_RETURN(text, in_.ReadString());
    HYDRANT_RETURN_IF_ERROR(NoPosition());
    HYDRANT_ASSIGN_OR_RETURN(const uint64_t traces, in_.ReadCount(kMaxTraces, "traces"));
    for (uint64_t i = 0; i < traces; ++i) {
      HYDRANT_RETURN_IF_ERROR(NoPosition());
      HYDRANT_ASSIGN_OR_RETURN(const std::string trace, in_.ReadString());
      if (text.size() + trace.size() > kMaxEventText) return in_.Garbled("an error of more than 64 MiB");
      absl::StrAppend(&text, "; ", trace);
    }
    return ErrorStatus(WithoutAnsiCodes(text));
  }

  absl::Status NoPosition() {
    HYDRANT_ASSIGN_OR_RETURN(const uint64_t has_position, in_.ReadNumber());
    return has_position == 0 ? absl::OkStatus()
                             : in_.Garbled("an error with a position, whose layout is not defined");
  }

  WireReader& in_;
  const uint64_t minor_;
  const LogSink& log_;
  const LogUpload& upload_;
  std::unordered_map<uint64_t, ActivityType> open_;
};

}  // namespace

absl::Status ReadDaemonLog(WireReader& in, uint64_t minor, const LogSink& log, const LogUpload& upload) {
  return LogReader(in, minor, log, upload).Run();
}

}  // namespace hydrant::nix
