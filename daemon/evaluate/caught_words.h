// The words of errors that tryEval caught, which only an uncaught evaluation tells: one `nix repl` for many,
// since it goes on after each and imports the tree once.
#ifndef HYDRANT_DAEMON_EVALUATE_CAUGHT_WORDS_H_
#define HYDRANT_DAEMON_EVALUATE_CAUGHT_WORDS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace hydrant {

struct CaughtWordsOptions {
  std::map<std::string, std::string> env;
  std::string driver, input;  // files
  bool ifd = false;
  absl::Duration patience;  // for each
};

// Of each id in order; "" where the repl died or had nothing to say. An error when it could not be started or
// `stop` said so.
absl::StatusOr<std::vector<std::string>> CaughtWords(const CaughtWordsOptions& options,
                                                     const std::vector<std::string>& ids,
                                                     const std::function<bool()>& stop);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_CAUGHT_WORDS_H_
