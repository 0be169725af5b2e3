// Finds which of a set of store paths' hash parts occur in bytes that come in any pieces.
#ifndef HYDRANT_LIB_NIX_REFERENCE_SCAN_H_
#define HYDRANT_LIB_NIX_REFERENCE_SCAN_H_

#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

namespace hydrant::nix {

class ReferenceScan {
 public:
  explicit ReferenceScan(std::set<std::string> hash_parts)
      : wanted_(std::move(hash_parts)), missing_(wanted_.begin(), wanted_.end()) {}
  ReferenceScan(const ReferenceScan&) = delete;
  ReferenceScan& operator=(const ReferenceScan&) = delete;

  void Feed(std::string_view bytes);
  const std::set<std::string>& found() const { return found_; }

 private:
  void Search(std::string_view bytes);

  std::set<std::string> wanted_;
  std::unordered_set<std::string_view> missing_;  // views into wanted_
  std::set<std::string> found_;
  std::string tail_;  // the last bytes, too few for a hash part
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_REFERENCE_SCAN_H_
