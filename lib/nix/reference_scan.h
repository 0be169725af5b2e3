// Finds which of a set of store paths' hash parts occur in bytes that come in any pieces.
#ifndef HYDRANT_LIB_NIX_REFERENCE_SCAN_H_
#define HYDRANT_LIB_NIX_REFERENCE_SCAN_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace hydrant::nix {

// One thread. Constant memory; a byte costs the same whatever the number of hash parts, and nothing once all
// are found.
class ReferenceScan {
 public:
  explicit ReferenceScan(std::set<std::string> hash_parts);
  ReferenceScan(const ReferenceScan&) = delete;
  ReferenceScan& operator=(const ReferenceScan&) = delete;

  void Feed(std::string_view bytes);
  const std::set<std::string>& found() const { return found_; }

 private:
  void Search(std::string_view bytes);
  size_t SearchBlocks(std::string_view bytes);
  void SearchRun(std::string_view run);
  void Try(const char* window);

  std::set<std::string> wanted_;
  std::unordered_set<std::string_view> missing_;  // views into wanted_
  std::vector<uint64_t> filter_;                  // a bit for the mixed first 8 characters of each
  int filter_shift_ = 0;
  std::set<std::string> found_;
  std::string tail_;  // the last bytes, too few for a hash part
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_REFERENCE_SCAN_H_
