// AttemptObserver that counts for Prometheus, on an HTTP port of its own. Names begin with hydrant_worker_.
#ifndef HYDRANT_WORKER_ATTEMPT_METRICS_H_
#define HYDRANT_WORKER_ATTEMPT_METRICS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/attempt_observer.h"

namespace hydrant::worker {

class AttemptMetrics final : public AttemptObserver {
 public:
  // Serves on `listen`, HOST:PORT; empty: counts only. Unavailable when the port is taken.
  static absl::StatusOr<std::unique_ptr<AttemptMetrics>> Open(const std::string& listen,
                                                              const WorkerOffer& offer);
  ~AttemptMetrics() override;

  void Entered(AttemptStage stage, AttemptStage before) override;
  void Uploaded(int64_t paths, int64_t bytes) override;
  void Ended(const AttemptEnd& end, AttemptStage last) override;
  std::string Text() const;  // as a scrape sees it

 private:
  class Impl;
  explicit AttemptMetrics(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_ATTEMPT_METRICS_H_
