// Texts of Nix and of builders: whatever they hold there is a cause, and what is shown is one clean line.
#include "lib/failure/classify.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/targets.h"

namespace hydrant::fuzz {
namespace {

void Judge(const Classified& classified) {
  if (classified.cause != Cause::kNone) {
    const std::string_view name = CauseName(classified.cause);
    Demand(!name.empty() && ParseCause(name) == classified.cause, "a cause has a name that reads as it",
           name);
  }
  Demand(classified.message.find_first_of(std::string_view("\x1b\0\n", 3)) == std::string::npos,
         "the message is one clean line", classified.message);
}

}  // namespace

void FuzzClassify(std::string_view input) {
  const std::string plain = StripAnsi(input);
  Demand(plain.size() <= input.size(), "stripping adds nothing");
  Demand(plain.find_first_of(std::string_view("\x1b\0", 2)) == std::string::npos, "stripped text is clean",
         plain);
  Demand(StripAnsi(plain) == plain, "stripping twice is stripping once", plain);
  Judge(ClassifyEvaluation(input));
  Judge(ClassifyCheck(input));
  Judge(ClassifyText(input).classified);
  const size_t half = input.size() / 2;
  const int status = input.empty() ? -1 : static_cast<unsigned char>(input.back()) % 20 - 1;
  Judge(ClassifyAttempt(status, input.substr(0, half), input.substr(half)));
  Judge(ClassifyAttempt(-1, input, input));
}

}  // namespace hydrant::fuzz
