// One target as libFuzzer calls it; HYDRANT_FUZZ_TARGET is its name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const hydrant::fuzz::Target& target = *hydrant::fuzz::FindTarget(HYDRANT_FUZZ_TARGET);
  target.judge({reinterpret_cast<const char*>(data), size});
  return 0;
}
