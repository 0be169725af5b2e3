// What the output can show. Found out once in main; formatters take it as a value, so that a test needs no
// terminal.
#ifndef HYDRANT_CLIENT_FORMAT_SCREEN_H_
#define HYDRANT_CLIENT_FORMAT_SCREEN_H_

#include "absl/time/time.h"

namespace hydrant::client {

struct Screen {
  bool terminal = false;
  bool colour = false;
  bool utf8 = true;
  int width = 80;  // columns
  absl::TimeZone zone = absl::UTCTimeZone();
};

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_SCREEN_H_
