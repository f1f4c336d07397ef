// trainyard submit: queues a task from a file, or many from a file of JSON lines.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "base/ids.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/link.h"
#include "cli/submit_task.h"
#include "cli/task_file.h"
#include "cli/task_request.h"
#include "model/spec.h"
#include "msg/cli.h"
#include "posix/files.h"

namespace ty {
namespace {

namespace json = boost::json;

constexpr size_t kMostBulk = 64 << 20;

constexpr Option kOwn[] = {
    {"--bulk", Option::Takes::kValue, "FILE.jsonl|-", "cli.option_bulk"},
};
constexpr auto kOptions = WithTaskOptions(kOwn);

Result<std::string> WholeInput(const std::string& name, size_t most) {
  if (name != "-") {
    SysResult<std::string> text = ReadFile(name, most);
    if (text) return std::move(*text);
    if (text.error() == EFBIG)
      return Invalid(msg::CliFileTooLarge{.file = name, .most = static_cast<int64_t>(most)});
    return Invalid(msg::CliFileUnreadable{.file = name, .why = strerror(text.error())});
  }
  std::string text;
  char block[65536];
  while (true) {
    ssize_t got = read(STDIN_FILENO, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Invalid(msg::CliFileUnreadable{.file = name, .why = strerror(errno)});
    if (got == 0) return text;
    text.append(block, static_cast<size_t>(got));
    if (text.size() > most)
      return Invalid(msg::CliFileTooLarge{.file = name, .most = static_cast<int64_t>(most)});
  }
}

// A line without a working folder gets the current one.
std::string WithWorkdir(const std::string& lines, const std::string& here) {
  std::string with = "\"workdir\":" + json::serialize(WordToJson(here)), out;
  out.reserve(lines.size());
  for (size_t start = 0; start < lines.size();) {
    size_t end = lines.find('\n', start);
    if (end == std::string::npos) end = lines.size();
    std::string_view line(lines.data() + start, end - start);
    size_t open = line.find_first_not_of(" \t\r");
    if (open != std::string_view::npos && line[open] == '{' &&
        line.find("\"workdir\"") == std::string_view::npos) {
      size_t next = line.find_first_not_of(" \t\r", open + 1);
      bool empty = next != std::string_view::npos && line[next] == '}';
      out += "{";
      out += with;
      if (!empty) out += ",";
      out += line.substr(open + 1);
    } else {
      out += line;
    }
    out += '\n';
    start = end + 1;
  }
  return out;
}

int SubmitBulk(Caller& caller, const Invocation& invocation) {
  if (!invocation.words.empty()) return caller.Complain({Code::kInvalid, msg::CliBulkAlone{}, {}});
  for (const auto& [option, values] : invocation.given) {
    bool fine =
        option == "bulk" || option == "quiet" || option == "json" || option == "lang" || option == "config";
    if (!fine) return caller.Complain({Code::kInvalid, msg::CliBulkOption{.option = "--" + option}, {}});
  }
  auto lines = WholeInput(invocation.Value("bulk"), kMostBulk);
  if (!lines) return caller.Complain(lines.error());
  std::string body = WithWorkdir(*lines, CurrentFolder());

  auto link = Link::Open(caller, Link::Need::kStart);
  if (!link) return caller.Complain(link.error());
  HttpRequest request;
  request.method = "POST";
  request.target = "/api/v1/tasks/bulk";
  request.type = "application/x-ndjson";
  request.body = body;
  request.timeout_s = 600;
  request.headers.emplace_back("Idempotency-Key", Ulid::Make(WallClock()).Text());
  auto reply = link->Ask(std::move(request));
  if (!reply) return caller.Complain(reply.error());
  if (caller.json) {
    caller.Print(reply->body + "\n");
    return kDone;
  }
  auto receipt = ParseAnswer(reply->body);
  if (!receipt) return caller.Complain(receipt.error());
  int64_t count = IntAt(*receipt, "count").value_or(0), first = IntAt(*receipt, "first").value_or(0),
          last = IntAt(*receipt, "last").value_or(0);
  if (invocation.Has("quiet")) {
    caller.Print(count == 1 ? std::to_string(first) + "\n"
                            : std::to_string(first) + "-" + std::to_string(last) + "\n");
  } else {
    caller.Say(
        msg::CliBulkQueued{.count = count, .first = std::to_string(first), .last = std::to_string(last)});
  }
  return kDone;
}

int Submit(Caller& caller, const Invocation& invocation) {
  if (invocation.Has("bulk")) return SubmitBulk(caller, invocation);
  auto refuse = [&](const Error& error) { return TroubleCode(invocation, caller.Complain(error)); };
  if (invocation.words.size() > 1)
    if (Status fine = CheckBraces(invocation, invocation.words); !fine) return refuse(fine.error());
  if (invocation.words.size() != 1) return refuse({Code::kInvalid, msg::CliSubmitOneFile{}, {}});
  const std::string& file = invocation.words.front();
  auto text = WholeInput(file, 1 << 20);
  if (!text) return refuse(text.error());
  std::string here = CurrentFolder();
  std::string folder = file == "-" ? here : ParentFolder(AbsolutePath(file, here));
  auto task = ParseTaskFile(*text, file, folder, here, WallClock());
  if (!task) return refuse(task.error());
  if (invocation.Has("workdir"))
    (*task)["workdir"] = WordToJson(AbsolutePath(invocation.Value("workdir"), here));
  if (Status applied = ApplyTaskOptions(invocation, WallClock(), *task); !applied)
    return refuse(applied.error());
  auto spec = ParseTaskSpec(json::object{{"command", (*task)["command"]}, {"workdir", (*task)["workdir"]}});
  if (!spec) return refuse(spec.error());
  if (Status good = CheckWorkdir(spec->workdir); !good) return refuse(good.error());
  // Its PATH is the yard's, which only the yard knows: a program without a slash is looked for at launch.
  if (Status good = CheckCommand(spec->argv, spec->workdir, "", 0); !good) return refuse(good.error());
  if (!task->contains("code")) RecordCode(spec->argv, spec->workdir, *task);
  return SubmitTask(caller, invocation, *task);
}

}  // namespace

const Command kSubmitCommand = {"submit", "FILE.yaml", "cli.about_submit", kOptions, Submit};

}  // namespace ty
