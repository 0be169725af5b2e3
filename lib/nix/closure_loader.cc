#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/base/unique_fd.h"
#include "lib/nix/closure.h"
#include "lib/nix/closure_graph.h"

namespace hydrant::nix {
namespace {

constexpr int kMostThreads = 8;
// A thread costs what some ten files cost.
constexpr size_t kFilesWorthAThread = 24;

// Whole files of one folder into a buffer that is used again.
class FileReader {
 public:
  explicit FileReader(size_t most_bytes) : most_bytes_(most_bytes) {}

  // `name` ends with a NUL. The view is good until the next Read.
  absl::StatusOr<std::string_view> Read(int folder, std::string_view name) {
    const UniqueFd file(
        openat(folder, name.data(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (!file.valid()) return Failed("open", name);
    size_t size = 0;
    while (true) {
      const ssize_t n = read(file.get(), buffer_.data() + size, buffer_.size() - size);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Failed("read", name);
      size += static_cast<size_t>(n);
      if (size > most_bytes_) {
        return absl::ResourceExhaustedError(absl::StrCat("read ", AbslView(kStoreDir), "/", AbslView(name),
                                                         ": it is larger than ", most_bytes_, " bytes"));
      }
      // A file of a disk gives less than was asked for only at its end.
      if (n == 0 || size < buffer_.size()) return std::string_view(buffer_.data(), size);
      buffer_.resize(buffer_.size() * 2);
    }
  }

 private:
  static absl::Status Failed(std::string_view verb, std::string_view name) {
    return ErrnoStatus(errno, absl::StrCat(AbslView(verb), " ", AbslView(kStoreDir), "/", AbslView(name)));
  }

  const size_t most_bytes_;
  std::vector<char> buffer_ = std::vector<char>(64 << 10);
};

}  // namespace

// One Load: a queue of derivations that were reached, and the threads that empty it.
class ClosureLoader::Run {
 public:
  Run(ClosureGraph& graph, int store, uint32_t number)
      : graph_(&graph), store_(store), number_(number), most_threads_(ThreadsOf(graph.options())) {}

  absl::Status Read(std::span<const std::string> roots) {
    {
      MutexLock lock(mu_);
      for (const std::string& root : roots) {
        HYDRANT_ASSIGN_OR_RETURN(const DerivationId id, graph_->Meet(root));
        Reach(id, id);
      }
    }
    Work();
    // Threads start only while another works, and that one is joined after it: none is missed.
    for (size_t i = 0;; ++i) {
      std::thread thread;
      {
        MutexLock lock(mu_);
        if (i == threads_.size()) return first_error_;
        thread = std::move(threads_[i]);
      }
      thread.join();
    }
  }

 private:
  struct Reached {
    DerivationId id, user;  // the same for a root
  };

  static int ThreadsOf(const Options& options) {
    if (options.threads > 0) return options.threads;
    return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads);
  }

  void Reach(DerivationId id, DerivationId user) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    ClosureGraph::Entry& entry = graph_->entry(id);
    if (entry.reached == number_) return;
    entry.reached = number_;
    queue_.push_back({id, user});
  }

  void ReachInputs(DerivationId id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    for (const ClosureInput& input : graph_->entry(id).node.inputs) Reach(input.derivation, id);
  }

  // The next that is to be read; false when there is nothing more, now or ever.
  bool Next(Reached& next) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    while (first_error_.ok()) {
      if (head_ == queue_.size()) {
        if (reading_ == 0) break;
        ++idle_;
        changed_.Wait(mu_);
        --idle_;
        continue;
      }
      next = queue_[head_++];
      if (!graph_->entry(next.id).loaded) return true;
      ReachInputs(next.id);
    }
    changed_.NotifyAll();
    return false;
  }

  void Work() {
    FileReader reader(graph_->options().most_file_bytes);
    DerivationView view;
    Reached next;
    MutexLock lock(mu_);
    while (Next(next)) {
      ++reading_;
      const std::string_view name = graph_->entry(next.id).node.base_name;
      mu_.Unlock();
      absl::Status status = Parse(reader, name, view);
      mu_.Lock();
      --reading_;
      if (status.ok()) status = graph_->Fill(next.id, view);
      if (status.ok()) {
        ReachInputs(next.id);
        ShareWork();
      } else if (first_error_.ok()) {
        first_error_ = Explain(status, next);
      }
    }
  }

  absl::Status Parse(FileReader& reader, std::string_view name, DerivationView& view) const {
    HYDRANT_ASSIGN_OR_RETURN(const std::string_view text, reader.Read(store_, name));
    return ParseDerivationView(text, view);
  }

