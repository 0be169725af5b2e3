#include "tests/fuzz/mutator.h"

namespace hydrant::fuzz {
namespace {

// Bytes that formats give a meaning to, and the edges of numbers.
constexpr std::string_view kTelling(
    "\0\x01\x07\x08\x7f\x80\xff\"\\()[]{},:;=-/. \n\r\t\x1b"
    "0aA",
    30);
constexpr uint64_t kEdges[] = {
    0, 1, 7, 8, 255, 256, 4095, 4096, 65536, 1u << 31, uint64_t{1} << 32, uint64_t{1} << 63, ~uint64_t{0}};

}  // namespace

std::string Mutator::Mutate(std::string input, size_t most) {
  for (size_t changes = 1 + Below(4); changes > 0; --changes) Change(input);
  if (input.size() > most) input.resize(most);
  return input;
}

void Mutator::Change(std::string& input) {
  const size_t at = Below(input.size() + 1), length = 1 + Below(Below(4) == 0 ? 256 : 16);
  switch (Below(9)) {
    case 0:
      if (at < input.size()) input[at] = static_cast<char>(random_());
      break;
    case 1:
      if (at < input.size()) input[at] = static_cast<char>(input[at] ^ 1 << Below(8));
      break;
    case 2:
      if (at < input.size()) input[at] = kTelling[Below(kTelling.size())];
      break;
    case 3:
      input.erase(at, length);
      break;
    case 4:
      input.insert(at, input.substr(Below(input.size() + 1), length));
      break;
    case 5:
      input.resize(at);
      break;
    case 6: {  // a number of 8 bytes, as archives and the daemon have them
      const size_t word = at / 8 * 8;
      const uint64_t number = kEdges[Below(std::size(kEdges))];
      for (size_t i = 0; i < 8 && word + i < input.size(); ++i)
        input[word + i] = static_cast<char>(number >> (8 * i));
      break;
    }
    case 7:
      input.insert(at, length, kTelling[Below(kTelling.size())]);
      break;
    default: {  // the rest of another input
      const std::string& other = others_[Below(others_.size())];
      input.replace(at, std::string::npos, other, Below(other.size() + 1), std::string::npos);
      break;
    }
  }
}

}  // namespace hydrant::fuzz
