#include "daemon/serve/http_range.h"

#include <gtest/gtest.h>

namespace hydrant {
namespace {

struct Case {
  const char* header;
  int64_t size;
  RangeKind kind;
  int64_t first = 0, length = 0;
};

TEST(HttpRangeTest, OneRangeIsTakenAndTheRestIsTheWhole) {
  const Case cases[] = {{"bytes=0-9", 100, RangeKind::kPart, 0, 10},
                        {"bytes=10-", 100, RangeKind::kPart, 10, 90},
                        {"bytes=90-200", 100, RangeKind::kPart, 90, 10},
                        {"bytes=-5", 100, RangeKind::kPart, 95, 5},
                        {"bytes=-500", 100, RangeKind::kPart, 0, 100},
                        {"bytes=100-", 100, RangeKind::kUnsatisfiable},
                        {"bytes=-0", 100, RangeKind::kUnsatisfiable},
                        {"bytes=0-", 0, RangeKind::kUnsatisfiable},
                        {"bytes=5-2", 100, RangeKind::kWhole},
                        {"bytes=0-1,5-6", 100, RangeKind::kWhole},
                        {"bytes=a-b", 100, RangeKind::kWhole},
                        {"bytes=-", 100, RangeKind::kWhole},
                        {"lines=0-1", 100, RangeKind::kWhole},
                        {"bytes=99999999999999999999-", 100, RangeKind::kWhole},
                        {"bytes=0-9223372036854775807", 100, RangeKind::kPart, 0, 100},
                        {"bytes=--5", 100, RangeKind::kWhole}};
  for (const Case& c : cases) {
    const ParsedRange parsed = ParseRange(c.header, c.size);
    EXPECT_EQ(parsed.kind, c.kind) << c.header;
    EXPECT_EQ(parsed.range.first, c.first) << c.header;
    EXPECT_EQ(parsed.range.length, c.length) << c.header;
  }
}

TEST(HttpRangeTest, ARangeOfAnotherVersionIsTheWhole) {
  HttpRequest request;
  request.headers = {{"Range", "bytes=5-"}, {"If-Range", "\"other\""}};
  EXPECT_EQ(FileResponse(request, UniqueFd(), 10, "etag").status, 200);
  request.headers[1].second = "\"etag\"";
  EXPECT_EQ(FileResponse(request, UniqueFd(), 10, "etag").status, 206);
}

TEST(HttpRangeTest, WhatTheProxyHasIsNotSentAgain) {
  HttpRequest request;
  request.headers = {{"If-None-Match", "\"etag\""}};
  EXPECT_EQ(FileResponse(request, UniqueFd(), 10, "etag").status, 304);
}

}  // namespace
}  // namespace hydrant
