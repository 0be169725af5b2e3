// The coordinator's values as protobuf messages, and back. Nothing is decided here.
#ifndef HYDRANT_DAEMON_SERVE_MESSAGES_H_
#define HYDRANT_DAEMON_SERVE_MESSAGES_H_

#include "daemon/coordinator/comparison.h"
#include "daemon/coordinator/evaluation_run.h"
#include "daemon/coordinator/views.h"
#include "hydrant/v1/farm_service.pb.h"
#include "hydrant/v1/matrix.pb.h"
#include "hydrant/v1/worker_service.pb.h"

namespace hydrant {

v1::Evaluation ToMessage(const EvaluationRecord& record);
// Into variant's facts, verdict, findings and tier.
void SetFacts(const VariantRecord& record, const VariantFacts* facts, const HydraVerdict& hydra, v1::VariantStatus& variant);
v1::VariantStatus ToMessage(const GridVariant& variant);
v1::VariantStatus ToMessage(const PlannedVariant& variant);
v1::PlanSummary ToMessage(const PlanSummary& summary);
v1::PlanEstimate ToEstimateMessage(const PlanSummary& summary);
v1::PlanResponse ToMessage(const PlanView& plan);
v1::RunningAttempt ToMessage(const RunningView& running);
v1::WorkerStatus ToMessage(const WorkerView& worker);
v1::Channel ToMessage(const ChannelRecord& channel);
v1::MatrixSummary ToMessage(const MatrixView& matrix);
v1::ExplainResponse ToMessage(const ExplainView& view);
v1::CompareEvaluationsResponse ToMessage(const ComparisonView& view);
v1::Assignment ToMessage(const Assignment& assignment, absl::Duration lease);
v1::Offer ToMessage(const WorkerOffer& offer);
v1::AttemptStage ToMessage(AttemptStage stage);

MatrixTextRecord FromMessage(const v1::MatrixText& text);
WorkerOffer FromMessage(const v1::Offer& offer);
OfferedGpu FromMessage(const v1::Gpu& gpu);
SyncRequest FromMessage(const v1::SynchronizeRequest& request);
// InvalidArgument for a cause that is no word of ours.
absl::StatusOr<ReportedEnd> FromMessage(const v1::AttemptEnd& end);

// Milliseconds since 1970 UTC; 0 for an infinite time.
int64_t ToMillis(absl::Time time);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_MESSAGES_H_
