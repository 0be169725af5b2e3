// Durations and byte sizes as people write them in configuration: "1h30m", "90d", "1500MB", "64MiB". Knows
// nothing of the files that they stand in.
#ifndef HYDRANT_LIB_MATRIX_QUANTITIES_H_
#define HYDRANT_LIB_MATRIX_QUANTITIES_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace hydrant {

// Whole numbers with the units d, h, m, s, ms, larger units first, each at most once. InvalidArgument says
// what is expected.
absl::StatusOr<absl::Duration> ParseDurationText(std::string_view text);

// A decimal number with one of B, kB, MB, GB, TB, PB (powers of 1000) or KiB, MiB, GiB, TiB, PiB (of 1024);
// rounded down to whole bytes. InvalidArgument says what is expected.
absl::StatusOr<uint64_t> ParseByteSize(std::string_view text);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_QUANTITIES_H_
