// What the benchmarks of pure code share: CPU laps, medians, made-up store paths, and the sizes that they are
// asked for.
#ifndef HYDRANT_TESTS_BENCH_MEASURE_H_
#define HYDRANT_TESTS_BENCH_MEASURE_H_

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hydrant {

// Milliseconds of this process's CPU from one lap to the next.
class CpuLaps {
 public:
  double Lap() {
    const double now = Cpu();
    return now - std::exchange(at_, now);
  }

 private:
  static double Cpu() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto ms = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
    };
    return ms(usage.ru_utime) + ms(usage.ru_stime);
  }
  double at_ = Cpu();
};

// Of at least one.
inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Of something that is told apart by `made`.
inline std::string MadeStorePath(const std::string& made, const std::string& name) {
  char text[40];
  std::snprintf(text, sizeof text, "%032zx", std::hash<std::string>()(made));
  return std::string("/nix/store/") + text + "-" + name;
}

struct BenchSizes {
  size_t derivations = 20000, variants = 2000;
};
// [DERIVATIONS [VARIANTS]]; nothing, and the usage on standard error, when that makes no sense.
inline std::optional<BenchSizes> ReadSizes(const char* program, int argc, char** argv) {
  BenchSizes sizes;
  if (argc > 1) sizes.derivations = std::strtoul(argv[1], nullptr, 10);
  if (argc > 2) sizes.variants = std::strtoul(argv[2], nullptr, 10);
  if (argc <= 3 && sizes.variants > 0 && sizes.derivations >= sizes.variants) return sizes;
  std::fprintf(stderr, "usage: %s [DERIVATIONS [VARIANTS]], at least as many derivations\n", program);
  return std::nullopt;
}

}  // namespace hydrant

#endif  // HYDRANT_TESTS_BENCH_MEASURE_H_
