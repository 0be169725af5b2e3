// Reads one table of a TOML document strictly: an unknown key, a wrong type and a missing key are errors that
// name line, table and key. Knows nothing of what the keys mean.
#ifndef HYDRANT_LIB_MATRIX_TABLE_READER_H_
#define HYDRANT_LIB_MATRIX_TABLE_READER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "lib/matrix/toml_reader.h"

namespace hydrant {

// Keeps the first error of a document; later ones are dropped.
class ReadErrors {
 public:
  explicit ReadErrors(std::string_view file) : file_(file) {}

  // "FILE:LINE: message"
  void Add(int line, std::string_view message);
  const absl::Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }

 private:
  std::string file_;
  absl::Status status_;
};

// What a list of words may look like.
struct ListShape {
  bool may_be_empty = false;
  bool word_allowed = false;  // "x" stands for ["x"]
};

// Every Read… leaves *out as it is when the key is absent or wrong; what is wrong goes to `errors`. Node,
// known keys and errors must outlive the reader.
class TableReader {
 public:
  // `where` is how errors call the table: "[axes]". Complains at once of a key that is not in `known`; `hint`
  // ends that sentence.
  TableReader(const TomlNode& table, std::string where, std::vector<std::string> known, ReadErrors* errors,
              std::string_view hint = "");

  const TomlMember* Find(std::string_view key) const;
  void Require(std::string_view key);

  void ReadString(std::string_view key, std::string* out);  // never empty
  void ReadWord(std::string_view key, const std::vector<std::string>& allowed, std::string* out);
  void ReadBoolean(std::string_view key, bool* out);
  void ReadInteger(std::string_view key, int least, int most, int* out);
  void ReadDuration(std::string_view key, absl::Duration* out);  // above zero
  void ReadBytes(std::string_view key, uint64_t* out);           // above zero
  // No empty and no repeated words.
  void ReadStrings(std::string_view key, ListShape shape, std::vector<std::string>* out);
  // nullptr when absent or not a table; each table of [[key]].
  const TomlNode* ReadTable(std::string_view key);
  std::vector<const TomlNode*> ReadTables(std::string_view key);

  // "FILE:LINE: [where] key: message"
  void Fail(const TomlMember& member, std::string_view message);
  // The same at a line of its own: that of one item of a long list.
  void FailAt(int line, const TomlMember& member, std::string_view message);
  void FailType(const TomlMember& member, std::string_view expected, const TomlNode& found);

  const std::string& where() const { return where_; }
  const TomlNode& table() const { return table_; }
  ReadErrors* errors() const { return errors_; }

 private:
  const TomlMember* FindKind(std::string_view key, TomlNode::Kind kind, std::string_view expected);

  const TomlNode& table_;
  const std::string where_;
  ReadErrors* const errors_;
};

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_TABLE_READER_H_
