// What a Nix daemon says while it works: messages, activities that begin and end, and what comes of them.
// Types, numbers and fields: Nix's logging.hh and the places that start the activities.
#ifndef HYDRANT_LIB_NIX_DAEMON_EVENT_H_
#define HYDRANT_LIB_NIX_DAEMON_EVENT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hydrant::nix {

// A number that is not here comes as it is.
enum class ActivityType : uint64_t {
  kUnknown = 0,
  kCopyPath = 100,
  kFileTransfer = 101,
  kRealise = 102,
  kCopyPaths = 103,
  kBuilds = 104,
  kBuild = 105,
  kOptimiseStore = 106,
  kVerifyPaths = 107,
  kSubstitute = 108,
  kQueryPathInfo = 109,
  kPostBuildHook = 110,
  kBuildWaiting = 111,
  kFetchTree = 112,
  kFetchToStore = 113,
};

enum class ResultType : uint64_t {
  kNone = 0,
  kFileLinked = 100,
  kBuildLogLine = 101,
  kUntrustedPath = 102,
  kCorruptedPath = 103,
  kSetPhase = 104,
  kProgress = 105,
  kSetExpected = 106,
  kPostBuildLogLine = 107,
  kFetchStatus = 108,
  kFetchToStore = 109,
};

// "build", "copy-path" …; "unknown" for a number without a name.
std::string_view ActivityTypeName(ActivityType type);
std::string_view ResultTypeName(ResultType type);

using LogField = std::variant<uint64_t, std::string>;

struct LogEvent {
  enum class Kind {
    kMessage,          // text
    kBuildStart,       // derivation, machine
    kSubstituteStart,  // path, origin: the store that it comes from
    kStart,            // another activity; `type` says which
    kStop,
    kBuildLogLine,  // text
    kPhase,         // text
    kProgress,      // done, expected, running, failed
    kExpected,      // expected, of activities of type `expected_type`
    kOther,         // another result; `result` says which
  };
  Kind kind = Kind::kOther;
  uint64_t activity = 0, parent = 0;  // 0: none. parent: when it starts
  // Of the activity that starts, stops or gives a result; kUnknown when its start was not seen.
  ActivityType type = ActivityType::kUnknown;
  ResultType result = ResultType::kNone;
  int level = 0;           // Nix's, 0: error … 7: vomit; when it starts
  std::string text;        // the line, the phase, the message, the activity's description
  std::string derivation;  // of a build, a wait for one, or its hook
  std::string machine;     // kBuildStart: where; empty: here
  std::string
      path;  // of a substitution, copy or query; of a result kUntrustedPath, kCorruptedPath, kFetchToStore
  std::string origin;  // the store or URL it comes from
  uint64_t done = 0, expected = 0, running = 0, failed = 0;
  ActivityType expected_type = ActivityType::kUnknown;
  std::vector<LogField> fields;  // as they came
};

using LogSink = std::function<void(const LogEvent&)>;

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DAEMON_EVENT_H_
