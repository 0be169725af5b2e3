#include "daemon/graph/package_name.h"

#include "absl/strings/ascii.h"

namespace hydrant {

PackageName SplitPackageName(std::string_view name) {
  for (size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] == '-' && !absl::ascii_isalpha(static_cast<unsigned char>(name[i + 1])))
      return {name.substr(0, i), name.substr(i + 1)};
  }
  return {name, {}};
}

std::string_view NameOfDerivation(std::string_view path) {
  constexpr std::string_view kEnd = ".drv";
  constexpr size_t kHashPart = 32;
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || !path.ends_with(kEnd)) return path;
  const std::string_view base = path.substr(slash + 1, path.size() - slash - 1 - kEnd.size());
  if (base.size() <= kHashPart + 1 || base[kHashPart] != '-') return path;
  return base.substr(kHashPart + 1);
}

std::string WithoutNumbers(std::string_view package) {
  std::string out;
  out.reserve(package.size());
  bool in_number = false;
  for (size_t i = 0; i < package.size(); ++i) {
    const auto digit = [&](size_t at) {
      return at < package.size() && absl::ascii_isdigit(static_cast<unsigned char>(package[at]));
    };
    const bool inside = digit(i) || (in_number && (package[i] == '.' || package[i] == '_') && digit(i + 1));
    if (!inside) out += package[i];
    if (inside && !in_number) out += '#';
    in_number = inside;
  }
  return out;
}

}  // namespace hydrant
