#include "client/main/inspect_command_line.h"

#include <limits>

#include "client/commands/inspect.h"

namespace hydrant::client {
namespace {

constexpr char kExitFooter[] =
    "No farm and no Nix daemon is needed.\n"
    "Exit status: 0 ok, 1 what was read is wrong or could not be written, 2 wrong usage or no such file.";
constexpr int kAnyNumber = std::numeric_limits<int>::max();

void AddStore(CLI::App& app, std::string& store) {
  app.add_option("--store", store, "Read /nix/store/… below this root, as in a chroot store")
      ->option_text("ROOT");
}

void AddDerivation(VerbTree& tree, CLI::App* group) {
  tree.Verb<InspectDerivationOptions>(
      group, "derivation", "What a .drv file says; with --roundtrip, whether it is written again to the byte",
      "Several files: JSON is {\"derivations\":[…]}, one file is an object of its own.\n"
      "  hydrant inspect derivation $(nix-instantiate '<nixpkgs>' -A hello) --output json\n"
      "  nix-store -qR X.drv | grep '\\.drv$' | xargs hydrant inspect derivation --roundtrip",
      [](CLI::App& app, InspectDerivationOptions& o) {
        app.add_option("DRV", o.files, "A .drv file or its store path")->required()->expected(1, kAnyNumber);
        app.add_flag("--roundtrip", o.roundtrip,
                     "Read and write again, silently; exit 1 with the first byte that differs");
        AddStore(app, o.store);
      },
      InspectDerivation);
}

void AddClosure(VerbTree& tree, CLI::App* group) {
  tree.Verb<InspectClosureOptions>(
      group, "closure", "What derivations need, down to the sources: counts and paths",
      "Read from the .drv files of the store. --output jsonl is the graph, a line for each derivation.\n"
      "  hydrant inspect closure $(nix-instantiate '<nixpkgs>' -A hello)",
      [](CLI::App& app, InspectClosureOptions& o) {
        app.add_option("DRV", o.derivations, "The store path of a derivation, or a link to one")
            ->required()
            ->expected(1, kAnyNumber);
        app.add_flag("--verify", o.verify,
                     "Compute every path again, silently; exit 1 with the first that does not follow from "
                     "its derivation");
        AddStore(app, o.store);
      },
      InspectClosure);
}

void AddNar(VerbTree& tree, CLI::App* inspect) {
  CLI::App* group = inspect->add_subcommand("nar", "Nix archives: dump, restore, list, hash");
  group->require_subcommand(1);
  group->footer(kExitFooter);
  const auto path = [](const char* about) {
    return [about](CLI::App& app, InspectNarOptions& o) {
      app.add_option("PATH", o.path, about)->required();
      AddStore(app, o.store);
    };
  };
  tree.Verb<InspectNarOptions>(
      group, "dump", "Write the archive of a file, symlink or folder to standard output",
      "The same bytes as `nix-store --dump`.\n  hydrant inspect nar dump ./tree >tree.nar",
      path("What to archive"), InspectNarDump);
  tree.Verb<InspectNarOptions>(
      group, "restore", "Make the tree of an archive from standard input",
      "What was made is removed again when the archive is faulty or ends too early.\n"
      "  hydrant inspect nar restore ./tree <tree.nar",
      [](CLI::App& app, InspectNarOptions& o) {
        app.add_option("DEST", o.path, "Where to; must not exist, its folder must")->required();
      },
      InspectNarRestore);
  tree.Add(group, "list", "What is in an archive from standard input",
           "With --output json the .ls that a binary cache serves; jsonl is a line for each entry.\n"
           "  zstd -dc x.nar.zst | hydrant inspect nar list",
           InspectNarList);
  tree.Verb<InspectNarOptions>(
      group, "hash", "The SHA-256 of the archive of a path, as narinfos have it",
      "The same as `nix-hash --type sha256 --base32`.\n  hydrant inspect nar hash ./tree",
      path("What to hash"), InspectNarHash);
}

void AddNarinfo(VerbTree& tree, CLI::App* group) {
  tree.Verb<InspectNarinfoOptions>(
      group, "narinfo", "The fields of a narinfo, and whether a key signed it",
      "With --key: exit 1 unless one of the keys signed it and no signature of theirs is wrong. The archive "
      "itself is\n"
      "not looked at.\n"
      "  curl -s https://cache.nixos.org/HASH.narinfo | hydrant inspect narinfo - --key \"$(cat key.pub)\"",
      [](CLI::App& app, InspectNarinfoOptions& o) {
        app.add_option("FILE", o.file, "The narinfo; - is standard input")->required();
        app.add_option("--key", o.keys, "A public key; may be repeated")
            ->option_text("NAME:BASE64")
            ->expected(1)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      },
      InspectNarinfo);
}

void AddClassify(VerbTree& tree, CLI::App* group) {
  tree.Verb<InspectClassifyOptions>(
      group, "classify", "The class of a failure, from what Nix, a builder or a check printed",
      "Reads standard input. Without --stage the stage is found from the wording.\n"
      "  nix log X.drv | hydrant inspect classify --stage attempt",
      [](CLI::App& app, InspectClassifyOptions& o) {
        AddChoice<std::optional<FailureStage>>(app, "--stage", o.stage, "evaluation, attempt or check",
                                               {{"evaluation", FailureStage::kEvaluation},
                                                {"attempt", FailureStage::kAttempt},
                                                {"check", FailureStage::kCheck}});
      },
      InspectClassify);
}

}  // namespace

void AddInspectVerbs(VerbTree& tree) {
  CLI::App* group =
      tree.Group("inspect", "Nix's formats by hand: derivations, archives, narinfos, error texts");
  group->footer(kExitFooter);
  AddDerivation(tree, group);
  AddClosure(tree, group);
  AddNar(tree, group);
  AddNarinfo(tree, group);
  AddClassify(tree, group);
}

}  // namespace hydrant::client
