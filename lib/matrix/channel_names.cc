#include "lib/matrix/channel_names.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace hydrant {

std::string ChannelName(const Matrix& matrix, const std::string& branch) {
  if (matrix.source.branches.size() < 2) return matrix.name;
  return absl::StrCat(matrix.name, "-", absl::StrReplaceAll(branch, {{"/", "-"}}));
}

std::vector<std::pair<std::string, std::string>> ChannelsOf(const Matrix& matrix) {
  std::vector<std::pair<std::string, std::string>> channels;
  for (const std::string& branch : matrix.source.branches)
    channels.emplace_back(ChannelName(matrix, branch), branch);
  if (channels.empty()) channels.emplace_back(matrix.name, "");
  return channels;
}

std::string ChannelFault(const Matrix& matrix) {
  std::map<std::string, std::string> owners;
  for (const auto& [channel, branch] : ChannelsOf(matrix)) {
    const auto [owner, is_new] = owners.emplace(channel, branch);
    if (!is_new)
      return absl::StrCat("its branches ", owner->second, " and ", branch, " would both move the channel ",
                          channel);
  }
  return "";
}

}  // namespace hydrant
