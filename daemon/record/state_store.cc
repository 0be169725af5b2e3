#include "daemon/record/state_store.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {
constexpr char kUnknownCommit[] = "hydrant/unknown-commit";
}

bool IsUnknownCommit(const absl::Status& status) { return status.GetPayload(kUnknownCommit).has_value(); }

absl::Status UnknownCommit(std::string_view why) {
  absl::Status status =
      absl::UnavailableError(absl::StrCat("not known whether the changes were recorded: ", AbslView(why)));
  status.SetPayload(kUnknownCommit, absl::Cord("true"));
  return status;
}

}  // namespace hydrant
