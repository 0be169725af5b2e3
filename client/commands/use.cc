#include "absl/strings/str_cat.h"
#include "client/commands/verbs.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {
namespace {

// The path of the output that Nix takes by default.
absl::StatusOr<std::string> DefaultOutput(const v1::VariantStatus& variant) {
  if (variant.state() != "cached" || variant.outputs().empty()) {
    return absl::AbortedError(absl::StrCat(variant.id(), " is ", variant.state(),
                                           ", not cached: hydrant explain ", variant.id(), " says why"));
  }
  const auto out = variant.outputs().find("out");
  return out != variant.outputs().end() ? out->second : variant.outputs().begin()->second;
}

}  // namespace

absl::StatusOr<Exit> Use(const UseOptions& options, Session& session) {
  if (options.format == SnippetFormat::kShebang && options.variant.empty()) {
    return absl::InvalidArgumentError(
        "--format shebang needs a VARIANT: it is the head of a script that uses one");
  }
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  HYDRANT_ASSIGN_OR_RETURN(const v1::GetFarmResponse farm, client->GetFarm({}));
  SnippetInput input{.url = farm.http_url(), .public_key = farm.public_key()};
  if (!options.variant.empty()) {
    v1::ExplainRequest request;
    request.set_address(options.variant);
    request.set_branch(options.branch);
    HYDRANT_ASSIGN_OR_RETURN(const v1::ExplainResponse explanation, client->Explain(request));
    input.variant = explanation.variant().id();
    HYDRANT_ASSIGN_OR_RETURN(input.output, DefaultOutput(explanation.variant()));
  }
  const std::string snippet = MakeSnippet(options.format, input);
  session.Print({.table = [&] { return snippet; },
                 .json =
                     [&](JsonLayout layout) {
                       return ObjectJson({{"url", input.url},
                                          {"public_key", input.public_key},
                                          {"variant", input.variant},
                                          {"output", input.output},
                                          {"snippet", snippet}},
                                         layout);
                     }});
  return Exit::kOk;
}

}  // namespace hydrant::client
