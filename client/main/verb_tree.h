// The tree of verbs while it is put together. For the sources of the command line alone: it knows CLI11.
#ifndef HYDRANT_CLIENT_MAIN_VERB_TREE_H_
#define HYDRANT_CLIENT_MAIN_VERB_TREE_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/exit.h"
#include "client/session.h"

namespace hydrant::client {

using Run = std::function<absl::StatusOr<Exit>(Session&)>;

inline constexpr char kCommonFooter[] =
    "Every verb also takes --server, --token-file and --output (see hydrant --help).";

// Puts verbs into the tree of subcommands; the options of each live as long as the tree.
class VerbTree {
 public:
  explicit VerbTree(CLI::App& root) : root_(root) {}

  CLI::App* Group(const std::string& name, const std::string& about) {
    CLI::App* group = root_.add_subcommand(name, about);
    group->require_subcommand(1);
    return group;
  }
  // `run` gets the options that `declare` filled.
  template <typename Options>
  CLI::App* Verb(CLI::App* parent, const std::string& name, const std::string& about, const std::string& more,
                 std::function<void(CLI::App&, Options&)> declare,
                 absl::StatusOr<Exit> (*run)(const Options&, Session&)) {
    auto options = std::make_shared<Options>();
    CLI::App* verb =
        Add(parent, name, about, more, [options, run](Session& session) { return run(*options, session); });
    declare(*verb, *options);
    return verb;
  }
  CLI::App* Add(CLI::App* parent, const std::string& name, const std::string& about, const std::string& more,
                Run run) {
    CLI::App* verb = parent->add_subcommand(name, about);
    verb->footer(absl::StrCat(more, more.empty() ? "" : "\n\n", kCommonFooter));
    verb->callback([this, run = std::move(run)] { chosen_ = run; });
    return verb;
  }
  CLI::App& root() { return root_; }
  Run TakeChosen() { return std::move(chosen_); }

 private:
  CLI::App& root_;
  Run chosen_;
};

// An option that takes one of a few words.
template <typename Value>
void AddChoice(CLI::App& app, const std::string& name, Value& target, const std::string& about,
               std::vector<std::pair<std::string, Value>> choices) {
  const auto take = [&target, name = name.substr(name.find("--")),
                     choices = std::move(choices)](const std::string& word) {
    std::string known;
    for (const auto& [choice, value] : choices) {
      if (choice == word) return void(target = value);
      absl::StrAppend(&known, known.empty() ? "" : ", ", choice);
    }
    throw CLI::ValidationError(name, absl::StrCat("'", word, "' is none of ", known));
  };
  app.add_option_function<std::string>(name, take, about)->option_text("WORD");
}

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_MAIN_VERB_TREE_H_
