// Changes an input the way a careless or hostile writer would. The same seed number, the same changes, on
// every machine. Has no feedback from the code under test: libFuzzer does.
#ifndef HYDRANT_TESTS_FUZZ_MUTATOR_H_
#define HYDRANT_TESTS_FUZZ_MUTATOR_H_

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace hydrant::fuzz {

class Mutator {
 public:
  Mutator(uint64_t seed, const std::vector<std::string>& others) : random_(seed), others_(others) {}
  // One to four changes; at most `most` bytes come out.
  std::string Mutate(std::string input, size_t most);

 private:
  size_t Below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  void Change(std::string& input);

  std::mt19937_64 random_;
  const std::vector<std::string>& others_;
};

}  // namespace hydrant::fuzz

#endif  // HYDRANT_TESTS_FUZZ_MUTATOR_H_
