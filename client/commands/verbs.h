// The verbs of the program. Each is a function of plain options; how they are written on a command line is
// main's. A Status says why a verb could not do its work, an Exit how the work ended.
#ifndef HYDRANT_CLIENT_COMMANDS_VERBS_H_
#define HYDRANT_CLIENT_COMMANDS_VERBS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/exit.h"
#include "client/format/use_snippet.h"
#include "client/session.h"

namespace hydrant::client {

// Offline. `system` stands in for an axis that the matrix does not declare; empty: this machine's.
struct MatrixFileOptions {
  std::vector<std::string> files;
  std::string system;
};
absl::StatusOr<Exit> MatrixCheck(const MatrixFileOptions& options, Session& session);
absl::StatusOr<Exit> MatrixShow(const MatrixFileOptions& options, Session& session);
absl::StatusOr<Exit> MatrixApply(const MatrixFileOptions& options, Session& session);
absl::StatusOr<Exit> MatrixList(Session& session);

struct PlanOptions {
  std::string file, branch, revision;
  std::vector<std::string> add;  // AXIS=VALUE: what it would cost beside the rest
};
absl::StatusOr<Exit> Plan(const PlanOptions& options, Session& session);

struct TriggerOptions {
  std::string matrix, only, branch, revision;
  int32_t priority = 0;
  bool wait = false;
};
absl::StatusOr<Exit> Trigger(const TriggerOptions& options, Session& session);

struct EvaluationListOptions {
  std::string matrix, branch;  // empty: all
};
absl::StatusOr<Exit> EvaluationList(const EvaluationListOptions& options, Session& session);

// Which evaluation is meant: a number, or the newest, of a branch where one is named.
struct EvaluationChoice {
  int64_t evaluation = 0;
  std::string branch;
  // Into a request that has both.
  template <typename Request>
  void Into(Request& request) const {
    request.set_evaluation(evaluation);
    request.set_branch(branch);
  }
};

struct StatusOptions {
  std::string matrix;
  EvaluationChoice of;
};
absl::StatusOr<Exit> ShowStatus(const StatusOptions& options, Session& session);

struct WatchVerbOptions {
  std::string target;  // an evaluation's number or a matrix; empty: the newest evaluation of all
  std::string branch;  // of that matrix; empty: any
};
absl::StatusOr<Exit> Watch(const WatchVerbOptions& options, Session& session);

// Each an evaluation's number, or a matrix for its newest. `against` empty: the whole evaluation.
struct ReportOptions {
  std::string target, against;
  std::string branch, against_branch;  // of the matrix that each names; empty: any
};
absl::StatusOr<Exit> Report(const ReportOptions& options, Session& session);

struct LogOptions {
  std::string address;
  EvaluationChoice of;
  bool follow = false;
};
absl::StatusOr<Exit> ShowLog(const LogOptions& options, Session& session);

struct ExplainOptions {
  std::string address;
  EvaluationChoice of;
};
absl::StatusOr<Exit> Explain(const ExplainOptions& options, Session& session);

// What retry and cancel are about: an address, or without one all of a matrix or evaluation.
struct SelectionOptions {
  std::string address, matrix;
  EvaluationChoice of;
  std::string cause;  // retry only
};
absl::StatusOr<Exit> Retry(const SelectionOptions& options, Session& session);
absl::StatusOr<Exit> Cancel(const SelectionOptions& options, Session& session);

struct NameOptions {
  std::string name;
};
absl::StatusOr<Exit> WorkerList(Session& session);
absl::StatusOr<Exit> WorkerShow(const NameOptions& options, Session& session);
absl::StatusOr<Exit> WorkerDrain(const NameOptions& options, bool drain, Session& session);
absl::StatusOr<Exit> ChannelList(Session& session);
absl::StatusOr<Exit> ChannelShow(const NameOptions& options, Session& session);

struct UseOptions {
  std::string variant, branch;  // branch: where the variant is looked up; empty: in the newest evaluation
  SnippetFormat format = SnippetFormat::kNixConf;
};
absl::StatusOr<Exit> Use(const UseOptions& options, Session& session);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_COMMANDS_VERBS_H_
