// Rows on their way into statements and out of results: one call a column, in the statement's order.
#ifndef HYDRANT_DAEMON_RECORD_POSTGRES_ROWS_H_
#define HYDRANT_DAEMON_RECORD_POSTGRES_ROWS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/graph/ids.h"
#include "daemon/record/postgres_text.h"
#include "lib/failure/cause.h"

struct pg_result;

namespace hydrant {

// Takes typed values as text. The first value that cannot be kept is the status: a text with a NUL or not
// UTF-8.
class RowWriter {
 public:
  virtual ~RowWriter() = default;
  RowWriter& Text(std::string_view value);
  RowWriter& TextOrNull(std::string_view value);  // empty: NULL
  RowWriter& Prose(std::string_view value);       // made clean, never refused
  RowWriter& Int(int64_t value);
  RowWriter& IntOrNull(int64_t value);  // 0: NULL
  RowWriter& Bool(bool value);
  RowWriter& Time(absl::Time value);
  RowWriter& TimeOrNull(absl::Time value, absl::Time null);
  RowWriter& Microseconds(absl::Duration value);
  RowWriter& Bytes(std::string_view value);
  RowWriter& List(const std::vector<std::string>& values);
  RowWriter& Why(Cause cause);  // kNone: NULL
  template <class Tag>
  RowWriter& Id(Number<Tag> id) {
    return IntOrNull(id.value);
  }

  const absl::Status& status() const { return status_; }

 protected:
  virtual void Put(std::optional<std::string> value) = 0;
  void Fail(const absl::Status& status) { status_.Update(status); }

 private:
  absl::Status status_;
};

// Each value is a parameter: $1, $2, …
class Parameters final : public RowWriter {
 public:
  const std::vector<std::optional<std::string>>& values() const { return values_; }

 protected:
  void Put(std::optional<std::string> value) override { values_.push_back(std::move(value)); }

 private:
  friend class Columns;
  std::vector<std::optional<std::string>> values_;
};

// Many rows of `width` values as one array a column, for unnest().
class Columns final : public RowWriter {
 public:
  explicit Columns(size_t width) : columns_(width) {}
  void MoveTo(Parameters& parameters);  // each column is one parameter

 protected:
  void Put(std::optional<std::string> value) override;

 private:
  std::vector<ArrayText> columns_;
  size_t next_ = 0;
};

// What a statement answered; owns it.
class PostgresRows {
 public:
  explicit PostgresRows(pg_result* result);
  int size() const;
  int64_t affected() const;      // rows that it inserted, updated or deleted
  std::string_view tag() const;  // "COMMIT"
  std::optional<std::string_view> At(int row, int column) const;

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

// One row, column by column. The first value that cannot be read is the status, and it and all after it read
// as empty.
class RowReader {
 public:
  RowReader(const PostgresRows& rows, int row) : rows_(rows), row_(row) {}
  std::string Text();  // NULL: empty
  int64_t Int();       // NULL: 0
  bool Bool();
  absl::Time Time();
  absl::Time TimeOr(absl::Time null);
  absl::Duration Microseconds();
  std::string Bytes();
  std::vector<std::string> List();
  Cause Why();
  template <class Tag>
  void Id(Number<Tag>& id) {
    id.value = Int();
  }
  // A word that `parse` knows.
  template <class State>
  State Word(std::optional<State> (*parse)(std::string_view)) {
    const std::string word = Text();
    const std::optional<State> state = parse(word);
    if (!state.has_value()) Fail(word);
    return state.value_or(State{});
  }

  const absl::Status& status() const { return status_; }

 private:
  void Fail(std::string_view value);
  template <class T>
  T Parsed(absl::StatusOr<T> (*parse)(std::string_view), T null);
  const PostgresRows& rows_;
  int row_;
  int column_ = 0;
  absl::Status status_;
};

// `read` of every row.
template <class T>
absl::StatusOr<std::vector<T>> ReadRows(const PostgresRows& rows, T (*read)(RowReader&)) {
  std::vector<T> result;
  result.reserve(rows.size());
  for (int i = 0; i < rows.size(); ++i) {
    RowReader reader(rows, i);
    result.push_back(read(reader));
    if (!reader.status().ok()) return reader.status();
  }
  return result;
}

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_RECORD_POSTGRES_ROWS_H_
