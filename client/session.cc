#include "client/session.h"

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {

absl::StatusOr<Client*> Session::client() {
  if (!client_) {
    HYDRANT_ASSIGN_OR_RETURN(client_, options_.connect());
  }
  return client_.get();
}

void Session::Print(const Renderings& renderings) {
  switch (form()) {
    case OutputForm::kTable:
      console().Out(renderings.table());
      return;
    case OutputForm::kJson:
      console().Out(renderings.json(JsonLayout::kPretty));
      return;
    case OutputForm::kJsonl:
      console().Out(renderings.json(JsonLayout::kLines));
      return;
    case OutputForm::kMarkdown:
      console().Out(renderings.markdown ? renderings.markdown() : "```\n" + renderings.table() + "```\n");
      return;
  }
}

void Session::PrintTable(const Table& table, const std::function<std::string(JsonLayout)>& json) {
  Print({.table = [&] { return FormatTable(table, screen()); },
         .json = json,
         .markdown = [&] { return FormatMarkdownTable(table); }});
}

}  // namespace hydrant::client
