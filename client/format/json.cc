#include "client/format/json.h"

#include <algorithm>

#include "client/format/json_document.h"
#include "client/format/policy_json.h"
#include "client/format/sharing.h"
#include "client/format/words.h"

namespace hydrant::client {
namespace {

template <typename Map>
Json Object(const Map& map) {
  std::vector<std::pair<std::string, Json>> sorted(map.begin(), map.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Json object = Json::object();
  for (auto& [key, value] : sorted) object[key] = std::move(value);
  return object;
}

Json EvaluationOf(const v1::Evaluation& e) {
  Json json = {{"id", e.id()},
               {"matrix", e.matrix()},
               {"revision", e.revision()},
               {"state", EvaluationStateWord(e.state())},
               {"message", e.message()},
               {"requested_at", Nullable(TimeRfc3339(e.requested_at_ms()))},
               {"settled_at", Nullable(TimeRfc3339(e.settled_at_ms()))},
               {"gate_passed", e.gate_passed()}};
  if (!e.branch().empty()) json["branch"] = e.branch();
  return json;
}

Json CheckOf(const v1::CheckStatus& check) {
  Json json = {{"name", check.name()},      {"outcome", check.outcome() == "pending" ? Json() : Json(check.outcome())},
               {"class", check.class_()},   {"architecture", check.architecture()},
               {"driver", check.driver()},  {"simulated", check.simulated()},
               {"message", check.message()}};
  if (check.attempt() != 0) json["attempt"] = check.attempt();
  return json;
}

Json SliceOf(const std::string& slice_json) {
  Json slice = Json::parse(slice_json, nullptr, /*allow_exceptions=*/false);
  return slice.is_object() ? slice : Json::object();
}

Json VariantOf(const v1::VariantStatus& variant) {
  Json json = {
      {"id", variant.id()},       {"package", variant.package()}, {"slice", SliceOf(variant.slice_json())},
      {"state", variant.state()}, {"cause", variant.cause()},     {"message", variant.message()}};
  if (!variant.derivation().empty()) {
    json["derivation"] = variant.derivation();
    json["outputs"] = Object(variant.outputs());
  }
  if (!variant.root().empty()) json["root"] = variant.root();
  json["checks"] = List(variant.checks(), CheckOf);
  json["required"] = variant.required();
  if (!variant.held_by().empty()) json["held_by"] = variant.held_by();
  AddPolicy(variant, json);
  return json;
}

Json SharedVariantOf(const v1::VariantStatus& variant, const Sharing& sharing) {
  Json json = VariantOf(variant);
  if (variant.derivation().empty()) return json;
  json["shared_with"] = sharing.Others(variant);
  const size_t others = sharing.GroupOf(variant).size() - 1;
  if (others > Sharing::kMostNamed) json["shared_with_count"] = others;
  return json;
}

Json RunningOf(const v1::RunningAttempt& running) {
  return {{"attempt", running.attempt()},
          {"worker", running.worker()},
          {"what", running.what()},
          {"stage", AttemptStageWord(running.stage())},
          {"started_at", Nullable(TimeRfc3339(running.started_at_ms()))}};
}

Json MatrixOf(const v1::MatrixSummary& matrix) {
  Json json = {{"name", matrix.name()},
               {"reason", matrix.reason()},
               {"variants", matrix.variants()},
               {"evaluation", matrix.has_evaluation() ? EvaluationOf(matrix.evaluation()) : Json(nullptr)},
               {"totals", Object(matrix.totals())}};
  if (matrix.branches_size() > 0) {
    json["branches"] = List(matrix.branches(), [](const v1::BranchSummary& branch) {
      return Json{{"branch", branch.branch()},
                  {"evaluation", branch.has_evaluation() ? EvaluationOf(branch.evaluation()) : Json(nullptr)},
                  {"totals", Object(branch.totals())}};
    });
  }
  return json;
}

Json GpuOf(const v1::Gpu& gpu) {
  return {{"uuid", gpu.uuid()},
          {"name", gpu.name()},
          {"architecture", gpu.architecture()},
          {"memory_bytes", gpu.memory_bytes()},
          {"driver", gpu.driver()},
          {"simulated", gpu.simulated()}};
}

Json WorkerOf(const v1::WorkerStatus& worker) {
  const v1::Offer& offer = worker.offer();
  return {{"name", worker.name()},
          {"state", worker.state()},
          {"systems", List(offer.systems(), [](const std::string& s) { return Json(s); })},
          {"features", List(offer.features(), [](const std::string& s) { return Json(s); })},
          {"cores", offer.cores()},
          {"memory_bytes", offer.memory_bytes()},
          {"gpus", List(offer.gpus(), GpuOf)},
          {"slots", offer.slots()},
          {"busy_slots", worker.busy_slots()},
          {"running", List(worker.running(), RunningOf)},
          {"seen_at", Nullable(TimeRfc3339(worker.seen_at_ms()))},
          {"version", offer.version()},
          {"nix_version", offer.nix_version()}};
}

Json ChannelOf(const v1::Channel& channel) {
  return {{"name", channel.name()},
          {"matrix", channel.matrix()},
          {"evaluation", channel.evaluation()},
          {"revision", channel.revision()},
          {"at", Nullable(TimeRfc3339(channel.at_ms()))}};
}

Json AttemptOf(const v1::AttemptSummary& attempt) {
  return {{"attempt", attempt.attempt()},
          {"worker", attempt.worker()},
          {"outcome", attempt.outcome()},
          {"cause", attempt.cause()},
          {"message", attempt.message()},
          {"started_at", Nullable(TimeRfc3339(attempt.started_at_ms()))},
          {"ended_at", Nullable(TimeRfc3339(attempt.ended_at_ms()))}};
}

// Of a derived package list.
template <typename Response>
Json NotesOf(const Response& response) {
  return List(response.notes(), [](const std::string& note) { return Json(note); });
}

std::string AxisText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string joined;
  for (const Json& word : value) joined += (joined.empty() ? "" : "+") + AxisText(word);
  return joined;
}

// As in a variant's id: the named axes, others by name, the system last.
int AxisRank(const std::string& axis) {
  static const auto& order = *new std::vector<std::string>{"cuda", "python", "capabilities",  "flavour",
                                                           "blas", "mpi",    "forward_compat"};
  if (axis == "system") return static_cast<int>(order.size()) + 1;
  return static_cast<int>(std::find(order.begin(), order.end(), axis) - order.begin());
}

}  // namespace

std::string StatusJson(const std::string& matrix, const v1::GetStatusResponse& status, JsonLayout layout) {
  const Sharing sharing(status.variants());
  const Json variants =
      List(status.variants(), [&](const auto& variant) { return SharedVariantOf(variant, sharing); });
  if (layout == JsonLayout::kLines) return DumpList("variants", variants, layout);
  Json json = {{"matrix", matrix}};
  if (status.has_evaluation()) json["evaluation"] = EvaluationOf(status.evaluation());
  json["variants"] = variants;
  json["totals"] = Object(status.totals());
  if (status.notes_size() > 0) json["notes"] = NotesOf(status);
  if (status.running_size() > 0) json["running"] = List(status.running(), RunningOf);
  return Dump(json, layout);
}

std::string MatricesJson(const v1::ListMatricesResponse& matrices, JsonLayout layout) {
  return DumpList("matrices", List(matrices.matrices(), MatrixOf), layout);
}

std::string EvaluationsJson(const v1::ListEvaluationsResponse& evaluations, JsonLayout layout) {
  return DumpList("evaluations", List(evaluations.evaluations(), EvaluationOf), layout);
}

std::string WorkersJson(const v1::ListWorkersResponse& workers, JsonLayout layout) {
  return DumpList("workers", List(workers.workers(), WorkerOf), layout);
}

std::string WorkerJson(const v1::WorkerStatus& worker, JsonLayout layout) {
  return Dump(WorkerOf(worker), layout);
}

std::string ChannelsJson(const v1::ListChannelsResponse& channels, JsonLayout layout) {
  return DumpList("channels", List(channels.channels(), ChannelOf), layout);
}

std::string ChannelJson(const v1::Channel& channel, JsonLayout layout) {
  return Dump(ChannelOf(channel), layout);
}

namespace {

// A sum of which nothing is known is null, never 0.
Json Known(bool known, double value) { return known ? Json(value) : Json(nullptr); }

Json EstimateOf(const v1::PlanEstimate& e) {
  const int64_t work = e.steps() + e.checks(), unknown = e.unknown_steps() + e.unknown_checks();
  const bool any = work == 0 || unknown < work;
  const bool gpu = e.checks() == 0 || e.unknown_checks() < e.checks() || e.gpu_time_s() > 0;
  const bool wall = any && (work == 0 || e.workers() > 0);
  const bool bytes = e.steps() == 0 || e.unknown_bytes() < e.steps();
  return {{"core_hours", Known(any, e.core_time_s() / 3600)},
          {"gpu_minutes", Known(gpu, e.gpu_time_s() / 60)},
          {"bytes", bytes ? Json(e.bytes()) : Json(nullptr)},
          {"unknown", e.unknown_steps()},
          {"unknown_checks", e.unknown_checks()},
          {"unknown_bytes", e.unknown_bytes()},
          {"unmeasured_cpu", e.unmeasured_cpu()},
          {"downloads", e.downloads()},
          {"download_bytes", e.download_bytes()},
          {"unknown_downloads", e.unknown_downloads()},
          {"wall_seconds", Known(wall, e.wall_s())},
          {"wall_seconds_at_most", Known(wall, e.wall_at_most_s())},
          {"path_seconds", Known(wall, e.path_s())},
          {"throughput_seconds", Known(wall, e.throughput_s())},
          {"unplaceable", e.unplaceable()},
          {"workers", e.workers()},
          {"slots", e.slots()},
          {"cores", e.cores()},
          {"gpus", e.gpus()},
          {"backlog",
           {{"running", e.backlog_running()}, {"waiting", e.backlog_waiting()}, {"unknown", e.backlog_unknown()}}},
          {"checks", e.checks()},
          {"longest", List(e.longest(), [](const v1::PlannedStep& step) {
             return Json{{"name", step.name()},
                         {"derivation", step.derivation()},
                         {"building_seconds", step.building_s()},
                         {"core_seconds", step.core_time_s()}};
           })}};
}

template <typename Counts>
Json StepsOf(const Counts& counts) {
  return {{"build", counts.steps_build()}, {"present", counts.steps_present()}, {"shared", counts.steps_shared()}};
}

Json SummaryOf(const v1::PlanSummary& summary) {
  return {{"variants", Object(summary.totals())},
          {"steps", StepsOf(summary)},
          {"present_in", Object(summary.present_in())},
          {"estimate", EstimateOf(summary.estimate())}};
}

}  // namespace

std::string PlanJson(const v1::PlanResponse& plan, JsonLayout layout) {
  const Sharing sharing(plan.variants());
  const auto cell = [&](const auto& variant) { return SharedVariantOf(variant, sharing); };
  const Json cells = List(plan.variants(), cell);
  if (layout == JsonLayout::kLines) return DumpList("cells", cells, layout);
  Json json = {{"revision", plan.revision()},
               {"variants", Object(plan.totals())},
               {"steps", StepsOf(plan)},
               {"present_in", Object(plan.present_in())},
               {"estimate", EstimateOf(plan.estimate())},
               {"cells", cells}};
  if (plan.notes_size() > 0) json["notes"] = NotesOf(plan);
  if (plan.has_addition()) {
    const v1::PlanAddition& addition = plan.addition();
    json["addition"] = {{"add", List(addition.add(), [](const std::string& value) { return Json(value); })},
                        {"with", SummaryOf(addition.with())},
                        {"difference", SummaryOf(addition.difference())},
                        {"cells", List(addition.variants(), VariantOf)}};
  }
  return Dump(json, layout);
}

namespace {

Json ChangeOf(const v1::VariantChange& change, const v1::CompareEvaluationsResponse& comparison) {
  const bool has_cause = change.cause() > 0 && change.cause() <= comparison.causes_size();
  return {{"id", change.id()},
          {"change", change.change()},
          {"state_before", Nullable(change.state_before())},
          {"state_after", Nullable(change.state_after())},
          {"derivation_before", Nullable(change.derivation_before())},
          {"derivation_after", Nullable(change.derivation_after())},
          {"cause", has_cause ? Json(comparison.causes(change.cause() - 1).text()) : Json(nullptr)},
          {"chain", List(change.chain(), [](const std::string& name) { return Json(name); })}};
}

}  // namespace

std::string ComparisonJson(const v1::CompareEvaluationsResponse& comparison, JsonLayout layout) {
  const Json changes = List(comparison.changes(), [&](const auto& change) { return ChangeOf(change, comparison); });
  if (layout == JsonLayout::kLines) return DumpList("changes", changes, layout);
  const Json causes = List(comparison.causes(), [](const v1::ChangeCause& cause) {
    return Json{{"text", cause.text()},
                {"kind", cause.kind()},
                {"before", Nullable(cause.before())},
                {"after", Nullable(cause.after())},
                {"variants", cause.variants()}};
  });
  return Dump({{"before", EvaluationOf(comparison.before())},
               {"after", EvaluationOf(comparison.after())},
               {"totals", Object(comparison.totals())},
               {"causes", causes},
               {"changes", changes}},
              layout);
}

std::string ExplainJson(const v1::ExplainResponse& explanation, JsonLayout layout) {
  Json json = Json::object();
  if (explanation.has_variant()) json["variant"] = VariantOf(explanation.variant());
  json["derivation"] = Nullable(explanation.derivation());
  json["step_state"] = Nullable(explanation.step_state());
  json["reason"] = explanation.reason();
  const auto same = [](const std::string& path) { return Json(path); };
  json["chain"] = List(explanation.chain(), same);
  json["workers"] = List(explanation.workers(), [](const v1::WorkerVerdict& verdict) {
    return Json{{"worker", verdict.worker()}, {"rule", verdict.rule()}};
  });
  json["attempts"] = List(explanation.attempts(), AttemptOf);
  json["waits_for"] = List(explanation.waits_for(), same);
  json["shared_with"] = List(explanation.shared_with(), same);
  if (explanation.shared_with_count() > explanation.shared_with_size())
    json["shared_with_count"] = explanation.shared_with_count();
  return Dump(json, layout);
}

namespace {

Json TriggeredOf(const v1::Evaluation& evaluation, const v1::WatchResponse* end) {
  Json json = {{"evaluation", EvaluationOf(evaluation)}};
  if (end != nullptr) json["totals"] = Object(end->totals());
  return json;
}

}  // namespace

std::string TriggerJson(const v1::Evaluation& evaluation, const v1::WatchResponse* end, JsonLayout layout) {
  return Dump(TriggeredOf(evaluation, end), layout);
}

std::string TriggerJson(const std::vector<v1::WatchResponse>& evaluations, bool ended, JsonLayout layout) {
  const Json list = List(evaluations, [ended](const v1::WatchResponse& response) {
    return TriggeredOf(response.evaluation(), ended ? &response : nullptr);
  });
  return list.size() == 1 ? Dump(list[0], layout) : DumpList("evaluations", list, layout);
}

std::string WatchJson(const v1::WatchResponse& response) {
  return Dump({{"evaluation", EvaluationOf(response.evaluation())},
               {"changed", List(response.changed(), VariantOf)},
               {"totals", Object(response.totals())},
               {"running", List(response.running(), RunningOf)}},
              JsonLayout::kLines);
}

std::string ObjectJson(const JsonFields& fields, JsonLayout layout) {
  Json json = Json::object();
  for (const auto& field : fields) std::visit([&](const auto& value) { json[field.first] = value; }, field.second);
  return Dump(json, layout);
}

SliceAxes ReadSlice(const std::string& slice_json) {
  SliceAxes axes;
  const Json slice = SliceOf(slice_json);
  for (const auto& [axis, value] : slice.items()) axes.emplace_back(axis, AxisText(value));
  std::sort(axes.begin(), axes.end(), [](const auto& a, const auto& b) {
    const int x = AxisRank(a.first), y = AxisRank(b.first);
    return x != y ? x < y : a.first < b.first;
  });
  return axes;
}

}  // namespace hydrant::client
