#include "lib/base/stream.h"

#include <vector>

#include "lib/base/status_macros.h"

namespace hydrant {

absl::StatusOr<size_t> Copy(Source& source, Sink& sink) {
  std::vector<char> block(64 << 10);
  size_t total = 0;
  while (true) {
    HYDRANT_ASSIGN_OR_RETURN(const size_t n, source.Read(block));
    if (n == 0) return total;
    HYDRANT_RETURN_IF_ERROR(sink.Write({block.data(), n}));
    total += n;
  }
}

}  // namespace hydrant
