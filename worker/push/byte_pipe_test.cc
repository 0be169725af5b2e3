#include "worker/push/byte_pipe.h"

#include <gtest/gtest.h>

#include <thread>

namespace hydrant::worker {
namespace {

TEST(BytePipe, BytesArriveInOrderThoughItIsSmall) {
  BytePipe pipe(7);
  const std::string sent(100000, 'x');
  std::thread writer([&] {
    for (size_t i = 0; i < sent.size(); i += 13)
      EXPECT_TRUE(pipe.Write(std::string_view(sent).substr(i, 13)).ok());
    pipe.CloseWriting(absl::OkStatus());
  });
  StringSink got;
  EXPECT_EQ(*Copy(pipe, got), sent.size());
  writer.join();
  EXPECT_EQ(got.value, sent);
}

TEST(BytePipe, AFailedWriterIsTheReadersError) {
  BytePipe pipe(10);
  ASSERT_TRUE(pipe.Write("abc").ok());
  pipe.CloseWriting(absl::DataLossError("bad"));
  char buffer[8];
  EXPECT_EQ(pipe.Read(buffer).status(), absl::DataLossError("bad"));
}

TEST(BytePipe, AWriterWithoutReaderEnds) {
  BytePipe pipe(4);
  std::thread reader([&] { pipe.CloseReading(); });
  EXPECT_TRUE(absl::IsCancelled(pipe.Write("more than fits")));
  reader.join();
}

}  // namespace
}  // namespace hydrant::worker
