// What is known of a variant beside its outcome, as JSON.
#ifndef HYDRANT_CLIENT_FORMAT_POLICY_JSON_H_
#define HYDRANT_CLIENT_FORMAT_POLICY_JSON_H_

#include <hydrant/v1/matrix.pb.h>

#include "client/format/json_document.h"

namespace hydrant::client {

// Adds to a variant's object: "licence" {"names","free","through",…} and "hydra" {"skips","reason","message"}, null where
// nothing is known, "tier", null likewise, "findings" [{"rule","severity","message","path"}], and "facts" where there are any.
void AddPolicy(const v1::VariantStatus& variant, Json& json);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_POLICY_JSON_H_
