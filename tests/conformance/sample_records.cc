#include "tests/conformance/sample_records.h"

namespace hydrant {
namespace {

constexpr char kA[] = "/nix/store/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-a.drv";
constexpr char kB[] = "/nix/store/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb-b.drv";
constexpr char kC[] = "/nix/store/cccccccccccccccccccccccccccccccc-c.drv";
constexpr char kP[] = "/nix/store/pppppppppppppppppppppppppppppppp-c";

void FillMatrix(SampleFarm& farm) {
  farm.text = {.digest = "digest1",
               .toml = "name = \"démo\"\n",
               .files = {{"slice.nix", std::string("\0\xff{}", 4)}, {"x.nix", ""}},
               .directory = "/etc/hydrant",
               .file = "demo.toml"};
  farm.matrix = {.name = "demo", .digest = "digest1", .from_folder = true, .applied_at = At(0)};
  farm.evaluation = {.id = {1},
                     .matrix = "demo",
                     .digest = "digest1",
                     .only = "torch@*",
                     .priority = -2,
                     .state = EvaluationState::kEvaluating,
                     .revision = "r1",
                     .message = "two\nlines",
                     .branch = "nixos-unstable",
                     .wanted_revision = "v1.0",
                     .requested_at = At(1)};
  farm.derived_list = {.evaluation = {1},
                       .revision = "r1",
                       .packages = {"magma", "python3Packages.\"odd.name\"", "zÿ{,}"},
                       .notes = {"3 could not be evaluated", ""},
                       .complete = false};
  farm.good = {.evaluation = {1},
               .ordinal = 0,
               .id = "torch@cuda11.4",
               .package = "torch",
               .slice_json = "{\"cuda\": \"11.4\"}",
               .derivation = kA,
               .outputs = {{"dev", ""}, {"out", "/nix/store/oooooooooooooooooooooooooooooooo-a"}},
               .environment = kB,
               .environment_output = "/nix/store/eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee-b",
               .facts_json = "{\"licences\": [{\"name\": \"CUDA EULA\", \"free\": false}]}",
               .tier = "private",
               .findings = {{"two_cuda_releases", Severity::kRefuse, "two\nlines", {"torch-2.1", "a \"b\", {c}", ""}},
                            {"hygiene", Severity::kWarn, "", {}}}};
  farm.refused = {.evaluation = {1},
                  .ordinal = 1,
                  .id = "torch@cuda12.9",
                  .package = "torch",
                  .slice_json = "{}",
                  .cause = Cause::kUnfree,
                  .message = "has an unfree licence"};
}

void FillSteps(SampleFarm& farm) {
  farm.a = {kA, "Derive([(\"out\",\"\\\\\")])"};
  farm.b = {kB, std::string("any \0 byte\xff", 11)};
  farm.c = {kC, ""};
  farm.step_a = {
      .derivation = kA, .state = StepState::kRunning, .detail = {.failed_attempts = 2, .not_before = At(2)}};
  farm.step_b = {.derivation = kB, .state = StepState::kBlocked};
  farm.step_c = {.derivation = kC, .state = StepState::kSucceeded, .detail = {.held_by = "ours"}};
  farm.check = {.key = "k",
                .name = "gpu \"check\"",
                .output_path = kP,
                .environment_path = "",
                .command = {"python", "-c", "import torch; print(\"{a,b}\")", ""},
                .gpu = true,
                .wanted_architecture = "8.6",
                .timeout = absl::Seconds(90)};
}

void FillWork(SampleFarm& farm) {
  farm.worker = {.name = "w1",
                 .offer = {.systems = {"i686-linux", "x86_64-linux"},
                           .features = {"big-parallel", "cuda"},
                           .cores = 8,
                           .memory_bytes = int64_t{1} << 40,
                           .slots = 2,
                           .gpus = {{"GPU-2", "A \"100\"", "8.0", 80, "535.1", false},
                                    {"GPU-1", "sim", "8.6", 1, "", true}},
                           .version = "0.1.0",
                           .nix_version = "2.8.0"},
                 .drained_by_operator = true,
                 .seen_at = At(3)};
  farm.lease = {.attempt = {1},
                .token = {1},
                .subject = {.derivation = kA},
                .worker = "w1",
                .instance = "i1",
                .granted_at = At(4),
                .expires_at = At(34),
                .stage_at = At(4)};
  farm.info = {.path = kP,
               .compression = "zstd",
               .file_hash = "f1",
               .file_size = 10,
               .nar_hash = "n1",
               .nar_size = 20,
               .references = {kP, "/nix/store/rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr-glibc"},
               .deriver = kC,
               .content_address = "",
               .attempt = {7},
               .staged_at = At(5)};
  farm.channel = {.name = "demo-stable", .matrix = "demo", .evaluation = {1}, .revision = "r1", .at = At(6)};
}

}  // namespace

SampleFarm::SampleFarm() {
  FillMatrix(*this);
  FillSteps(*this);
  FillWork(*this);
  batch = {SaveMatrix{matrix, text},
           CreateEvaluation{evaluation},
           SaveDerivedList{derived_list},
           SaveVariants{{refused, good}},
           SaveDerivations{{a, b, c}},
           CreateSteps{{step_c, step_b, step_a}},
           CreateChecks{{check}},
           SaveWorker{worker},
           GrantLease{lease},
           StageNarInfo{info},
           MoveChannel{{}, channel}};
  recorded = {.matrices = {matrix},
              .texts = {text},
              .evaluations = {evaluation},
              .derived_lists = {derived_list},
              .variants = {good, refused},
              .derivations = {a, b, c},
              .steps = {step_a, step_b, step_c},
              .checks = {check},
              .live_attempts = {{lease, {}}},
              .narinfos = {info},
              .channels = {channel},
              .workers = {worker},
              .last_evaluation = {1},
              .last_attempt = {1},
              .last_token = {1}};
}

}  // namespace hydrant
