#include "lib/rpc/toml_message.h"

#include <google/protobuf/descriptor.h>
#include <toml++/toml.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/nearest_word.h"

namespace hydrant::rpc {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::string_view Found(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a float";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

// Reads one text. `where` is the table's name as a person writes it: "[nix]", "[[gpu]]", "" at the top.
class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  absl::Status ReadTable(const toml::table& table, const std::string& where, Message* message) {
    for (const auto& [key, node] : table) {
      const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(std::string(key.str()));
      if (field == nullptr) return UnknownKey(key, where, *message->GetDescriptor());
      HYDRANT_RETURN_IF_ERROR(ReadField(node, where, field, message));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Error(const toml::node& node, std::string_view what) {
    return Error(node.source().begin.line, what);
  }
  absl::Status Error(uint32_t line, std::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(AbslView(file_), ":", line, ": ", AbslView(what)));
  }

  absl::Status UnknownKey(const toml::key& key, const std::string& where, const Descriptor& descriptor) {
    std::vector<std::string> known;
    for (int i = 0; i < descriptor.field_count(); ++i) known.push_back(descriptor.field(i)->name());
    return Error(
        key.source().begin.line,
        absl::StrCat(where.empty() ? "the top level" : where, " has no key '", std::string(key.str()), "'",
                     NearestHint(key.str(), known), " (known: ", absl::StrJoin(known, ", "), ")"));
  }

  absl::Status WrongType(const toml::node& node, const std::string& name, std::string_view expected) {
    return Error(node,
                 absl::StrCat(name, ": expected ", AbslView(expected), ", found ", AbslView(Found(node))));
  }

  absl::Status ReadField(const toml::node& node, const std::string& where, const FieldDescriptor* field,
                         Message* message) {
    const std::string name = absl::StrCat(where, where.empty() ? "" : " ", field->name());
    if (!field->is_repeated()) return ReadValue(node, name, where, field, message);
    const toml::array* array = node.as_array();
    if (array == nullptr) {
      const bool tables = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
      return WrongType(node, name,
                       tables ? absl::StrCat("an array of tables, [[", field->name(), "]]") : "an array");
    }
    for (const toml::node& element : *array) {
      HYDRANT_RETURN_IF_ERROR(ReadValue(element, name, where, field, message));
    }
    return absl::OkStatus();
  }

  // Sets the field, or appends to it when it is repeated.
  absl::Status ReadValue(const toml::node& node, const std::string& name, const std::string& where,
                         const FieldDescriptor* field, Message* message) {
    const Reflection* reflection = message->GetReflection();
    const bool append = field->is_repeated();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return ReadSubtable(node, name, where, field, message);
      case FieldDescriptor::CPPTYPE_STRING: {
        const auto value = node.value_exact<std::string>();
        if (!value) return WrongType(node, name, "a string");
        append ? reflection->AddString(message, field, *value)
               : reflection->SetString(message, field, *value);
        return absl::OkStatus();
      }
      case FieldDescriptor::CPPTYPE_BOOL: {
        const auto value = node.value_exact<bool>();
        if (!value) return WrongType(node, name, "true or false");
        append ? reflection->AddBool(message, field, *value) : reflection->SetBool(message, field, *value);
        return absl::OkStatus();
      }
      case FieldDescriptor::CPPTYPE_INT32: {
        HYDRANT_ASSIGN_OR_RETURN(const int64_t value, Integer<int32_t>(node, name));
        const auto narrow = static_cast<int32_t>(value);
        append ? reflection->AddInt32(message, field, narrow) : reflection->SetInt32(message, field, narrow);
        return absl::OkStatus();
      }
      case FieldDescriptor::CPPTYPE_INT64: {
        HYDRANT_ASSIGN_OR_RETURN(const int64_t value, Integer<int64_t>(node, name));
        append ? reflection->AddInt64(message, field, value) : reflection->SetInt64(message, field, value);
        return absl::OkStatus();
      }
      default:
        return absl::UnimplementedError(
            absl::StrCat(name, ": TOML is not read into ", field->cpp_type_name()));
    }
  }

  template <typename Int>
  absl::StatusOr<int64_t> Integer(const toml::node& node, const std::string& name) {
    const auto value = node.value_exact<int64_t>();
    if (!value) return WrongType(node, name, "an integer");
    using Limits = std::numeric_limits<Int>;
    if (*value < Limits::min() || *value > Limits::max()) {
      return Error(node, absl::StrCat(name, ": ", *value, " is out of range (", Limits::min(), " to ",
                                      Limits::max(), ")"));
    }
    return *value;
  }

  absl::Status ReadSubtable(const toml::node& node, const std::string& name, const std::string& where,
                            const FieldDescriptor* field, Message* message) {
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      return WrongType(node, name, absl::StrCat("a table, ", Header(where, field)));
    }
    Message* child = field->is_repeated() ? message->GetReflection()->AddMessage(message, field)
                                          : message->GetReflection()->MutableMessage(message, field);
    return ReadTable(*table, Header(where, field), child);
  }

