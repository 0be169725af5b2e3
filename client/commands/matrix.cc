#include "absl/strings/str_cat.h"
#include "client/commands/matrix_file.h"
#include "client/commands/verbs.h"
#include "client/format/lists.h"
#include "client/format/status_report.h"
#include "client/format/text.h"
#include "client/format/words.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {
namespace {

struct Expanded {
  MatrixFile file;
  Expansion expansion;
};

absl::StatusOr<Expanded> Expand(const std::string& path, const std::string& system) {
  Expanded expanded;
  HYDRANT_ASSIGN_OR_RETURN(expanded.file, ReadMatrixFile(path));
  absl::StatusOr<Expansion> expansion =
      ExpandMatrix(expanded.file.matrix, system.empty() ? LocalSystem() : system);
  if (!expansion.ok()) return Annotate(expansion.status(), path);
  expanded.expansion = *std::move(expansion);
  return expanded;
}

}  // namespace

absl::StatusOr<Exit> MatrixCheck(const MatrixFileOptions& options, Session& session) {
  for (const std::string& path : options.files) {
    HYDRANT_ASSIGN_OR_RETURN(const Expanded expanded, Expand(path, options.system));
    const Expansion& expansion = expanded.expansion;
    for (const std::string& glob : GlobsWithoutVariants(expanded.file.matrix, expansion)) {
      session.console().Err(absl::StrCat("hydrant: warning: ", Clean(path), ": ", Clean(glob), " matches no variant\n"));
    }
    int64_t excluded = 0, impossible = 0;
    for (const Variant& variant : expansion.variants) {
      if (variant.cause == Cause::kExcluded) ++excluded;
      if (variant.cause != Cause::kExcluded && variant.cause != Cause::kNone) ++impossible;
    }
    const auto variants = static_cast<int64_t>(expansion.variants.size());
    const auto slices = static_cast<int64_t>(expansion.slices.size());
    session.Print({.table =
                       [&] {
                         return absl::StrCat(Clean(path), ": ok: ", Clean(expanded.file.matrix.name), ", ",
                                             Count(variants, "variant"), " in ", Count(slices, "slice"), ", ",
                                             excluded, " excluded, ", impossible, " impossible by rule\n");
                       },
                   .json =
                       [&](JsonLayout layout) {
                         return ObjectJson({{"file", path},
                                            {"name", expanded.file.matrix.name},
                                            {"variants", variants},
                                            {"slices", slices},
                                            {"excluded", excluded},
                                            {"impossible", impossible}},
                                           layout);
                       }});
  }
  return Exit::kOk;
}

absl::StatusOr<Exit> MatrixShow(const MatrixFileOptions& options, Session& session) {
  HYDRANT_ASSIGN_OR_RETURN(const Expanded expanded, Expand(options.files.at(0), options.system));
  const std::string& name = expanded.file.matrix.name;
  const v1::GetStatusResponse status = StatusOfExpansion(expanded.file.matrix, expanded.expansion);
  session.Print({.table = [&] { return FormatStatus(name, status, session.clock().Now(), session.screen()); },
                 .json = [&](JsonLayout layout) { return StatusJson(name, status, layout); },
                 .markdown = [&] { return FormatMarkdownStatus(name, status); }});
  return Exit::kOk;
}

absl::StatusOr<Exit> MatrixApply(const MatrixFileOptions& options, Session& session) {
  for (const std::string& path : options.files) {
    HYDRANT_ASSIGN_OR_RETURN(const MatrixFile file, ReadMatrixFile(path));
    v1::ApplyMatrixRequest request;
    *request.mutable_text() = file.text;
    HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
    HYDRANT_ASSIGN_OR_RETURN(const v1::ApplyMatrixResponse applied, client->ApplyMatrix(request));
    session.Print({.table =
                       [&] {
                         return absl::StrCat("matrix ", Clean(applied.name()),
                                             applied.replaced() ? " replaced: " : " applied: ",
                                             Count(applied.variants(), "variant"), "\n");
                       },
                   .json =
                       [&](JsonLayout layout) {
                         return ObjectJson({{"name", applied.name()},
                                            {"variants", int64_t{applied.variants()}},
                                            {"replaced", applied.replaced()}},
                                           layout);
                       }});
  }
  return Exit::kOk;
}

absl::StatusOr<Exit> MatrixList(Session& session) {
  HYDRANT_ASSIGN_OR_RETURN(Client* const client, session.client());
  HYDRANT_ASSIGN_OR_RETURN(const v1::ListMatricesResponse matrices, client->ListMatrices({}));
  session.PrintTable(MatricesTable(matrices),
                     [&](JsonLayout layout) { return MatricesJson(matrices, layout); });
  return Exit::kOk;
}

}  // namespace hydrant::client
