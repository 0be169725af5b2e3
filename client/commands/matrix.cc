#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/commands/matrix_file.h"
#include "client/commands/verbs.h"
#include "client/format/lists.h"
#include "client/format/status_report.h"
#include "client/format/text.h"
#include "client/format/words.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/notes.h"

namespace hydrant::client {
namespace {

struct Expanded {
  MatrixFile file;
  Expansion expansion;
};

// What to do with a package list that only an evaluation can tell.
enum class Derived { kSlicesOnly, kRefused };

absl::StatusOr<Expanded> Expand(const std::string& path, const std::string& system, Derived derived) {
  Expanded expanded;
  HYDRANT_ASSIGN_OR_RETURN(expanded.file, ReadMatrixFile(path));
  const std::string local = system.empty() ? LocalSystem() : system;
  const bool slices_only = derived == Derived::kSlicesOnly;
  absl::StatusOr<Expansion> expansion = slices_only ? ExpandDerivedMatrix(expanded.file.matrix, local, {})
                                                    : ExpandMatrix(expanded.file.matrix, local);
  if (!expansion.ok()) return Annotate(expansion.status(), path);
  expanded.expansion = *std::move(expansion);
  return expanded;
}

std::vector<std::string> PrintNotes(const std::string& path, const Expanded& expanded, Session& session) {
  const std::vector<std::string> notes = NotesOf(expanded.file.matrix, expanded.expansion);
  for (const std::string& note : notes)
    session.console().Err(absl::StrCat("hydrant: note: ", Clean(path), ": ", Clean(note), "\n"));
  return notes;
}

struct Counts {
  int64_t variants = 0, slices = 0, excluded = 0, impossible = 0;
};

Counts CountsOf(const Expansion& expansion) {
  Counts counts = {.variants = static_cast<int64_t>(expansion.variants.size()),
                   .slices = static_cast<int64_t>(expansion.slices.size())};
  for (const Variant& variant : expansion.variants) {
    if (variant.cause == Cause::kExcluded) ++counts.excluded;
    if (variant.cause != Cause::kExcluded && variant.cause != Cause::kNone) ++counts.impossible;
  }
  return counts;
}

std::string CheckedText(const Matrix& matrix, const Counts& counts) {
  if (matrix.derived) {
    return absl::StrCat(Clean(matrix.name), ", ", Count(counts.slices, "slice"), "; which packages ",
                        matrix.derived->changed_by, " changes (filter ",
                        Clean(absl::StrJoin(matrix.derived->filter, " ")), ") needs an evaluation");
  }
  return absl::StrCat(Clean(matrix.name), ", ", Count(counts.variants, "variant"), " in ",
                      Count(counts.slices, "slice"), ", ", counts.excluded, " excluded, ", counts.impossible,
                      " impossible by rule");
}

}  // namespace

absl::StatusOr<Exit> MatrixCheck(const MatrixFileOptions& options, Session& session) {
  for (const std::string& path : options.files) {
    HYDRANT_ASSIGN_OR_RETURN(const Expanded expanded, Expand(path, options.system, Derived::kSlicesOnly));
    const Matrix& matrix = expanded.file.matrix;
    for (const std::string& glob : GlobsWithoutVariants(matrix, expanded.expansion)) {
      session.console().Err(
          absl::StrCat("hydrant: warning: ", Clean(path), ": ", Clean(glob), " matches no variant\n"));
    }
    const std::vector<std::string> notes = PrintNotes(path, expanded, session);
    const Counts counts = CountsOf(expanded.expansion);
    session.Print(
        {.table = [&] { return absl::StrCat(Clean(path), ": ok: ", CheckedText(matrix, counts), "\n"); },
         .json =
             [&](JsonLayout layout) {
               return ObjectJson({{"file", path},
                                  {"name", matrix.name},
                                  {"variants", counts.variants},
                                  {"slices", counts.slices},
                                  {"excluded", counts.excluded},
                                  {"impossible", counts.impossible},
                                  {"needs_evaluation", matrix.derived.has_value()},
                                  {"notes", notes}},
                                 layout);
             }});
  }
  return Exit::kOk;
}

absl::StatusOr<Exit> MatrixShow(const MatrixFileOptions& options, Session& session) {
  HYDRANT_ASSIGN_OR_RETURN(const Expanded expanded,
                           Expand(options.files.at(0), options.system, Derived::kRefused));
  PrintNotes(options.files.at(0), expanded, session);
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
                                             file.matrix.derived ? "each evaluation derives its packages"
                                                                 : Count(applied.variants(), "variant"),
                                             "\n");
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
