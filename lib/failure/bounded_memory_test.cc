// However long a text and its lines are, classifying it needs as much memory as for a short one. Counts what
// is allocated, in a program of its own because it replaces operator new.
#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

#include "gtest/gtest.h"
#include "lib/failure/classify.h"
#include "lib/failure/message_lines.h"

namespace {
// Bytes now and at most; this program has one thread.
size_t allocated = 0, peak = 0;
}  // namespace

void* operator new(size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  allocated += malloc_usable_size(memory);
  peak = std::max(peak, allocated);
  return memory;
}
void operator delete(void* memory) noexcept {
  allocated -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

namespace hydrant {
namespace {

std::string Repeated(const std::string& text, size_t bytes) {
  std::string result;
  result.reserve(bytes + text.size());
  while (result.size() < bytes) result += text;
  return result;
}

struct Pathology {
  const char* what;
  const char* piece;
};

constexpr Pathology kPathologies[] = {
    {"short lines", "a\n"},
    {"blank lines", "\n"},
    {"one endless line", "nvcc fatal "},
    {"errors without end", "error: x\n"},
    {"heads in one line", "error:"},
    {"control sequences that never end", "\x1b["},
    {"strings that never end", "\x1b]0;"},
    {"quotes", "‘’"},
    {"half quotes", "\xe2\x80"},
    {"beginnings of wordings", "builder for 'builder for '\n"},
    {"stars' worth of pieces", "output path 'has hash 'when '\n"},
    {"a progress bar", "12%\r"},
    {"quoted logs", "> died due to signal\n"},
    {"NULs", "\x1b\x1b\n"},
};

size_t PeakOf(const std::string& text) {
  const size_t before = peak = allocated;
  ClassifyText(text);
  ClassifyEvaluation(text);
  ClassifyAttempt(3, text, text);
  ClassifyCheck(text);
  return peak - before;
}

TEST(BoundedMemory, DoesNotGrowWithTheText) {
  for (const Pathology& pathology : kPathologies) {
    const size_t of_short = PeakOf(Repeated(pathology.piece, 96 << 10));
    const size_t of_long = PeakOf(Repeated(pathology.piece, 512 << 10));
    EXPECT_LE(of_long, of_short) << pathology.what;
    EXPECT_LE(of_long, size_t{1} << 20) << pathology.what;
  }
}

// Each byte is looked at a bounded number of times: as many lines come as there are, none longer than the
// bound.
TEST(BoundedMemory, EachLineComesOnceAndNoLongerThanTheBound) {
  const std::string text = Repeated("some words\n", 1 << 20) + Repeated("x", 1 << 20);
  size_t lines = 0, bytes = 0;
  MessageLineReader reader(text);
  while (const MessageLine* line = reader.Next()) {
    ++lines;
    bytes += line->plain.size();
    EXPECT_LE(line->plain.size(), MessageLineReader::kLongestLine);
  }
  EXPECT_EQ(lines, ((1 << 20) + 10) / 11 + 1u);
  EXPECT_LE(bytes, text.size());
}

}  // namespace
}  // namespace hydrant
