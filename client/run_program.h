// For tests: runs the built `hydrant` with an environment of its own.
#ifndef HYDRANT_CLIENT_RUN_PROGRAM_H_
#define HYDRANT_CLIENT_RUN_PROGRAM_H_

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/subprocess.h"

namespace hydrant::client {

struct Ran {
  int exit = -1;  // 128 + N when signal N ended it
  std::string out, err;
};

inline Ran RunHydrant(std::vector<std::string> arguments,
                      std::map<std::string, std::string> environment = {}, std::string_view input = {}) {
  arguments.insert(arguments.begin(), HYDRANT_BIN_DIR "/hydrant");
  environment.emplace("LANG", "C.UTF-8");
  const auto completed = Run({.argv = std::move(arguments), .env = std::move(environment), .clear_env = true},
                             input, absl::Minutes(1));
  if (!completed.ok()) {
    ADD_FAILURE() << completed.status();
    return {};
  }
  return {completed->status.code ? *completed->status.code : 128 + completed->status.signal.value_or(0),
          completed->out, completed->err};
}

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_RUN_PROGRAM_H_
