#include "lib/rpc/status.h"

#include <gtest/gtest.h>

namespace hydrant::rpc {
namespace {

TEST(Status, EveryCodeGoesThereAndBackWithItsMessage) {
  for (int code = 0; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), code == 0 ? "" : "why");
    EXPECT_EQ(FromGrpc(ToGrpc(status)), status) << code;
  }
}

TEST(Status, TheNumbersAreThoseOfGrpc) {
  EXPECT_EQ(ToGrpc(absl::UnavailableError("x")).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ToGrpc(absl::UnauthenticatedError("x")).error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

}  // namespace
}  // namespace hydrant::rpc
