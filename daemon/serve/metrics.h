// The farm's figures for Prometheus, by interface.md's names: gauges are read from the coordinator at each scrape, counters and
// histograms are told by the observer. The only part of the daemon that knows prometheus-cpp.
#ifndef HYDRANT_DAEMON_SERVE_METRICS_H_
#define HYDRANT_DAEMON_SERVE_METRICS_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "daemon/cache/catalogue.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/record/state_store.h"

namespace hydrant {

class Metrics final : public FarmObserver {
 public:
  Metrics();
  ~Metrics() override;

  // Counters of attempts begin where the record has them, so that a restart is no reset.
  void Seed(const std::vector<StateStore::AttemptCount>& counts);
  // What is read at each scrape; both must outlive this.
  void Watch(const Coordinator& coordinator, const Catalogue& catalogue);
  // Serves /metrics on HOST:PORT until destroyed. Unavailable when the port is taken.
  absl::Status Listen(const std::string& address);

  void LeaseGranted(absl::Duration since_ready) override;
  void LeaseExpired() override;
  void AttemptEnded(const AttemptResult& result) override;
  void CheckDecided(const CheckRecord& check) override;
  void Evaluated(absl::Duration took) override;
  // kind: cache_info narinfo nar log upload_nar upload_narinfo other. `uploaded`: bytes taken.
  void CacheRequest(std::string_view kind, int code, int64_t uploaded);
  // Variants that were looked up among remembered outcomes: see CachedEvaluator.
  void EvaluationCache(std::string_view result, int64_t variants);
  // Whether a cache upstream is asked, or left alone because it fails. Any thread.
  void UpstreamUp(const std::string& cache, bool up);
  void Query(std::string_view statement, double seconds);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_METRICS_H_