  static std::string Header(std::string_view where, const FieldDescriptor* field) {
    while (!where.empty() && where.front() == '[') where.remove_prefix(1);
    while (!where.empty() && where.back() == ']') where.remove_suffix(1);
    const std::string path =
        where.empty() ? field->name() : absl::StrCat(AbslView(where), ".", field->name());
    return field->is_repeated() ? absl::StrCat("[[", path, "]]") : absl::StrCat("[", path, "]");
  }

  const std::string_view file_;
};

std::string Quote(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      absl::StrAppend(&quoted, "\\", std::string(1, c));
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      absl::StrAppendFormat(&quoted, "\\u%04X", c);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

// A scalar field, or element `index` of a repeated one.
std::string PrintScalar(const Message& message, const FieldDescriptor* field, int index) {
  const Reflection* reflection = message.GetReflection();
  const bool repeated = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return Quote(repeated ? reflection->GetRepeatedString(message, field, index)
                            : reflection->GetString(message, field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return (repeated ? reflection->GetRepeatedBool(message, field, index)
                       : reflection->GetBool(message, field))
                 ? "true"
                 : "false";
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(repeated ? reflection->GetRepeatedInt32(message, field, index)
                                   : reflection->GetInt32(message, field));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(repeated ? reflection->GetRepeatedInt64(message, field, index)
                                   : reflection->GetInt64(message, field));
    default:
      return "\"\"";
  }
}

bool IsSet(const Message& message, const FieldDescriptor* field) {
  return field->is_repeated() ? message.GetReflection()->FieldSize(message, field) > 0
                              : message.GetReflection()->HasField(message, field);
}

std::string PrintArray(const Message& message, const FieldDescriptor* field) {
  std::vector<std::string> elements;
  for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i) {
    elements.push_back(PrintScalar(message, field, i));
  }
  return absl::StrCat("[", absl::StrJoin(elements, ", "), "]");
}

void PrintTable(const Message& message, const std::string& path, std::string* out);

void PrintSubtables(const Message& message, const FieldDescriptor* field, const std::string& path,
                    std::string* out) {
  const Reflection* reflection = message.GetReflection();
  if (!field->is_repeated()) {
    absl::StrAppend(out, out->empty() ? "" : "\n", "[", path, "]\n");
    PrintTable(reflection->GetMessage(message, field), path, out);
    return;
  }
  for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
    absl::StrAppend(out, out->empty() ? "" : "\n", "[[", path, "]]\n");
    PrintTable(reflection->GetRepeatedMessage(message, field, i), path, out);
  }
}

// Values before tables: a value after a table's header would be the table's.
void PrintTable(const Message& message, const std::string& path, std::string* out) {
  const Descriptor* descriptor = message.GetDescriptor();
  for (const bool tables : {false, true}) {
    for (int i = 0; i < descriptor->field_count(); ++i) {
      const FieldDescriptor* field = descriptor->field(i);
      if ((field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) != tables || !IsSet(message, field))
        continue;
      if (tables) {
        PrintSubtables(message, field, path.empty() ? field->name() : absl::StrCat(path, ".", field->name()),
                       out);
      } else {
        absl::StrAppend(out, field->name(), " = ",
                        field->is_repeated() ? PrintArray(message, field) : PrintScalar(message, field, 0),
                        "\n");
      }
    }
  }
}

}  // namespace

absl::Status ReadTomlMessage(std::string_view text, std::string_view file, Message* message) {
  message->Clear();
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(AbslView(file), ":", error.source().begin.line, ": ", AbslView(error.description())));
  }
  return Reader(file).ReadTable(table, "", message);
}

std::string PrintTomlMessage(const Message& message) {
  std::string out;
  PrintTable(message, "", &out);
  return out;
}

}  // namespace hydrant::rpc
