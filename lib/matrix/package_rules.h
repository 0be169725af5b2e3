// Which packages and library versions go with which CUDA, as far as names and axes tell it. Data with its
// source, and the refusal that names the rule and the way out. What hangs on a package's own version is the
// evaluation's to find out.
#ifndef HYDRANT_LIB_MATRIX_PACKAGE_RULES_H_
#define HYDRANT_LIB_MATRIX_PACKAGE_RULES_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/matrix/cuda_version.h"
#include "lib/matrix/matrix.h"

namespace hydrant {

// CUDA releases (or those of a library): from `from` on, before `before`; nullopt is open.
struct CudaRange {
  std::optional<CudaVersion> from, before;
  bool Has(CudaVersion version) const;
  std::string Text() const;  // "12", "11.8 or newer", "older than 13.0", "11.0 or newer but older than 13.0"
};

struct PackageRule {
  std::string_view attribute;  // glob over the last name of an attribute path
  CudaRange cuda;              // with which it can be
  // false: true of some trees only, so it is told and refuses nothing.
  bool binding = true;
  std::string_view source;
};
std::span<const PackageRule> PackageRules();

// A library whose version is named: by an attribute such as cudnn_9_13, or by an axis of [axes.more] such as
// cudnn = "9.13".
struct LibraryRule {
  enum class Devices { kAll, kJetsonBeforeThor, kArmServer };

  std::string_view attribute;       // the attribute without its version
  std::string_view axis;            // of [axes.more]
  CudaRange versions;               // of the library: the rule is about these …
  Devices devices = Devices::kAll;  // … on these devices
  CudaRange about;                  // … and with these CUDA releases
  // What then must hold, one of the two: a CUDA (none at all where it is "before 0.0"), or capabilities from
  // this one on.
  std::optional<CudaRange> cuda;
  std::string_view least_capability;
  std::string_view source;
};
std::span<const LibraryRule> LibraryRules();

// Why the package cannot be in the slice, and what could; nullopt when it can, or nothing is known. Only
// binding rules refuse.
std::optional<std::string> PackageRefusal(std::string_view package,
                                          const std::map<std::string, AxisValue>& axes);
// The same for the libraries that the slice's own axes name.
std::optional<std::string> LibraryRefusal(const std::map<std::string, AxisValue>& axes);
// What rules that are not binding have to say.
std::optional<std::string> PackageAdvice(std::string_view package,
                                         const std::map<std::string, AxisValue>& axes);
// Whether any rule is about the package, so that callers ask for few cells of many.
bool HasPackageRule(std::string_view package);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_PACKAGE_RULES_H_
