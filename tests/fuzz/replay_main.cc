// fuzz_replay TARGET FILE|FOLDER... [--mutations N]: judges each file, then N mutations of them in all, drawn
// from a fixed seed number: the same inputs at every run, on every machine. It is no fuzzer: nothing is
// learnt from one input for the next.
//
// Inputs are judged in a child, so that of whatever ends it (abort, signal, sanitizer, ten seconds on one
// input) the input can be told; it is kept as a file whose path is printed. Exits 1 then, 2 on a usage error.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/targets.h"

namespace hydrant::fuzz {
namespace {

constexpr uint64_t kSeed = 20240229;
constexpr unsigned kMostSeconds = 10;      // for one input
constexpr long kMostMemory = 1536L << 10;  // KiB at the peak, a sanitizer's own included
constexpr size_t kMostBytes = 1 << 20;

struct Inputs {
  std::vector<std::string> names, texts;
  size_t mutations = 0;
  size_t size() const { return texts.size() + mutations; }
};

// The input of a number: a file, or a mutation of one.
std::string Input(const Inputs& inputs, size_t number) {
  const size_t files = inputs.texts.size();
  if (number < files) return inputs.texts[number];
  return Mutator(kSeed + number, inputs.texts).Mutate(inputs.texts[number % files], kMostBytes);
}

std::string NameOf(const Inputs& inputs, size_t number) {
  const size_t files = inputs.texts.size();
  return number < files
             ? inputs.names[number]
             : "mutation " + std::to_string(number - files) + " of " + inputs.names[number % files];
}

absl::Status AddFiles(const std::string& path, Inputs& inputs) {
  std::error_code error;
  std::vector<std::string> files;
  if (std::filesystem::is_directory(path, error)) {
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
  } else {
    files.push_back(path);
  }
  for (const std::string& file : files) {
    auto text = ReadFile(file);
    if (!text.ok()) return text.status();
    inputs.names.push_back(file);
    inputs.texts.push_back(*std::move(text));
  }
  return absl::OkStatus();
}

// In the child: never returns. `number` is shared with the parent.
[[noreturn]] void JudgeAll(const Target& target, const Inputs& inputs, volatile size_t* number) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    *number = i;
    const std::string input = Input(inputs, i);
    alarm(kMostSeconds);
    target.judge(input);
  }
  alarm(0);
  std::exit(0);
}

// Keeps the input and says where; true.
bool Report(const Target& target, const Inputs& inputs, size_t number, const std::string& why) {
  const std::string input = Input(inputs, number);
  char name[32];
  std::snprintf(name, sizeof name, "-%016llx", static_cast<unsigned long long>(Fingerprint(input)));
  const std::string path = std::filesystem::current_path() / ("crash-" + std::string(target.name) + name);
  const absl::Status kept = WriteFileAtomically(path, input);
  std::fprintf(stderr, "fuzz_replay: %s: %s on %s\nkept: %s\nagain: fuzz_replay %s %s\n", target.name.data(),
               why.c_str(), NameOf(inputs, number).c_str(),
               kept.ok() ? path.c_str() : kept.ToString().c_str(), target.name.data(), path.c_str());
  return true;
}

bool Failed(const Target& target, const Inputs& inputs) {
  void* page = mmap(nullptr, sizeof(size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) std::abort();
  auto* number = static_cast<volatile size_t*>(page);
  const TestDir scratch;  // what a crashed target leaves behind goes with it
  const pid_t child = fork();
  if (child == 0) {
    setenv("TMPDIR", scratch.path().c_str(), 1);
    JudgeAll(target, inputs, number);
  }
  int status = 0;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) != child) std::abort();
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return Report(target, inputs, *number,
                  signal == SIGALRM ? "more than 10 seconds" : "signal " + std::to_string(signal));
  }
  if (WEXITSTATUS(status) != 0)
    return Report(target, inputs, *number, "exit " + std::to_string(WEXITSTATUS(status)));
  if (used.ru_maxrss > kMostMemory) {
    std::fprintf(stderr, "fuzz_replay: %s: %ld KiB of memory at the peak, at most %ld expected\n",
                 target.name.data(), used.ru_maxrss, kMostMemory);
    return true;
  }
  std::printf("%s: %zu files, %zu mutations, %ld MiB at the peak\n", target.name.data(), inputs.texts.size(),
              inputs.mutations, used.ru_maxrss >> 10);
  return false;
}

int Usage(const std::string& why) {
  std::fprintf(stderr, "fuzz_replay: %s\nusage: fuzz_replay TARGET FILE|FOLDER... [--mutations N]\ntargets:",
               why.c_str());
  for (const Target& target : Targets()) std::fprintf(stderr, " %s", target.name.data());
  std::fprintf(stderr, "\n");
  return 2;
}

int Main(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return Usage("which target?");
  const Target* target = FindTarget(arguments[0]);
  if (target == nullptr) return Usage("there is no target \"" + arguments[0] + "\"");
  Inputs inputs;
  for (size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "--mutations") {
      if (++i == arguments.size() || !absl::SimpleAtoi(arguments[i], &inputs.mutations)) {
        return Usage("--mutations wants a number");
      }
    } else if (const absl::Status added = AddFiles(arguments[i], inputs); !added.ok()) {
      return Usage(added.ToString());
    }
  }
  if (inputs.texts.empty()) return Usage("no file to judge");
  return Failed(*target, inputs) ? 1 : 0;
}

}  // namespace
}  // namespace hydrant::fuzz

int main(int argc, char** argv) { return hydrant::fuzz::Main({argv + 1, argv + argc}); }
