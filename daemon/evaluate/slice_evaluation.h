// One slice: each of its names gets an outcome, whatever the others do. Processes are started until each has:
// a name at which one dies is charged with it, and those after it go into the next. Knows nothing of other
// slices.
#ifndef HYDRANT_DAEMON_EVALUATE_SLICE_EVALUATION_H_
#define HYDRANT_DAEMON_EVALUATE_SLICE_EVALUATION_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/evaluate/driver_request.h"
#include "daemon/evaluate/driver_transcript.h"
#include "daemon/evaluate/evaluator.h"
#include "daemon/evaluate/evaluator_death.h"

namespace hydrant {

class SliceEvaluation {
 public:
  struct Options {
    std::map<std::string, std::string> env;  // all that Nix gets
    std::string driver;                      // driver.nix
    std::string input;                       // a file that is ours to write
    EvaluatorBounds bounds;
    bool ifd = false;
    // Called for each derivation while the process that made it still lives.
    std::function<absl::Status(const std::string& derivation)> keep;
    std::function<bool()> stop;
  };

  SliceEvaluation(Options options, DriverRequest request)
      : options_(std::move(options)), request_(std::move(request)), remaining_(request_.names) {}

  // One outcome a name. Cancelled when `stop` said so; NotFound without Nix. Once.
  absl::StatusOr<std::vector<Outcome>> Evaluate();

 private:
  absl::StatusOr<LineProcessEnd> RunDriver(DriverTranscript& transcript);
  void Settle(const DriverName& name, Cause cause, std::string message);
  void SettleReport(const DriverName& name, const NameReport& report);
  void SettleReports(const DriverTranscript& transcript, size_t count);
  // Whether the name at which a process died goes into the next instead of being charged.
  bool Retries(const Death& death, const DriverName& name, bool first_of_process);
  void SettleDeath(const DriverTranscript& transcript, const Death& death);
  absl::Status SettleCaught();
  void Drop(size_t count);

  const Options options_;
  const DriverRequest request_;
  std::vector<DriverName> remaining_;  // in the order in which they are asked
  std::vector<DriverName> caught_;     // their words are still to be asked for
  std::set<size_t> retried_;           // variants
  std::vector<Outcome> outcomes_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_SLICE_EVALUATION_H_
