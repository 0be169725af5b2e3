// A Signer without a key: the signature says what was signed.
#ifndef HYDRANT_TESTS_FAKES_FAKE_SIGNER_H_
#define HYDRANT_TESTS_FAKES_FAKE_SIGNER_H_

#include <string>
#include <string_view>

#include "daemon/cache/signer.h"
#include "lib/base/mutex.h"

namespace hydrant {

class FakeSigner final : public Signer {
 public:
  void FailWith(absl::Status status) {
    MutexLock lock(mu_);
    status_ = std::move(status);
  }
  absl::StatusOr<std::string> Sign(std::string_view fingerprint) override {
    MutexLock lock(mu_);
    if (!status_.ok()) return status_;
    return "fake-1:" + std::string(fingerprint);
  }
  std::string PublicKey() const override { return "fake-1:"; }

 private:
  Mutex mu_;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant

#endif  // HYDRANT_TESTS_FAKES_FAKE_SIGNER_H_
