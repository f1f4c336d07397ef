#include "cli/receipt.h"

#include <algorithm>
#include <boost/json.hpp>
#include <vector>

#include "base/text.h"
#include "cli/answer.h"
#include "msg/receipt.h"

namespace ty {
namespace {

namespace json = boost::json;

struct Row {
  std::string title, text;
};

std::string Lines(const std::vector<Row>& rows) {
  int wide = 0;
  for (const Row& row : rows) wide = std::max(wide, DisplayWidth(row.title));
  std::string text;
  for (const Row& row : rows)
    text += "  " + row.title + std::string(static_cast<size_t>(wide - DisplayWidth(row.title)) + 2, ' ') +
            row.text + "\n";
  return text;
}

}  // namespace

void PrintReceipt(const Caller& caller, const json::value& receipt, bool to_stderr) {
  std::string id = std::to_string(IntAt(receipt, "id").value_or(0));
  Message head = msg::ReceiptQueued{.task = id, .name = TextAt(receipt, "name")};
  if (FlagAt(receipt, "repeated")) head = msg::ReceiptRepeated{.task = id, .name = TextAt(receipt, "name")};
  std::string text = caller.Words(head) + "\n";

  std::vector<Row> rows;
  const json::value* summary = At(receipt, "summary");
  auto add = [&](const Message& title, std::string words) {
    if (!words.empty()) rows.push_back({caller.Words(title), Printable(words)});
  };
  if (summary) {
    add(msg::ReceiptTitleDevices{}, WordsAt(*summary, "devices"));
    add(msg::ReceiptTitleEnvironment{}, WordsAt(*summary, "environment"));
    std::string starts = WordsAt(*summary, "starts");
    add(msg::ReceiptTitleStarts{}, starts.empty() ? caller.Words(msg::ReceiptStartsNow{}) : starts);
    add(msg::ReceiptTitleRetry{}, WordsAt(*summary, "retry"));
    add(msg::ReceiptTitleSurvival{}, WordsAt(*summary, "survival"));
  }
  add(msg::ReceiptTitleOut{}, TextAt(receipt, "out_folder"));
  text += Lines(rows);
  std::string follow = Lines({{caller.Words(msg::ReceiptTitleFollow{}), "trainyard logs -f " + id}});

  if (to_stderr) {
    caller.PrintError(text);
  } else if (caller.out_is_terminal) {
    caller.Print(text + follow);
  } else {
    caller.Print(text);
    caller.PrintError(follow);
  }
}

}  // namespace ty
