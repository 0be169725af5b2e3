// A small farm in the middle of its work, one of every kind of record, to begin a test from.
#ifndef HYDRANT_TESTS_CONFORMANCE_SAMPLE_RECORDS_H_
#define HYDRANT_TESTS_CONFORMANCE_SAMPLE_RECORDS_H_

#include <string>

#include "absl/time/time.h"
#include "daemon/record/state_store.h"

namespace hydrant {

inline absl::Time At(int seconds) { return absl::FromUnixSeconds(1'800'000'000 + seconds); }

// Evaluation 1 of matrix "demo", evaluating; steps a (running, attempt 1 with token 1 on worker w1), b
// (blocked) and c (succeeded); check k (wanted); path p staged; channel demo-stable at evaluation 1.
struct SampleFarm {
  SampleFarm();
  Batch batch;
  Recorded recorded;  // what a load gives after it

  MatrixRecord matrix;
  MatrixTextRecord text;
  EvaluationRecord evaluation;
  DerivedListRecord derived_list;
  VariantRecord good, refused;
  DerivationRecord a, b, c;
  StepRecord step_a, step_b, step_c;
  CheckRecord check;
  Lease lease;
  NarInfoRecord info;
  ChannelRecord channel;
  WorkerRecord worker;
};

}  // namespace hydrant

#endif  // HYDRANT_TESTS_CONFORMANCE_SAMPLE_RECORDS_H_
