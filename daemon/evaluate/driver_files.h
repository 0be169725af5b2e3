// driver.nix and the built-in recipes as the program carries them. The definition is made by embed.cmake.
#ifndef HYDRANT_DAEMON_EVALUATE_DRIVER_FILES_H_
#define HYDRANT_DAEMON_EVALUATE_DRIVER_FILES_H_

#include <span>
#include <string_view>

namespace hydrant {

struct DriverFile {
  std::string_view path;  // "driver.nix", "recipes/2022.nix": beside each other, as the driver expects them
  std::string_view text;
};

std::span<const DriverFile> DriverFiles();

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_DRIVER_FILES_H_
