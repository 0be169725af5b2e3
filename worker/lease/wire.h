// Between the values of assignment.h and the messages of worker_service.proto and step.proto.
#ifndef HYDRANT_WORKER_LEASE_WIRE_H_
#define HYDRANT_WORKER_LEASE_WIRE_H_

#include "absl/status/statusor.h"
#include "hydrant/v1/step.pb.h"
#include "hydrant/v1/worker_service.pb.h"
#include "worker/lease/assignment.h"

namespace hydrant::worker {

v1::Offer ToWire(const WorkerOffer& offer);
v1::AttemptStage ToWire(AttemptStage stage);
// The message is cut to 4 KiB of valid UTF-8.
v1::AttemptEnd ToWire(const AttemptEnd& end);
AttemptEnd FromWire(const v1::AttemptEnd& end);
FarmFacts FromWire(const v1::Farm& farm);
// InvalidArgument: it holds no work.
absl::StatusOr<Assignment> FromWire(const v1::Assignment& assignment, const v1::Farm& farm);

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_LEASE_WIRE_H_
