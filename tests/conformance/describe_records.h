// Records as text, every field, so that a difference between two can be read.
#ifndef HYDRANT_TESTS_CONFORMANCE_DESCRIBE_RECORDS_H_
#define HYDRANT_TESTS_CONFORMANCE_DESCRIBE_RECORDS_H_

#include <string>

#include "daemon/record/state_store.h"

namespace hydrant {

std::string Describe(const EvaluationRecord& evaluation);
std::string Describe(const VariantRecord& variant);
std::string Describe(const AttemptRecord& attempt);
std::string Describe(const Recorded& recorded);  // a line a record

}  // namespace hydrant

#endif  // HYDRANT_TESTS_CONFORMANCE_DESCRIBE_RECORDS_H_
