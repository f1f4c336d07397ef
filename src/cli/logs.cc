// trainyard logs: what a task wrote.
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/interrupt.h"
#include "cli/link.h"
#include "cli/select.h"
#include "model/spec.h"
#include "msg/cli.h"

namespace ty {
namespace {

constexpr Option kOptions[] = {
    {"-f,--follow", Option::Takes::kNothing, "", "cli.option_logs_follow"},
    {"--raw", Option::Takes::kNothing, "", "cli.option_raw"},
    {"--attempt", Option::Takes::kValue, "N", "cli.option_attempt"},
    {"--rank", Option::Takes::kValue, "N", "cli.option_rank"},
    {"--tail", Option::Takes::kValue, "N", "cli.option_tail"},
};

Result<LogChoice> ChoiceOf(const Invocation& invocation) {
  if (invocation.words.size() != 1) return Invalid(msg::CliNameOneTask{});
  AttemptChoice chosen = ChooseAttempt(invocation.words.front());
  LogChoice choice{.task = chosen.task,
                   .attempt = chosen.attempt,
                   .follow = invocation.Has("follow"),
                   .raw = invocation.Has("raw")};
  if (invocation.Has("attempt")) {
    auto number = ParseInt(invocation.Value("attempt"));
    if (!number || *number < 1 || *number > 1'000'000)
      return Invalid(msg::CliNumber{.option = "--attempt", .value = invocation.Value("attempt"), .least = 1});
    choice.attempt = static_cast<int>(*number);
  }
  if (invocation.Has("rank")) {
    if (invocation.Values("rank").size() > 1) return Invalid(msg::CliRankOnce{});
    auto rank = ParseInt(invocation.Value("rank"));
    if (!rank || *rank < 0 || *rank > 1'000'000)
      return Invalid(msg::CliNumber{.option = "--rank", .value = invocation.Value("rank"), .least = 0});
    choice.rank = static_cast<int>(*rank);
  }
  if (invocation.Has("tail")) {
    auto lines = ParseInt(invocation.Value("tail"));
    if (!lines || *lines < 0)
      return Invalid(msg::CliNumber{.option = "--tail", .value = invocation.Value("tail"), .least = 0});
    choice.tail = *lines;
  }
  return choice;
}

// A log that may be larger than memory, as one JSON text: it is read twice, first to see whether it is UTF-8
// (else it goes as base64) and where it ends, then to be written as it comes.
class JsonLog {
 public:
  JsonLog(Caller& caller, Link& link, LogChoice choice)
      : caller_(caller), link_(link), choice_(std::move(choice)) {}

  Status Print() {
    bool utf8 = true;
    std::string cut;  // the beginning of a character that goes on in the next block
    int64_t size = 0;
    choice_.take = [&](std::string_view bytes) {
      size += static_cast<int64_t>(bytes.size());
      cut += bytes;
      const size_t whole = cut.size() - UnfinishedIn(cut);
      utf8 = utf8 && IsUtf8(std::string_view(cut).substr(0, whole));
      cut.erase(0, whole);
    };
    choice_.take_gap = [&](const LogGap& gap) {
      gaps_.push_back(boost::json::object{
          {"from", gap.from}, {"to", gap.to}, {"why", gap.why == LogGap::Why::kLimit ? "limit" : "disk"}});
    };
    if (Status read = PrintLog(caller_, link_, choice_); !read) return read;
    return Write(utf8 && cut.empty(), size);
  }

 private:
  // How many bytes at the end may be the beginning of a character.
  static size_t UnfinishedIn(std::string_view bytes) {
    for (size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
      const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
      if (byte < 0x80) return 0;
      if (byte >= 0xC0) return back < (byte >= 0xF0 ? 4U : byte >= 0xE0 ? 3U : 2U) ? back : 0;
    }
    return 0;
  }

  // What came after the first reading is left out.
  Status Write(bool utf8, int64_t left) {
    caller_.Print("{\"task\":" + boost::json::serialize(boost::json::string(choice_.task)) +
                  ",\"log\":" + (utf8 ? "\"" : "{\"base64\":\""));
    std::string rest;  // what no three bytes were complete of
    choice_.take = [&](std::string_view bytes) {
      bytes = bytes.substr(0, static_cast<size_t>(left));
      left -= static_cast<int64_t>(bytes.size());
      if (utf8) return PrintEscaped(bytes);
      rest += bytes;
      const size_t whole = rest.size() / 3 * 3;
      caller_.Print(ToBase64(std::string_view(rest).substr(0, whole)));
      rest.erase(0, whole);
    };
    choice_.take_gap = [](const LogGap&) {};
    choice_.follow = false;
    if (Status read = PrintLog(caller_, link_, choice_); !read) return read;
    std::string end = ToBase64(rest) + (utf8 ? "\"" : "\"}");
    if (!gaps_.empty()) end += ",\"gaps\":" + boost::json::serialize(gaps_);
    if (choice_.rank) end += ",\"rank\":" + std::to_string(*choice_.rank);
    caller_.Print(end + "}\n");
    return {};
  }

  void PrintEscaped(std::string_view bytes) {
    const std::string quoted = boost::json::serialize(boost::json::string_view(bytes.data(), bytes.size()));
    caller_.Print(quoted.substr(1, quoted.size() - 2));
  }

  Caller& caller_;
  Link& link_;
  LogChoice choice_;
  boost::json::array gaps_;
};

int Logs(Caller& caller, const Invocation& invocation) {
  auto choice = ChoiceOf(invocation);
  if (!choice) return caller.Complain(choice.error());
  auto link = Link::Open(caller, Link::Need::kFind);
  if (!link) return caller.Complain(link.error());
  if (choice->follow) CatchInterrupts();
  if (caller.json) {
    Status printed = JsonLog(caller, *link, *choice).Print();
    return printed ? kDone : caller.Complain(printed.error());
  }
  Status printed = PrintLog(caller, *link, *choice);
  if (Interrupted()) return 130;
  return printed ? kDone : caller.Complain(printed.error());
}

}  // namespace

const Command kLogsCommand = {"logs", "ID", "cli.about_logs", kOptions, Logs};

}  // namespace ty
