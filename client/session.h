// What a verb has to work with: the farm, the console, the time, and the form that its result should have.
#ifndef HYDRANT_CLIENT_SESSION_H_
#define HYDRANT_CLIENT_SESSION_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/client.h"
#include "client/console.h"
#include "client/format/json.h"
#include "client/format/table.h"
#include "lib/base/clock.h"
#include "lib/rpc/retry.h"

namespace hydrant::client {

enum class OutputForm { kTable, kJson, kJsonl, kMarkdown };

// The forms of one result; only the one that is wanted is made.
struct Renderings {
  std::function<std::string()> table;
  std::function<std::string(JsonLayout)> json;
  std::function<std::string()> markdown;  // null: the table in a code block
};

class Session {
 public:
  struct Options {
    std::function<absl::StatusOr<std::unique_ptr<Client>>()> connect;
    Console* console = nullptr;
    const Clock* clock = nullptr;
    rpc::Pause pause = rpc::SleepFor;
    OutputForm form = OutputForm::kTable;
  };
  explicit Session(Options options) : options_(std::move(options)) {}

  // Made on first use, so that offline verbs need no server and no token.
  absl::StatusOr<Client*> client();
  Console& console() { return *options_.console; }
  const Screen& screen() { return console().out_screen(); }
  const Clock& clock() { return *options_.clock; }
  const rpc::Pause& pause() { return options_.pause; }
  OutputForm form() const { return options_.form; }

  void Print(const Renderings& renderings);
  // A table in all its forms.
  void PrintTable(const Table& table, const std::function<std::string(JsonLayout)>& json);

 private:
  Options options_;
  std::unique_ptr<Client> client_;
};

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_SESSION_H_
