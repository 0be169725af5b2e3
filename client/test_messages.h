// For tests: messages from client/golden/NAME.textproto.
#ifndef HYDRANT_CLIENT_TEST_MESSAGES_H_
#define HYDRANT_CLIENT_TEST_MESSAGES_H_

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

#include "lib/base/file.h"

namespace hydrant::client {

inline std::string GoldenPath(const std::string& file) { return HYDRANT_SOURCE_DIR "/client/golden/" + file; }

template <typename Message>
Message Golden(const std::string& name) {
  Message message;
  const absl::StatusOr<std::string> text = ReadFile(GoldenPath(name + ".textproto"));
  EXPECT_TRUE(text.ok() && google::protobuf::TextFormat::ParseFromString(*text, &message)) << name;
  return message;
}

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_TEST_MESSAGES_H_