  // Threads are woken or made only for more work than this one does meanwhile.
  void ShareWork() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const size_t waiting = queue_.size() - head_;
    if (idle_ > 0) {
      if (waiting > kFilesWorthAThread / 4) changed_.NotifyOne();
      return;
    }
    const size_t running = threads_.size() + 1;
    if (running >= static_cast<size_t>(most_threads_) || waiting < kFilesWorthAThread * running) return;
    try {
      threads_.emplace_back([this] { Work(); });
    } catch (const std::system_error&) {
      most_threads_ = static_cast<int>(running);  // no more to be had: those that run are enough
    }
  }

  absl::Status Explain(const absl::Status& status, const Reached& reached)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const std::string path = graph_->entry(reached.id).node.path();
    absl::Status named = status;
    if (status.message().find(absl::string_view(path)) == absl::string_view::npos)
      named = Annotate(status, path);
    if (reached.id == reached.user) return named;
    return Annotate(named, absl::StrCat("input of ", graph_->entry(reached.user).node.path()));
  }

  Mutex mu_;
  ClosureGraph* const graph_;  // entries and lists are added under mu_
  const int store_;
  const uint32_t number_;
  int most_threads_ ABSL_GUARDED_BY(mu_);
  std::vector<Reached> queue_ ABSL_GUARDED_BY(mu_);
  size_t head_ ABSL_GUARDED_BY(mu_) = 0;
  int reading_ ABSL_GUARDED_BY(mu_) = 0;
  int idle_ ABSL_GUARDED_BY(mu_) = 0;
  CondVar changed_;
  absl::Status first_error_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mu_);
};

namespace {

// Depth first without recursion, because a graph may be deeper than a stack.
absl::Status Order(ClosureGraph& graph, std::span<const std::string> roots, uint32_t number,
                   std::vector<DerivationId>& order) {
  struct Visit {
    DerivationId id;
    size_t next_input;
  };
  std::vector<Visit> open;
  const auto enter = [&](DerivationId id) -> absl::Status {
    ClosureGraph::Entry& entry = graph.entry(id);
    if (entry.placed == number) return absl::OkStatus();
    if (entry.entered == number)
      return absl::InvalidArgumentError(absl::StrCat(entry.node.path(), ": the derivation needs itself"));
    entry.entered = number;
    open.push_back({id, 0});
    return absl::OkStatus();
  };
  for (const std::string& root : roots) {
    HYDRANT_ASSIGN_OR_RETURN(const DerivationId id, graph.Meet(root));
    HYDRANT_RETURN_IF_ERROR(enter(id));
    while (!open.empty()) {
      Visit& top = open.back();
      ClosureGraph::Entry& entry = graph.entry(top.id);
      if (top.next_input < entry.node.inputs.size()) {
        if (const absl::Status entered = enter(entry.node.inputs[top.next_input++].derivation); !entered.ok())
          return Annotate(entered, absl::StrCat("input of ", entry.node.path()));
        continue;
      }
      entry.placed = number;
      order.push_back(top.id);
      open.pop_back();
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ClosureLoader>> ClosureLoader::Open(Options options) {
  const std::string folder = absl::StrCat(options.store_root, AbslView(kStoreDir));
  UniqueFd store(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!store.valid()) return ErrnoStatus(errno, absl::StrCat("open ", folder));
  auto graph = std::make_unique<ClosureGraph>(std::move(options));
  return std::unique_ptr<ClosureLoader>(new ClosureLoader(std::move(graph), std::move(store)));
}

ClosureLoader::ClosureLoader(std::unique_ptr<ClosureGraph> graph, UniqueFd store)
    : graph_(std::move(graph)), store_(std::move(store)) {}

ClosureLoader::~ClosureLoader() = default;

absl::StatusOr<Closure> ClosureLoader::Load(std::span<const std::string> roots) {
  MutexLock lock(mu_);
  const uint32_t number = ++loads_;
  HYDRANT_RETURN_IF_ERROR(Run(*graph_, store_.get(), number).Read(roots));
  Closure closure;
  closure.graph_ = graph_.get();
  HYDRANT_RETURN_IF_ERROR(Order(*graph_, roots, number, closure.order_));
  for (const DerivationId id : closure.order_) {
    const ClosureNode& node = graph_->entry(id).node;
    ++closure.counts_.derivations;
    closure.counts_.edges += node.inputs.size();
    closure.counts_.outputs += node.outputs.size();
    closure.counts_.fixed_outputs += node.fixed_output() ? 1 : 0;
  }
  return closure;
}

uint64_t ClosureLoader::files_read() const {
  MutexLock lock(mu_);
  return graph_->files_read();
}

size_t ClosureLoader::bytes() const {
  MutexLock lock(mu_);
  return graph_->bytes();
}

}  // namespace hydrant::nix
