#include "daemon/coordinator/comparison.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant {

class Comparison::Reader {
 public:
  explicit Reader(const Options& options) : options_(options) {}

  // Null: neither recorded nor in the store.
  std::vector<std::shared_ptr<const nix::Derivation>> Read(const std::vector<std::string>& paths) const {
    std::vector<std::shared_ptr<const nix::Derivation>> derivations;
    const std::vector<std::shared_ptr<const DerivationEntry>> recorded = options_.coordinator.RecordedDerivations(paths);
    for (size_t i = 0; i < paths.size(); ++i) {
      const auto& entry = recorded[i];
      derivations.push_back(entry ? std::shared_ptr<const nix::Derivation>(entry, &entry->parsed)
                                  : FromStore(paths[i]));
    }
    return derivations;
  }

  // The views live as long as the reader.
  std::optional<DerivationFields> Fields(std::string_view path) {
    std::shared_ptr<const nix::Derivation> derivation = Read({std::string(path)}).front();
    if (derivation == nullptr) return std::nullopt;
    DerivationFields fields{.system = derivation->system, .builder = derivation->builder};
    fields.arguments.assign(derivation->arguments.begin(), derivation->arguments.end());
    fields.sources.assign(derivation->input_sources.begin(), derivation->input_sources.end());
    for (const auto& [name, output] : derivation->outputs) fields.outputs.push_back({name, output.hash});
    for (const auto& [name, value] : derivation->environment) {
      if (!derivation->outputs.contains(name)) fields.environment.emplace_back(name, value);
    }
    kept_.push_back(std::move(derivation));
    return fields;
  }

 private:
  std::shared_ptr<const nix::Derivation> FromStore(const std::string& path) const {
    if (options_.store == nullptr) return nullptr;
    const auto loaded = options_.store->Load(path);
    if (!loaded.ok()) return nullptr;
    return std::shared_ptr<const nix::Derivation>(*loaded, &(*loaded)->parsed);
  }

  const Options& options_;
  std::vector<std::shared_ptr<const nix::Derivation>> kept_;
};

namespace {

void Fill(DerivationTable& table, const std::string& path, const nix::Derivation& derivation) {
  DerivationTable::Facts facts{
      .path = path, .system = derivation.system, .fixed_output = derivation.fixed_output()};
  for (const auto& [input, names] : derivation.input_derivations) facts.inputs.push_back(input);
  for (const auto& [name, output] : derivation.outputs) facts.outputs.push_back(output.path);
  table.Fill(facts);
}

}  // namespace

void Comparison::TakeIn(const std::vector<DerivationNumber>& roots, Reader& reader) {
  std::vector<DerivationNumber> wanted = table_.Unfilled(roots);
  absl::flat_hash_set<DerivationNumber> tried(wanted.begin(), wanted.end());
  while (!wanted.empty()) {
    std::vector<std::string> paths;
    for (DerivationNumber d : wanted) paths.emplace_back(table_.path(d));
    const auto derivations = reader.Read(paths);
    std::vector<DerivationNumber> next;
    for (size_t i = 0; i < paths.size(); ++i) {
      if (derivations[i] == nullptr) continue;
      Fill(table_, paths[i], *derivations[i]);
      for (DerivationNumber input : table_.inputs(wanted[i])) {
        if (!table_.filled(input) && tried.insert(input).second) next.push_back(input);
      }
    }
    wanted = std::move(next);
  }
}

std::vector<std::string> Comparison::Names(const std::vector<DerivationDifference::Pair>& chain) const {
  constexpr size_t kMost = 20;
  std::vector<std::string> names;
  for (const auto& [before, after] : chain) {
    if (names.size() + 1 == kMost && chain.size() > kMost) {
      names.emplace_back(table_.name(chain.back().second));
      break;
    }
    names.emplace_back(table_.name(after));
  }
  return names;
}

