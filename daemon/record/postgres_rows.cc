#include "daemon/record/postgres_rows.h"

#include <libpq-fe.h>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "daemon/record/utf8.h"
#include "lib/base/status_macros.h"

namespace hydrant {

RowWriter& RowWriter::Text(std::string_view value) {
  if (!IsCleanUtf8(value)) {
    Fail(absl::InvalidArgumentError(
        absl::StrCat("\"", absl::CHexEscape(AbslView(value.substr(0, 80))), "\" is not UTF-8 without NUL")));
    value = "";
  }
  Put(std::string(value));
  return *this;
}

RowWriter& RowWriter::TextOrNull(std::string_view value) {
  if (!value.empty()) return Text(value);
  Put(std::nullopt);
  return *this;
}

RowWriter& RowWriter::Prose(std::string_view value) {
  Put(CleanUtf8(value));
  return *this;
}

RowWriter& RowWriter::Int(int64_t value) {
  Put(absl::StrCat(value));
  return *this;
}

RowWriter& RowWriter::IntOrNull(int64_t value) {
  if (value != 0) return Int(value);
  Put(std::nullopt);
  return *this;
}

RowWriter& RowWriter::Bool(bool value) {
  Put(value ? "t" : "f");
  return *this;
}

RowWriter& RowWriter::Time(absl::Time value) {
  Put(TimeText(value));
  return *this;
}

RowWriter& RowWriter::TimeOrNull(absl::Time value, absl::Time null) {
  if (value != null) return Time(value);
  Put(std::nullopt);
  return *this;
}

RowWriter& RowWriter::Microseconds(absl::Duration value) { return Int(absl::ToInt64Microseconds(value)); }

RowWriter& RowWriter::Bytes(std::string_view value) {
  Put(BytesText(value));
  return *this;
}

RowWriter& RowWriter::List(const std::vector<std::string>& values) { return Text(ArrayOf(values)); }

RowWriter& RowWriter::Why(Cause cause) { return TextOrNull(CauseName(cause)); }

void Columns::Put(std::optional<std::string> value) {
  ArrayText& column = columns_[next_];
  next_ = (next_ + 1) % columns_.size();
  if (value.has_value()) {
    column.Add(*value);
  } else {
    column.AddNull();
  }
}

void Columns::MoveTo(Parameters& parameters) {
  parameters.Fail(status());
  for (ArrayText& column : columns_) parameters.Put(column.Take());
}

PostgresRows::PostgresRows(pg_result* result) : result_(result) {}

void PostgresRows::Clear::operator()(pg_result* result) const { PQclear(result); }

int PostgresRows::size() const { return PQntuples(result_.get()); }

int64_t PostgresRows::affected() const {
  int64_t count = 0;
  return absl::SimpleAtoi(PQcmdTuples(result_.get()), &count) ? count : 0;
}

std::string_view PostgresRows::tag() const { return PQcmdStatus(result_.get()); }

std::optional<std::string_view> PostgresRows::At(int row, int column) const {
  if (PQgetisnull(result_.get(), row, column)) return std::nullopt;
  return std::string_view(PQgetvalue(result_.get(), row, column), PQgetlength(result_.get(), row, column));
}

template <class T>
T RowReader::Parsed(absl::StatusOr<T> (*parse)(std::string_view), T null) {
  const std::optional<std::string_view> value = rows_.At(row_, column_++);
  if (!value.has_value()) return null;
  absl::StatusOr<T> parsed = parse(*value);
  if (parsed.ok()) return *std::move(parsed);
  Fail(*value);
  return null;
}

void RowReader::Fail(std::string_view value) {
  status_.Update(absl::InternalError(absl::StrCat("read column ", column_, " of a row: unexpected value \"",
                                                  AbslView(value.substr(0, 80)), "\"")));
}

std::string RowReader::Text() { return std::string(rows_.At(row_, column_++).value_or("")); }

int64_t RowReader::Int() {
  const std::optional<std::string_view> value = rows_.At(row_, column_++);
  int64_t number = 0;
  if (value.has_value() && !absl::SimpleAtoi(AbslView(*value), &number)) Fail(*value);
  return number;
}

bool RowReader::Bool() { return rows_.At(row_, column_++) == "t"; }

absl::Time RowReader::Time() { return TimeOr(absl::Time()); }

absl::Time RowReader::TimeOr(absl::Time null) { return Parsed<absl::Time>(&ParseTimeText, null); }

absl::Duration RowReader::Microseconds() { return absl::Microseconds(Int()); }

std::string RowReader::Bytes() { return Parsed<std::string>(&ParseBytes, ""); }

std::vector<std::string> RowReader::List() { return Parsed<std::vector<std::string>>(&ParseArray, {}); }

Cause RowReader::Why() {
  const std::string word = Text();
  if (word.empty()) return Cause::kNone;
  const std::optional<Cause> cause = ParseCause(word);
  if (!cause.has_value()) Fail(word);
  return cause.value_or(Cause::kUnknown);
}

}  // namespace hydrant
