// narinfo, channel.
#include <optional>

#include "absl/strings/str_cat.h"
#include "daemon/record/narinfo_state.h"
#include "daemon/record/postgres_changes.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

void WriteNarInfo(const NarInfoRecord& info, RowWriter& row) {
  row.Text(info.path)
      .Text(NarInfoStateName(info.state))
      .Text(NarInfoTierName(info.tier))
      .Text(info.compression)
      .Text(info.file_hash)
      .Int(info.file_size)
      .Text(info.nar_hash)
      .Int(info.nar_size)
      .List(info.references)
      .Text(info.deriver)
      .Text(info.content_address)
      .List(info.signatures)
      .Id(info.attempt)
      .Time(info.staged_at)
      .TimeOrNull(info.published_at, absl::InfiniteFuture());
}

NarInfoRecord ReadNarInfo(RowReader& row) {
  NarInfoRecord info;
  info.path = row.Text();
  info.state = row.Word(&ParseNarInfoState);
  info.tier = row.Word(&ParseNarInfoTier);
  info.compression = row.Text();
  info.file_hash = row.Text();
  info.file_size = row.Int();
  info.nar_hash = row.Text();
  info.nar_size = row.Int();
  info.references = row.List();
  info.deriver = row.Text();
  info.content_address = row.Text();
  info.signatures = row.List();
  row.Id(info.attempt);
  info.staged_at = row.Time();
  info.published_at = row.TimeOr(absl::InfiniteFuture());
  return info;
}

ChannelRecord ReadChannel(RowReader& row) {
  ChannelRecord channel;
  channel.name = row.Text();
  channel.matrix = row.Text();
  row.Id(channel.evaluation);
  channel.revision = row.Text();
  channel.at = row.Time();
  return channel;
}

}  // namespace

absl::Status Apply(PostgresSession& session, const StageNarInfo& change) {
  Parameters row;
  WriteNarInfo(change.info, row);
  return ExecuteGuarded(session, "stage_narinfo", row, change.info.path, "is staged or published already");
}

absl::Status Apply(PostgresSession& session, const PublishNarInfos& change) {
  for (const auto& piece : Pieces(change.entries, &PublishNarInfos::Entry::path)) {
    Columns columns(3);
    std::vector<std::string> keys;
    for (const PublishNarInfos::Entry& entry : piece) {
      columns.Text(entry.path).List(entry.signatures).Text(NarInfoTierName(entry.tier));
      keys.push_back(entry.path);
    }
    Parameters rows;
    columns.MoveTo(rows);
    rows.Time(change.at);
    HYDRANT_RETURN_IF_ERROR(ExecuteForAll(session, "publish_narinfos", rows, keys, "is not staged"));
  }
  return absl::OkStatus();
}

absl::Status Apply(PostgresSession& session, const OpenNarInfos& change) {
  Parameters row;
  row.List(change.paths);
  return ExecuteForAll(session, "open_narinfos", row, change.paths, "is not held");
}

absl::Status Apply(PostgresSession& session, const MoveChannel& change) {
  const ChannelRecord& channel = change.channel;
  Parameters row;
  row.Text(channel.name).Text(channel.matrix).Id(channel.evaluation).Text(channel.revision).Time(channel.at);
  if (!change.from) return ExecuteGuarded(session, "create_channel", row, channel.name, "is there already");
  row.Id(change.from);
  return ExecuteGuarded(session, "move_channel", row, channel.name,
                        absl::StrCat("is not at evaluation ", change.from.value, ", or ",
                                     channel.evaluation.value, " is not newer"));
}

absl::Status LoadCache(PostgresSession& session, Recorded& recorded) {
  HYDRANT_ASSIGN_OR_RETURN(recorded.narinfos, LoadRows(session, "load_narinfos", {}, &ReadNarInfo));
  HYDRANT_ASSIGN_OR_RETURN(recorded.channels, LoadRows(session, "load_channels", {}, &ReadChannel));
  return absl::OkStatus();
}

}  // namespace hydrant