namespace {

bool OutputsKnown(const std::map<std::string, std::string>& outputs) {
  return !outputs.empty() &&
         std::all_of(outputs.begin(), outputs.end(), [](const auto& output) { return !output.second.empty(); });
}

// "" when it did not change; `both` when only their derivations can say why.
struct EvaluationChange {
  std::string text;
  bool both = false;
};
EvaluationChange ChangeOf(const VariantRecord& before, const VariantRecord& after) {
  if (!before.derivation.empty() && before.derivation == after.derivation) return {};
  if (OutputsKnown(before.outputs) && before.outputs == after.outputs) return {};
  if (!before.derivation.empty() && !after.derivation.empty()) return {.both = true};
  const auto why = [](const VariantRecord& record) {
    if (record.cause == Cause::kNone) return std::string("not evaluated yet");
    return absl::StrCat(std::string(CauseName(record.cause)), record.message.empty() ? "" : ": ", record.message);
  };
  if (!after.derivation.empty()) return {.text = absl::StrCat("it evaluates now; before: ", why(before))};
  if (!before.derivation.empty()) return {.text = absl::StrCat("it evaluates no more: ", why(after))};
  if (before.cause == after.cause && before.message == after.message) return {};
  return {.text = absl::StrCat("it is refused for another reason: ", why(after), "; before: ", why(before))};
}

// Causes by their text, so that many variants are told once.
class Causes {
 public:
  explicit Causes(ComparisonView& view) : view_(view) {}
  void Blame(VariantChangeView& change, ChangeCauseView cause) {
    const auto [found, added] = by_text_.try_emplace(cause.text, view_.causes.size());
    if (added) view_.causes.push_back(std::move(cause));
    ++view_.causes[found->second].variants;
    change.cause = found->second;
  }
  // Those of most variants first.
  void Sort() {
    std::vector<size_t> order(view_.causes.size()), place(order.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
      return view_.causes[a].variants > view_.causes[b].variants;
    });
    std::vector<ChangeCauseView> sorted;
    for (size_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      sorted.push_back(std::move(view_.causes[order[i]]));
    }
    view_.causes = std::move(sorted);
    for (VariantChangeView& change : view_.changes) {
      if (change.cause) change.cause = place[*change.cause];
    }
  }

 private:
  ComparisonView& view_;
  absl::flat_hash_map<std::string, size_t> by_text_;
};

// Every variant of either evaluation with what it was and is; `change` is empty where they must be compared.
std::vector<VariantChangeView> Align(GridView before, GridView after) {
  absl::flat_hash_map<std::string, size_t> older;
  for (size_t i = 0; i < before.variants.size(); ++i) older[before.variants[i].record.id] = i;
  std::vector<bool> met(before.variants.size());
  std::vector<VariantChangeView> all;
  for (GridVariant& variant : after.variants) {
    VariantChangeView& change = all.emplace_back();
    const auto found = older.find(variant.record.id);
    if (found == older.end()) {
      change.change = "new";
    } else {
      met[found->second] = true;
      change.before = std::move(before.variants[found->second]);
    }
    change.after = std::move(variant);
  }
  for (size_t i = 0; i < met.size(); ++i) {
    if (!met[i]) all.push_back({.change = "gone", .before = std::move(before.variants[i])});
  }
  return all;
}

}  // namespace

