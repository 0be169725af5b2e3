#include "lib/base/stream.h"

#include <gtest/gtest.h>

namespace hydrant {
namespace {

TEST(StreamTest, CopyMovesMoreThanOneBlock) {
  std::string bytes;
  for (int i = 0; i < 200000; ++i) bytes += static_cast<char>(i * 7);
  StringSource source(bytes);
  StringSink sink;
  EXPECT_EQ(Copy(source, sink).value(), bytes.size());
  EXPECT_EQ(sink.value, bytes);
}

TEST(StreamTest, CopyStopsAtTheSinksFirstError) {
  struct FullSink final : Sink {
    absl::Status Write(std::string_view) override { return absl::ResourceExhaustedError("full"); }
  } sink;
  StringSource source("x");
  EXPECT_EQ(Copy(source, sink).status().message(), "full");
}

}  // namespace
}  // namespace hydrant
