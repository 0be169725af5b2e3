// finding.
#include <algorithm>
#include <map>
#include <utility>

#include "daemon/audit/severity.h"
#include "daemon/record/postgres_changes.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

using Key = std::pair<EvaluationId, std::string>;  // of a variant

struct FindingRow {
  Key variant;
  Finding finding;
};

constexpr size_t kFindingWidth = 7;

FindingRow ReadFinding(RowReader& row) {
  FindingRow read;
  row.Id(read.variant.first);
  read.variant.second = row.Text();
  read.finding.rule = row.Text();
  read.finding.severity = row.Word(&ParseSeverity);
  read.finding.message = row.Text();
  read.finding.path = row.List();
  return read;
}

}  // namespace

absl::Status SaveFindings(PostgresSession& session, std::span<const VariantRecord> variants) {
  Columns keys(2), rows(kFindingWidth);
  bool any = false;
  for (const VariantRecord& variant : variants) {
    keys.Id(variant.evaluation).Text(variant.id);
    int place = 0;
    for (const Finding& finding : variant.findings) {
      any = true;
      rows.Id(variant.evaluation)
          .Text(variant.id)
          .Int(place++)
          .Text(finding.rule)
          .Text(SeverityName(finding.severity))
          .Prose(finding.message)
          .List(finding.path);
    }
  }
  Parameters forgotten;
  keys.MoveTo(forgotten);
  HYDRANT_RETURN_IF_ERROR(session.Execute("forget_findings", forgotten).status());
  if (!any) return absl::OkStatus();
  Parameters saved;
  rows.MoveTo(saved);
  return session.Execute("save_findings", saved).status();
}

absl::Status LoadFindings(PostgresSession& session, const Parameters& evaluations,
                          std::vector<VariantRecord>& variants) {
  HYDRANT_ASSIGN_OR_RETURN(std::vector<FindingRow> rows,
                           LoadRows(session, "load_findings", evaluations, &ReadFinding));
  if (rows.empty()) return absl::OkStatus();
  std::map<Key, VariantRecord*> by_key;
  for (VariantRecord& variant : variants) by_key[{variant.evaluation, variant.id}] = &variant;
  for (FindingRow& row : rows) by_key.at(row.variant)->findings.push_back(std::move(row.finding));
  return absl::OkStatus();
}

}  // namespace hydrant