absl::StatusOr<ComparisonView> Comparison::Compare(EvaluationId before, EvaluationId after) {
  HYDRANT_ASSIGN_OR_RETURN(GridView older, options_.coordinator.Grid("", before));
  HYDRANT_ASSIGN_OR_RETURN(GridView newer, options_.coordinator.Grid("", after));
  ComparisonView view{.before = older.evaluation, .after = newer.evaluation};
  for (const char* word : {"unchanged", "changed", "new", "gone"}) view.totals[word] = 0;
  std::vector<VariantChangeView> all = Align(std::move(older), std::move(newer));

  MutexLock lock(mu_);
  Reader reader(options_);
  std::vector<DerivationNumber> roots;
  std::vector<EvaluationChange> how(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].change.empty()) continue;
    how[i] = ChangeOf(all[i].before->record, all[i].after->record);
    if (!how[i].both) continue;
    roots.push_back(table_.Meet(all[i].before->record.derivation));
    roots.push_back(table_.Meet(all[i].after->record.derivation));
  }
  TakeIn(roots, reader);
  DerivationDifference difference(table_, [&](DerivationNumber d) { return reader.Fields(table_.path(d)); });
  Causes causes(view);
  size_t next = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    VariantChangeView& change = all[i];
    if (how[i].both) {
      const DerivationNumber old_one = roots[next++], new_one = roots[next++];
      if (!table_.Same(old_one, new_one)) {
        const Difference& found = difference.differences()[difference.Find(old_one, new_one)];
        change.change = "changed";
        change.chain = Names(difference.Chain(old_one, new_one));
        causes.Blame(change, {.text = DescribeDifference(table_, found),
                              .kind = std::string(DifferenceKindName(found.kind)),
                              .before = std::string(table_.path(found.before)),
                              .after = std::string(table_.path(found.after))});
      }
    } else if (!how[i].text.empty()) {
      change.change = "changed";
      causes.Blame(change, {.text = how[i].text, .kind = "evaluation"});
    }
    ++view.totals[change.change.empty() ? "unchanged" : change.change];
    if (!change.change.empty()) view.changes.push_back(std::move(change));
  }
  causes.Sort();
  return view;
}

size_t Comparison::DifferingInputs(DerivationNumber a, DerivationNumber b) const {
  const auto inputs = table_.inputs(b);
  return static_cast<size_t>(
      std::count_if(table_.inputs(a).begin(), table_.inputs(a).end(), [&](DerivationNumber input) {
        return std::none_of(inputs.begin(), inputs.end(),
                            [&](DerivationNumber other) { return table_.Same(input, other); });
      }));
}

absl::StatusOr<NearestView> Comparison::NearestCached(const std::string& derivation) {
  std::vector<GridView> grids;
  for (const MatrixView& matrix : options_.coordinator.Matrices()) {
    if (!matrix.evaluation) continue;
    HYDRANT_ASSIGN_OR_RETURN(GridView grid, options_.coordinator.Grid(matrix.name, matrix.evaluation->id));
    grids.push_back(std::move(grid));
  }
  MutexLock lock(mu_);
  Reader reader(options_);
  const DerivationNumber asked = table_.Meet(derivation);
  TakeIn({asked}, reader);
  if (!table_.filled(asked)) return absl::NotFoundError(absl::StrCat("the derivation ", derivation, " is not known"));
  std::optional<NearestView> nearest;
  for (const GridView& grid : grids) {
    for (const GridVariant& variant : grid.variants) {
      if (variant.view.state != VariantState::kCached || variant.record.derivation.empty()) continue;
      const DerivationNumber candidate = table_.Meet(variant.record.derivation);
      if (table_.family(candidate) != table_.family(asked)) continue;
      TakeIn({candidate}, reader);
      const size_t differing = table_.Same(candidate, asked) ? 0 : DifferingInputs(asked, candidate);
      if (nearest && nearest->differing_inputs <= differing) continue;
      nearest = NearestView{.matrix = grid.evaluation.matrix, .variant = variant.record.id,
                            .derivation = variant.record.derivation, .differing_inputs = differing};
    }
  }
  if (!nearest) {
    return absl::NotFoundError(absl::StrCat("nothing that is called ",
                                            std::string(table_.package_name(asked).package), " is cached"));
  }
  const DerivationNumber other = table_.Meet(nearest->derivation);
  if (table_.Same(other, asked)) return *std::move(nearest);
  DerivationDifference difference(table_, [&](DerivationNumber d) { return reader.Fields(table_.path(d)); });
  nearest->text = DescribeDifference(table_, difference.differences()[difference.Find(other, asked)]);
  nearest->chain = Names(difference.Chain(other, asked));
  return *std::move(nearest);
}

}  // namespace hydrant
