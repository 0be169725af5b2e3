#include "daemon/evaluate/collection_pause.h"

#include <fcntl.h>
#include <sys/file.h>

namespace hydrant {

CollectionPause::CollectionPause(const std::string& store_root) {
  const std::string path = store_root + "/nix/var/nix/gc.lock";
  lock_ = UniqueFd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  holds_ = !lock_.valid() || flock(lock_.get(), LOCK_SH | LOCK_NB) == 0;
}

}  // namespace hydrant
