#include "lib/nix/daemon_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/nix/daemon_bytes_fixture.h"

namespace hydrant::nix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(DaemonFormatTest, ValuesAreTheProtocolsBytesAndComeBack) {
  WireWriter out;
  out.PutNumber(uint64_t{1} << 63);
  out.PutStrings(std::set<std::string>{"", "12345678", "\xff nine!!"});
  out.PutMap({{"a", "1"}});
  out.PutTime(absl::FromUnixSeconds(77));
  out.PutTime(absl::InfinitePast());
  out.PutBool(true);
  EXPECT_EQ(out.bytes(), Number(uint64_t{1} << 63) + Number(3) + String("") + String("12345678") +
                             String("\xff nine!!") + Number(1) + String("a") + String("1") + Number(77) +
                             Number(0) + Number(1));
  WireBytes in(out.bytes());
  EXPECT_EQ(in.ReadNumber().value(), uint64_t{1} << 63);
  EXPECT_THAT(in.ReadStrings().value(), ElementsAre("", "12345678", "\xff nine!!"));
  EXPECT_THAT(in.ReadMap().value(), ElementsAre(Pair("a", "1")));
  EXPECT_EQ(in.ReadTime().value(), absl::FromUnixSeconds(77));
  EXPECT_EQ(in.ReadTime().value(), absl::InfinitePast());
  EXPECT_TRUE(in.ReadBool().value());
  EXPECT_FALSE(in.has_unread());
}

TEST(DaemonFormatTest, LengthBeyondReasonBreaksItForGood) {
  WireBytes in(Number(uint64_t{1} << 40) + String("fine"));
  EXPECT_THAT(std::string(in.ReadString().status().message()), HasSubstr("a string of 1099511627776 bytes"));
  EXPECT_EQ(in.broken().code(), absl::StatusCode::kDataLoss);
}

TEST(DaemonFormatTest, CountBeyondReasonIsRefused) {
  EXPECT_EQ(WireBytes(Number(uint64_t{1} << 40)).ReadStrings().status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(WireBytes(Number(uint64_t{1} << 40)).ReadMap().status().code(), absl::StatusCode::kDataLoss);
}

TEST(DaemonFormatTest, AnnouncedBytesThatNeverComeAreNotAllocated) {
  WireBytes in(Number(64 << 20) + "a few");
  EXPECT_EQ(in.ReadString().status().code(), absl::StatusCode::kUnavailable);
  WireBytes set(Number(1 << 24) + String("one"));
  EXPECT_EQ(set.ReadStrings().status().code(), absl::StatusCode::kUnavailable);
}

TEST(DaemonFormatTest, DirtyPaddingIsRefused) {
  EXPECT_EQ(WireBytes(Number(1) + "a......x").ReadString().status().code(), absl::StatusCode::kDataLoss);
}

TEST(DaemonFormatTest, FirstErrorStays) {
  WireBytes in("1234");
  EXPECT_EQ(in.ReadNumber().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(in.Garbled("more").code(), absl::StatusCode::kUnavailable);
}

TEST(DaemonFormatTest, PeekAndSkipTakeWhatIsThere) {
  WireBytes in(Number(1) + "abcdef");
  ASSERT_TRUE(in.ReadNumber().ok());
  EXPECT_EQ(in.Peek().value(), "abcdef");
  in.Skip(2);
  EXPECT_EQ(in.Peek().value(), "cdef");
  in.Skip(4);
  EXPECT_EQ(in.Peek().status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace hydrant::nix
