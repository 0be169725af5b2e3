// A comparison of two evaluations as protobuf messages.
#include "daemon/serve/messages.h"

namespace hydrant {
namespace {

v1::VariantChange ToMessage(const VariantChangeView& view) {
  v1::VariantChange change;
  change.set_change(view.change);
  if (view.before) {
    change.set_id(view.before->record.id);
    change.set_state_before(std::string(VariantStateName(view.before->view.state)));
    change.set_derivation_before(view.before->record.derivation);
  }
  if (view.after) {
    change.set_id(view.after->record.id);
    change.set_state_after(std::string(VariantStateName(view.after->view.state)));
    change.set_derivation_after(view.after->record.derivation);
  }
  if (view.cause) change.set_cause(static_cast<int32_t>(*view.cause + 1));
  for (const std::string& name : view.chain) change.add_chain(name);
  return change;
}

}  // namespace

v1::CompareEvaluationsResponse ToMessage(const ComparisonView& view) {
  v1::CompareEvaluationsResponse response;
  *response.mutable_before() = ToMessage(view.before);
  *response.mutable_after() = ToMessage(view.after);
  for (const ChangeCauseView& cause : view.causes) {
    v1::ChangeCause& message = *response.add_causes();
    message.set_text(cause.text);
    message.set_kind(cause.kind);
    message.set_before(cause.before);
    message.set_after(cause.after);
    message.set_variants(cause.variants);
  }
  for (const VariantChangeView& change : view.changes) *response.add_changes() = ToMessage(change);
  for (const auto& [change, count] : view.totals) (*response.mutable_totals())[change] = count;
  return response;
}

}  // namespace hydrant
