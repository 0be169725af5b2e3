#include "daemon/lease/worker_registry.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace hydrant {
namespace {

constexpr std::array<std::string_view, 5> kStateNames = {"connected", "draining", "gone", "quarantined",
                                                         "revoked"};
constexpr size_t kLongestName = 63;

absl::Status CheckName(std::string_view name) {
  const auto fits = [](char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c); };
  const bool good =
      !name.empty() && name.size() <= kLongestName && fits(name[0]) &&
      std::all_of(name.begin(), name.end(), [&](char c) { return fits(c) || c == '.' || c == '-'; });
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("worker name \"", std::string(name), "\": expected 1 to ", kLongestName,
                   " of a-z, 0-9, \".\" and \"-\", the first a letter or digit"));
}

absl::Status CheckOffer(std::string_view name, const WorkerOffer& offer) {
  const auto bad = [name](std::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("worker ", std::string(name), " ", std::string(what)));
  };
  if (offer.systems.empty()) return bad("offers no system");
  if (offer.slots < 1) return bad(absl::StrCat("offers ", offer.slots, " slots: expected at least 1"));
  std::set<std::string> uuids;
  for (const OfferedGpu& gpu : offer.gpus) {
    if (gpu.uuid.empty()) return bad("offers a GPU without a uuid");
    if (!uuids.insert(gpu.uuid).second) return bad(absl::StrCat("offers two GPUs of uuid ", gpu.uuid));
  }
  return absl::OkStatus();
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

bool Live(const Worker& worker) {
  return worker.state != WorkerState::kGone && worker.state != WorkerState::kRevoked;
}

}  // namespace

std::string_view WorkerStateName(WorkerState state) { return kStateNames[static_cast<size_t>(state)]; }

std::optional<WorkerState> ParseWorkerState(std::string_view name) {
  for (size_t i = 0; i < kStateNames.size(); ++i) {
    if (kStateNames[i] == name) return static_cast<WorkerState>(i);
  }
  return std::nullopt;
}

// Of a worker that is not gone: what its silence, its operator and its failures make of it.
WorkerState WorkerRegistry::StateOf(const Worker& worker, absl::Time now) const {
  if (worker.state == WorkerState::kRevoked) return WorkerState::kRevoked;
  if (worker.seen_at + options_.gone_after <= now) return WorkerState::kGone;
  if (worker.drained_by_operator || worker.draining_itself) return WorkerState::kDraining;
  if (worker.quarantined_until > now) return WorkerState::kQuarantined;
  return WorkerState::kConnected;
}

absl::StatusOr<bool> WorkerRegistry::Seen(const std::string& name, const std::string& instance,
                                          const WorkerOffer& offer, bool draining, absl::Time now) {
  if (absl::Status good = CheckName(name); !good.ok()) return good;
  if (absl::Status good = CheckOffer(name, offer); !good.ok()) return good;
  Worker& worker = workers_[name];
  if (worker.state == WorkerState::kRevoked) {
    return absl::PermissionDeniedError(absl::StrCat("worker ", name, " is revoked"));
  }
  const bool is_new = worker.state == WorkerState::kGone || worker.instance != instance;
  worker.name = name;
  worker.instance = instance;
  worker.offer = offer;
  worker.draining_itself = draining;
  worker.seen_at = std::max(worker.seen_at, now);
  if (is_new) worker.connected_at = now;
  worker.state = StateOf(worker, now);
  return is_new;
}

void WorkerRegistry::Leave(std::string_view name) {
  const auto found = workers_.find(name);
  if (found != workers_.end() && Live(found->second)) found->second.state = WorkerState::kGone;
}

void WorkerRegistry::Restore(Worker worker) {
  if (worker.state != WorkerState::kRevoked) worker.state = WorkerState::kGone;
  const std::string name = worker.name;
  workers_.insert_or_assign(name, std::move(worker));
}

absl::StatusOr<Worker*> WorkerRegistry::FindOrNearest(std::string_view name) {
  const auto found = workers_.find(name);
  if (found != workers_.end()) return &found->second;
  const auto nearest =
      std::min_element(workers_.begin(), workers_.end(), [name](const auto& a, const auto& b) {
        return EditDistance(a.first, name) < EditDistance(b.first, name);
      });
  std::string hint;
  if (nearest != workers_.end()) hint = absl::StrCat(" (the nearest is ", nearest->first, ")");
  return absl::NotFoundError(absl::StrCat("no worker is called ", std::string(name), hint));
}

absl::Status WorkerRegistry::Drain(std::string_view name, bool drain) {
  const absl::StatusOr<Worker*> worker = FindOrNearest(name);
  if (!worker.ok()) return worker.status();
  if ((*worker)->state == WorkerState::kRevoked) {
    return absl::FailedPreconditionError(absl::StrCat("worker ", std::string(name), " is revoked"));
  }
  (*worker)->drained_by_operator = drain;
  if (!drain) {  // an operator who says so knows better than the quarantine
    (*worker)->failed_since.clear();
    (*worker)->quarantined_until = absl::InfinitePast();
  }
  // Time did not move since it was last seen, as far as it matters here.
  if (Live(**worker)) (*worker)->state = StateOf(**worker, (*worker)->seen_at);
  return absl::OkStatus();
}

absl::Status WorkerRegistry::Revoke(std::string_view name) {
  const absl::StatusOr<Worker*> worker = FindOrNearest(name);
  if (!worker.ok()) return worker.status();
  (*worker)->state = WorkerState::kRevoked;
  return absl::OkStatus();
}

void WorkerRegistry::Succeeded(std::string_view name) {
  const auto found = workers_.find(name);
  if (found != workers_.end()) found->second.failed_since.clear();
}

bool WorkerRegistry::FailedByFarm(std::string_view name, const std::string& work, absl::Time now) {
  const auto found = workers_.find(name);
  if (found == workers_.end()) return false;
  Worker& worker = found->second;
  worker.failed_since.insert(work);
  if (static_cast<int>(worker.failed_since.size()) < options_.quarantine_after) return false;
  worker.quarantined_until = now + options_.quarantine;
  if (Live(worker)) worker.state = StateOf(worker, now);
  return true;
}

std::vector<std::string> WorkerRegistry::Expire(absl::Time now) {
  std::vector<std::string> changed;
  for (auto& [name, worker] : workers_) {
    if (!Live(worker)) continue;
    const WorkerState state = StateOf(worker, now);
    if (state != worker.state) changed.push_back(name);
    worker.state = state;
  }
  return changed;
}

absl::Time WorkerRegistry::NextExpiry() const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [name, worker] : workers_) {
    if (!Live(worker)) continue;
    next = std::min(next, worker.seen_at + options_.gone_after);
    if (worker.state == WorkerState::kQuarantined) next = std::min(next, worker.quarantined_until);
  }
  return next;
}

const Worker* WorkerRegistry::Find(std::string_view name) const {
  const auto found = workers_.find(name);
  return found != workers_.end() ? &found->second : nullptr;
}

}  // namespace hydrant
