#include "client/format/lists.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/format/description.h"
#include "client/format/words.h"

namespace hydrant::client {
namespace {

Style StyleOfWorker(const std::string& state) {
  if (state == "connected") return Style::kGood;
  return state == "draining" ? Style::kWarn : state == "gone" ? Style::kDim : Style::kBad;
}

Style StyleOfEvaluation(const v1::Evaluation& evaluation) {
  if (!IsEnded(evaluation.state())) return Style::kBusy;
  return evaluation.gate_passed() ? Style::kGood : Style::kBad;
}

std::string GateText(const v1::Evaluation& evaluation) {
  if (!IsEnded(evaluation.state())) return "";
  return evaluation.gate_passed() ? "passed" : "not passed";
}

std::string GpuText(const v1::Gpu& gpu) {
  return absl::StrCat(gpu.architecture(), " ", BytesText(gpu.memory_bytes()),
                      gpu.simulated() ? " simulated" : "");
}

std::string GpusText(const v1::Offer& offer) {
  std::vector<std::string> texts;
  for (const auto& gpu : offer.gpus()) texts.push_back(GpuText(gpu));
  return texts.empty() ? "-" : absl::StrJoin(texts, ", ");
}

// `of`: a matrix, or one of its branches.
template <typename Summary>
std::vector<Cell> MatrixRow(const v1::MatrixSummary& matrix, const Summary& of) {
  const v1::Evaluation& evaluation = of.evaluation();
  return {Cell(matrix.name(), Style::kBold),
          absl::StrCat(matrix.variants()),
          of.has_evaluation() ? absl::StrCat(evaluation.id()) : "-",
          of.has_evaluation() ? Cell(EvaluationStateWord(evaluation.state()), StyleOfEvaluation(evaluation))
                              : Cell("never evaluated", Style::kDim),
          TotalsText(of.totals()),
          matrix.reason()};
}

}  // namespace

Table MatricesTable(const v1::ListMatricesResponse& matrices) {
  const bool branches =
      std::any_of(matrices.matrices().begin(), matrices.matrices().end(),
                  [](const v1::MatrixSummary& matrix) { return matrix.branches_size() > 0; });
  Table table{
      .columns = {{"matrix"}, {"variants", true}, {"evaluation", true}, {"state"}, {"totals"}, {"reason"}},
      .empty = "no matrices: hand one over with `hydrant matrix apply FILE`"};
  for (const auto& matrix : matrices.matrices()) {
    const auto add = [&](std::vector<Cell> row, const std::string& branch) {
      if (branches) row.insert(row.begin() + 1, branch);
      table.rows.push_back(std::move(row));
    };
    if (matrix.branches_size() == 0) add(MatrixRow(matrix, matrix), matrix.evaluation().branch());
    for (const v1::BranchSummary& branch : matrix.branches()) add(MatrixRow(matrix, branch), branch.branch());
  }
  if (branches) table.columns.insert(table.columns.begin() + 1, {"branch"});
  return table;
}

Table EvaluationsTable(const v1::ListEvaluationsResponse& evaluations, const Screen& screen) {
  const bool branches = std::any_of(evaluations.evaluations().begin(), evaluations.evaluations().end(),
                                    [](const v1::Evaluation& e) { return !e.branch().empty(); });
  Table table{
      .columns =
          {{"id", true}, {"matrix"}, {"state"}, {"gate"}, {"revision"}, {"asked for"}, {"took"}, {"message"}},
      .empty = "no evaluations: ask for one with `hydrant trigger MATRIX`"};
  for (const auto& e : evaluations.evaluations()) {
    table.rows.push_back({absl::StrCat(e.id()), Cell(e.matrix(), Style::kBold),
                          Cell(EvaluationStateWord(e.state()), StyleOfEvaluation(e)), GateText(e),
                          ShortRevision(e.revision()), TimeText(e.requested_at_ms(), screen),
                          e.settled_at_ms() == 0 ? "" : DurationText(e.settled_at_ms() - e.requested_at_ms()),
                          e.message()});
    if (branches) table.rows.back().insert(table.rows.back().begin() + 2, e.branch());
  }
  if (branches) table.columns.insert(table.columns.begin() + 2, {"branch"});
  return table;
}

Table WorkersTable(const v1::ListWorkersResponse& workers) {
  Table table{.columns = {{"worker"},
                          {"state"},
                          {"slots", true},
                          {"cores", true},
                          {"memory", true},
                          {"gpus"},
                          {"systems"},
                          {"features"}},
              .empty = "no workers: start one with `hydrant-worker --server HOST:PORT`"};
  for (const auto& worker : workers.workers()) {
    const v1::Offer& offer = worker.offer();
    table.rows.push_back({Cell(worker.name(), Style::kBold),
                          Cell(worker.state(), StyleOfWorker(worker.state())),
                          absl::StrCat(worker.busy_slots(), "/", offer.slots()), absl::StrCat(offer.cores()),
                          BytesText(offer.memory_bytes()), GpusText(offer),
                          absl::StrJoin(offer.systems(), " "), absl::StrJoin(offer.features(), " ")});
  }
  return table;
}

Table ChannelsTable(const v1::ListChannelsResponse& channels, const Screen& screen) {
  Table table{.columns = {{"channel"}, {"matrix"}, {"evaluation", true}, {"revision"}, {"moved"}},
              .empty = "no channel has moved yet: it does when an evaluation passes its gate"};
  for (const auto& channel : channels.channels()) {
    table.rows.push_back({Cell(channel.name(), Style::kBold), channel.matrix(),
                          absl::StrCat(channel.evaluation()), ShortRevision(channel.revision()),
                          TimeText(channel.at_ms(), screen)});
  }
  return table;
}

std::string FormatWorker(const v1::WorkerStatus& worker, absl::Time now, const Screen& screen) {
  Writer writer(screen);
  const v1::Offer& offer = worker.offer();
  writer.Text(worker.name(), Style::kBold)
      .Text("  ")
      .Text(worker.state(), StyleOfWorker(worker.state()))
      .Line();
  Describe(
      writer, "heard of",
      worker.seen_at_ms() == 0 ? "" : DurationText(absl::ToUnixMillis(now) - worker.seen_at_ms()) + " ago");
  Describe(writer, "slots", absl::StrCat(worker.busy_slots(), " of ", offer.slots(), " taken"));
  Describe(writer, "cores", absl::StrCat(offer.cores()));
  Describe(writer, "memory", BytesText(offer.memory_bytes()));
  Describe(writer, "systems", absl::StrJoin(offer.systems(), " "));
  Describe(writer, "features", absl::StrJoin(offer.features(), " "));
  for (const auto& gpu : offer.gpus()) {
    Describe(writer, "gpu",
             absl::StrCat(gpu.uuid(), "  ", gpu.name(), "  ", GpuText(gpu), "  driver ", gpu.driver()),
             gpu.simulated() ? Style::kWarn : Style::kPlain);
  }
  Describe(writer, "version", absl::StrCat(offer.version(), ", Nix ", offer.nix_version()));
  for (const auto& running : worker.running()) {
    Describe(
        writer, "running",
        absl::StrCat("a", running.attempt(), "  ", AttemptStageWord(running.stage()), " ", running.what()),
        Style::kBusy);
  }
  return writer.Take();
}

std::string FormatChannel(const v1::Channel& channel, const Screen& screen) {
  Writer writer(screen);
  writer.Text(channel.name(), Style::kBold).Line();
  Describe(writer, "matrix", channel.matrix());
  Describe(writer, "evaluation", absl::StrCat(channel.evaluation()));
  Describe(writer, "revision", channel.revision());
  Describe(writer, "moved", TimeText(channel.at_ms(), screen));
  return writer.Take();
}

}  // namespace hydrant::client
