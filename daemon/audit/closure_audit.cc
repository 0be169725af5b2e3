#include "daemon/audit/closure_audit.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/audit/derivation_names.h"
#include "lib/matrix/audit_rule.h"

namespace hydrant {
namespace {

constexpr uint32_t kReleaseBase = 1000;
uint32_t ReleaseValue(CudaVersion version) {
  return static_cast<uint32_t>(version.major) * kReleaseBase + static_cast<uint32_t>(version.minor);
}
std::string ReleaseText(uint32_t value) {
  return absl::StrCat("CUDA ", value / kReleaseBase, ".", value % kReleaseBase);
}

std::string FlavourText(uint32_t value) {
  return std::string(CudaFlavourName(static_cast<CudaFlavour>(value)));
}

std::string Arrows(const std::vector<std::string>& names) { return absl::StrJoin(names, " → "); }

// "python3.12-jaxlib-0.4.1 (0a1b2c3d)": two of one name are told apart by their hash.
std::string Told(std::string_view derivation) {
  constexpr size_t kHashCharacters = 8, kHashLength = 32;
  std::string_view base = derivation.substr(derivation.rfind('/') + 1);
  if (base.ends_with(".drv")) base.remove_suffix(4);
  if (base.size() <= kHashLength + 1) return std::string(derivation);
  return absl::StrCat(std::string(base.substr(kHashLength + 1)), " (",
                      std::string(base.substr(0, kHashCharacters)), ")");
}
std::string Told(const DerivationTable& table, DerivationNumber d) { return Told(table.path(d)); }

// Names of a way, cut in its middle when it is long.
std::vector<std::string> Names(const DerivationTable& table, const std::vector<DerivationNumber>& way) {
  constexpr size_t kMost = 20;
  std::vector<std::string> names;
  for (size_t i = 0; i < way.size(); ++i) {
    if (way.size() > kMost && i == kMost / 2) {
      names.emplace_back("…");
      i = way.size() - kMost / 2 + 1;
    }
    names.emplace_back(table.name(way[i]));
  }
  return names;
}

}  // namespace

std::optional<DerivationNumber> ClosureAudit::Taken(std::string_view path) const {
  const std::optional<DerivationNumber> d = table_.Find(path);
  return d && table_.filled(*d) ? d : std::nullopt;
}

bool ClosureAudit::Knows(std::string_view path) const { return Taken(path).has_value(); }

void ClosureAudit::Take(const Facts& facts) {
  if (Knows(facts.path)) return;
  const DerivationNumber d = table_.Fill({.path = facts.path,
                                          .inputs = facts.inputs,
                                          .outputs = facts.outputs,
                                          .fixed_output = facts.fixed_output});
  reach_.resize(table_.size());
  passed_on_.resize(table_.size());
  module_.resize(table_.size());
  for (std::string_view output : facts.outputs) {
    if (!output.empty()) by_output_.try_emplace(std::string(output), d);
  }
  MarkName(d, facts.fixed_output);
  Merge(d);
  if (!facts.fixed_output) LinkPassedOn(d, facts);
}

void ClosureAudit::MarkName(DerivationNumber d, bool fixed_output) {
  const std::string_view name = table_.name(d);
  if (fixed_output) {
    if (const auto flavour = CudaFlavourOf(name)) {
      AddMark(d, {Mark::Kind::kFlavour, static_cast<uint32_t>(*flavour), {}});
    }
    return;
  }
  if (const auto release = CudaReleaseOf(name)) {
    AddMark(d, {Mark::Kind::kRelease, ReleaseValue(*release), {}});
  }
  if (const std::string_view library = NamedLibraryOf(name); !library.empty()) {
    // Equal ones, fetched in another way, are one.
    const auto same = std::find_if(marks_.begin(), marks_.end(), [&](const Mark& mark) {
      return mark.kind == Mark::Kind::kLibrary && table_.Same(mark.value, d);
    });
    AddMark(d, {Mark::Kind::kLibrary, same == marks_.end() ? d : same->value, library});
  }
  if (const auto module = PythonModuleOf(name)) {
    const auto next = static_cast<uint32_t>(module_numbers_.size() + 1);
    module_[d] =
        module_numbers_.try_emplace(absl::StrCat(std::string(module->interpreter), " ", module->module), next)
            .first->second;
  }
}

void ClosureAudit::AddMark(DerivationNumber d, const Mark& mark) {
  const auto [found, added] = mark_numbers_.try_emplace(
      std::pair(static_cast<uint8_t>(mark.kind), mark.value), static_cast<uint32_t>(marks_.size()));
  if (added) marks_.push_back(mark);
  reach_[d].push_back({found->second, d, 0});
}

// What the inputs reach, each by the shortest way.
void ClosureAudit::Merge(DerivationNumber d) {
  std::vector<Reach>& reach = reach_[d];
  for (DerivationNumber input : table_.inputs(d)) {
    for (const Reach& other : reach_[input]) {
      const auto known = std::find_if(reach.begin(), reach.end(),
                                      [&](const Reach& mine) { return mine.mark == other.mark; });
      if (known == reach.end()) {
        reach.push_back({other.mark, input, other.distance + 1});
      } else if (other.distance + 1 < known->distance) {
        *known = {other.mark, input, other.distance + 1};
      }
    }
  }
  std::sort(reach.begin(), reach.end(), [this](const Reach& a, const Reach& b) {
    if (a.distance != b.distance) return a.distance < b.distance;
    if (marks_[a.mark].kind != marks_[b.mark].kind) return marks_[a.mark].kind < marks_[b.mark].kind;
    return a.mark < b.mark;
  });
  if (reach.size() > kMostMarks) reach.resize(kMostMarks);
  reach.shrink_to_fit();
}

void ClosureAudit::LinkPassedOn(DerivationNumber d, const Facts& facts) {
  std::vector<DerivationNumber>& links = passed_on_[d];
  if (IsPythonEnvironment(table_.name(d))) {
    for (DerivationNumber input : table_.inputs(d)) {
      if (module_[input] != 0) links.push_back(input);
    }
    return;
  }
  for (std::string_view path : PassedOnPaths(facts.environment)) {
    const auto maker = by_output_.find(std::string(path));
    if (maker == by_output_.end() || maker->second == d) continue;
    if (std::find(links.begin(), links.end(), maker->second) == links.end()) links.push_back(maker->second);
  }
}

std::vector<const ClosureAudit::Reach*> ClosureAudit::Reached(DerivationNumber d, Mark::Kind kind) const {
  std::vector<const Reach*> found;
  for (const Reach& reach : reach_[d]) {
    if (marks_[reach.mark].kind == kind) found.push_back(&reach);
  }
  return found;
}

std::vector<std::string> ClosureAudit::Way(DerivationNumber d, const Reach& reach) const {
  std::vector<DerivationNumber> way = {d};
  const Reach* at = &reach;
  while (at->distance > 0) {
    way.push_back(at->next);
    const std::vector<Reach>& next = reach_[at->next];
    at = &*std::find_if(next.begin(), next.end(),
                        [&](const Reach& other) { return other.mark == reach.mark; });
  }
  return Names(table_, way);
}

std::vector<Finding> ClosureAudit::Judge(const Question& question) const {
  std::vector<Finding> findings;
  const std::optional<DerivationNumber> d = Taken(question.derivation);
  if (!d) return findings;
  JudgeModules(*d, findings);
  JudgeReleases(*d, question.cuda, findings);
  JudgeFlavours(*d, findings);
  if (question.libraries != nullptr) JudgeLibraries(*d, *question.libraries, findings);
  return findings;
}

std::vector<Finding> ClosureAudit::JudgeLibraries(std::string_view derivation,
                                                  const Libraries& libraries) const {
  std::vector<Finding> findings;
  if (const auto d = Taken(derivation)) JudgeLibraries(*d, libraries, findings);
  return findings;
}

void ClosureAudit::JudgeModules(DerivationNumber d, std::vector<Finding>& findings) const {
  struct Met {
    DerivationNumber number;
    size_t from;  // its place in `met`
  };
  std::vector<Met> met = {{d, 0}};
  std::vector<bool> seen(table_.size());
  seen[d] = true;
  absl::flat_hash_map<uint32_t, size_t> holders;  // module -> place in `met`
  absl::flat_hash_map<uint32_t, bool> told;
  const auto way = [&](size_t at) {
    std::vector<DerivationNumber> numbers = {met[at].number};
    while (at != 0) numbers.push_back(met[at = met[at].from].number);
    std::reverse(numbers.begin(), numbers.end());
    return Names(table_, numbers);
  };
  for (size_t at = 0; at < met.size(); ++at) {
    const DerivationNumber number = met[at].number;
    for (DerivationNumber next : passed_on_[number]) {
      if (seen[next]) continue;
      seen[next] = true;
      met.push_back({next, at});
    }
    const uint32_t module = module_[number];
    if (module == 0) continue;
    const auto [holder, first] = holders.try_emplace(module, at);
    if (first || table_.Same(met[holder->second].number, number) || !told.try_emplace(module, true).second)
      continue;
    const std::vector<std::string> one = way(holder->second);
    const PythonModule name = *PythonModuleOf(table_.name(number));
    findings.push_back({.rule = std::string(kDuplicateModules),
                        .message = absl::StrCat("the Python module ", name.module,
                                                " is there twice: ", Told(table_, met[holder->second].number),
                                                " through ", Arrows(one), ", and ", Told(table_, number)),
                        .path = way(at)});
  }
}

void ClosureAudit::JudgeReleases(DerivationNumber d, std::optional<CudaVersion> asked,
                                 std::vector<Finding>& findings) const {
  const std::vector<const Reach*> reached = Reached(d, Mark::Kind::kRelease);
  if (reached.empty()) return;
  const auto of = [&](const Reach* reach) { return marks_[reach->mark].value; };
  auto home = reached.begin();
  if (asked) {
    home = std::find_if(reached.begin(), reached.end(),
                        [&](const Reach* reach) { return of(reach) == ReleaseValue(*asked); });
  }
  const bool missed = home == reached.end();
  if (missed) home = reached.begin();
  const std::vector<std::string> home_way = Way(d, **home);
  for (const Reach* other : reached) {
    if (other == *home) continue;
    const std::vector<std::string> way = Way(d, *other);
    findings.push_back(
        {.rule = std::string(kTwoCudaReleases),
         .message = absl::StrCat(ReleaseText(of(*home)), " and ", ReleaseText(of(other)),
                                 " meet: ", ReleaseText(of(*home)), " through ", Arrows(home_way), "; ",
                                 ReleaseText(of(other)), " through ", Arrows(way)),
         .path = way});
  }
  if (missed) {
    findings.push_back(
        {.rule = std::string(kCudaVersion),
         .message = absl::StrCat("it is built with ", ReleaseText(of(*home)), " (through ", Arrows(home_way),
                                 "), the slice asks for CUDA ", asked->Text()),
         .path = home_way});
  }
}

void ClosureAudit::JudgeFlavours(DerivationNumber d, std::vector<Finding>& findings) const {
  const std::vector<const Reach*> reached = Reached(d, Mark::Kind::kFlavour);
  if (reached.size() < 2) return;
  const std::vector<std::string> near = Way(d, *reached[0]), far = Way(d, *reached[1]);
  findings.push_back(
      {.rule = std::string(kTwoCudaFlavours),
       .message = absl::StrCat("CUDA's components come in two flavours: ",
                               FlavourText(marks_[reached[0]->mark].value), " through ", Arrows(near), "; ",
                               FlavourText(marks_[reached[1]->mark].value), " through ", Arrows(far)),
       .path = far});
}

void ClosureAudit::JudgeLibraries(DerivationNumber d, const Libraries& libraries,
                                  std::vector<Finding>& findings) const {
  for (const auto& [library, paths] : libraries) {
    if (paths.empty()) continue;
    for (const Reach* reach : Reached(d, Mark::Kind::kLibrary)) {
      const Mark& mark = marks_[reach->mark];
      if (mark.library != library) continue;
      const bool right = std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
        const std::optional<DerivationNumber> own = table_.Find(path);
        return own && table_.Same(*own, mark.value);
      });
      if (right) continue;
      const std::vector<std::string> way = Way(d, *reach);
      findings.push_back({.rule = std::string(kNamedPackage),
                          .message = absl::StrCat(library, " is ", Told(table_, mark.value), " through ",
                                                  Arrows(way), ", the slice's own is ", Told(paths.front())),
                          .path = way});
    }
  }
}

ClosureAudit::Libraries ClosureAudit::UsedByMost(std::span<const std::string_view> roots) const {
  struct Count {
    uint32_t mark;
    size_t variants;
  };
  std::vector<Count> counts;  // in the order in which they are reached
  for (std::string_view root : roots) {
    const std::optional<DerivationNumber> d = Taken(root);
    if (!d) continue;
    for (const Reach* reach : Reached(*d, Mark::Kind::kLibrary)) {
      const auto known = std::find_if(counts.begin(), counts.end(),
                                      [&](const Count& count) { return count.mark == reach->mark; });
      if (known == counts.end()) {
        counts.push_back({reach->mark, 1});
      } else {
        ++known->variants;
      }
    }
  }
  std::stable_sort(counts.begin(), counts.end(),
                   [](const Count& a, const Count& b) { return a.variants > b.variants; });
  Libraries libraries;
  for (const Count& count : counts) {
    std::vector<std::string>& paths = libraries[std::string(marks_[count.mark].library)];
    if (paths.empty()) paths.emplace_back(table_.path(marks_[count.mark].value));
  }
  return libraries;
}

}  // namespace hydrant
