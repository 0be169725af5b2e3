#include "lib/matrix/axis_addition.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/axis_value.h"
#include "lib/matrix/nearest_word.h"
#include "lib/matrix/nixpkgs_sets.h"

namespace hydrant {
namespace {

absl::Status UnknownAxis(const std::string& name, const Matrix& matrix) {
  std::vector<std::string> declared = {"package"};
  for (const Axis& axis : matrix.axes) declared.push_back(axis.name);
  const std::string known = absl::StrJoin(declared, ", ");
  if (IsKnownAxis(name) || IsSetAxis(matrix.nixpkgs, name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the matrix does not declare the axis '", name, "' (it has ", known,
                     "), so one more value of it would be another matrix; declare it in ",
                     IsKnownAxis(name) ? "[axes]" : "[axes.more]"));
  }
  return absl::InvalidArgumentError(absl::StrCat("the matrix has no axis '", name, "'",
                                                 NearestHint(name, declared), " (known: ", known, ")"));
}

absl::Status AlreadyThere(const std::string& axis, const std::string& value,
                          const std::vector<std::string>& values) {
  return absl::InvalidArgumentError(absl::StrCat(axis, " '", value, "' is in the matrix already (",
                                                 absl::StrJoin(values, ", "),
                                                 "); expected a value that is not"));
}

absl::Status AddPackage(const std::string& package, Matrix* matrix) {
  if (matrix->derived) {
    return absl::InvalidArgumentError(
        "the matrix derives its packages (changed_by), so none can be added by name");
  }
  std::vector<std::string>& packages = matrix->packages;
  if (std::find(packages.begin(), packages.end(), package) != packages.end()) {
    return AlreadyThere("package", package, packages);
  }
  packages.push_back(package);
  return absl::OkStatus();
}

}  // namespace

absl::Status AddAxisValue(std::string_view text, Matrix* matrix) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", AbslView(text), "': expected AXIS=VALUE, such as cuda=13.1 or package=magma"));
  }
  const std::string name(text.substr(0, equals)), word(text.substr(equals + 1));
  const auto axis =
      std::find_if(matrix->axes.begin(), matrix->axes.end(), [&](const Axis& a) { return a.name == name; });
  if (name != "package" && axis == matrix->axes.end()) return UnknownAxis(name, *matrix);
  AxisValue value;
  std::string fault = ReadAxisValue(name, word, &value);
  if (fault.empty()) fault = SetFault(matrix->nixpkgs, name, value);
  if (!fault.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", fault));
  }
  if (name == "package") return AddPackage(word, matrix);
  if (std::find(axis->values.begin(), axis->values.end(), value) != axis->values.end()) {
    std::vector<std::string> values;
    std::transform(axis->values.begin(), axis->values.end(), std::back_inserter(values),
                   [](const AxisValue& v) { return v.Joined(); });
    return AlreadyThere(name, word, values);
  }
  axis->values.push_back(std::move(value));
  return absl::OkStatus();
}

}  // namespace hydrant
