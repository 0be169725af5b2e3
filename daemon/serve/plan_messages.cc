// A plan as a message.
#include "daemon/serve/messages.h"

namespace hydrant {

v1::PlanEstimate ToEstimateMessage(const PlanSummary& summary) {
  const Forecast& forecast = summary.forecast;
  v1::PlanEstimate message;
  message.set_steps(forecast.steps);
  message.set_checks(forecast.checks);
  message.set_unknown_steps(forecast.unknown_steps);
  message.set_unknown_checks(forecast.unknown_checks);
  message.set_core_time_s(absl::ToDoubleSeconds(forecast.core_time));
  message.set_unmeasured_cpu(forecast.unmeasured_cpu);
  message.set_gpu_time_s(absl::ToDoubleSeconds(forecast.gpu_time));
  message.set_bytes(forecast.bytes);
  message.set_unknown_bytes(forecast.unknown_bytes);
  message.set_downloads(summary.downloads);
  message.set_download_bytes(summary.download_bytes);
  message.set_unknown_downloads(summary.unknown_downloads);
  message.set_path_s(absl::ToDoubleSeconds(forecast.path));
  message.set_throughput_s(absl::ToDoubleSeconds(forecast.throughput));
  message.set_wall_s(absl::ToDoubleSeconds(forecast.at_least));
  message.set_wall_at_most_s(absl::ToDoubleSeconds(forecast.at_most));
  message.set_unplaceable(forecast.unplaceable);
  message.set_workers(forecast.workers);
  message.set_slots(forecast.slots);
  message.set_cores(forecast.cores);
  message.set_gpus(forecast.gpus);
  message.set_backlog_running(forecast.running);
  message.set_backlog_waiting(forecast.waiting);
  message.set_backlog_unknown(forecast.unknown_backlog);
  for (const Forecast::Heavy& heavy : forecast.longest) {
    v1::PlannedStep* step = message.add_longest();
    step->set_derivation(heavy.derivation);
    step->set_name(heavy.name);
    step->set_building_s(absl::ToDoubleSeconds(heavy.building));
    step->set_core_time_s(absl::ToDoubleSeconds(heavy.core_time));
  }
  return message;
}

v1::PlanSummary ToMessage(const PlanSummary& summary) {
  v1::PlanSummary message;
  message.mutable_totals()->insert(summary.totals.begin(), summary.totals.end());
  message.set_steps_build(summary.build);
  message.set_steps_present(summary.present);
  message.set_steps_shared(summary.shared);
  message.mutable_present_in()->insert(summary.present_in.begin(), summary.present_in.end());
  *message.mutable_estimate() = ToEstimateMessage(summary);
  return message;
}

v1::PlanResponse ToMessage(const PlanView& plan) {
  v1::PlanResponse message;
  for (const PlannedVariant& variant : plan.variants) *message.add_variants() = ToMessage(variant);
  message.mutable_totals()->insert(plan.totals.begin(), plan.totals.end());
  message.set_steps_build(plan.build);
  message.set_steps_present(plan.present);
  message.set_steps_shared(plan.shared);
  message.set_revision(plan.revision);
  for (const std::string& note : plan.notes) message.add_notes(note);
  message.mutable_present_in()->insert(plan.present_in.begin(), plan.present_in.end());
  *message.mutable_estimate() = ToEstimateMessage(plan);
  if (!plan.addition) return message;
  v1::PlanAddition& addition = *message.mutable_addition();
  *addition.mutable_with() = ToMessage(plan.addition->with);
  *addition.mutable_difference() = ToMessage(plan.addition->difference);
  for (const PlannedVariant& variant : plan.addition->variants) *addition.add_variants() = ToMessage(variant);
  return message;
}

}  // namespace hydrant
