#include "cli/link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include <boost/json.hpp>

#include "cli/answer.h"
#include "cli/besides.h"
#include "cli/interrupt.h"
#include "cli/start.h"
#include "msg/cli.h"
#include "posix/files.h"

namespace ty {
namespace {

namespace json = boost::json;

constexpr int kBackWait_ms = 60'000;
constexpr int kMostTries = 5;  // a request that ends the daemon each time is not sent for ever

bool NobodyListens(int error) {
  return error == ENOENT || error == ECONNREFUSED || error == ENOTDIR;
}

Error CannotReach(const Caller& caller, int error) {
  if (error == EPERM) return {Code::kUnavailable, msg::CliSocketOfOther{.socket = caller.state.Socket()}, {}};
  return {
      Code::kUnavailable, msg::CliUnreachable{.socket = caller.state.Socket(), .why = strerror(error)}, {}};
}

Error DownError(const Caller& caller) {
  if (auto since = DownSince(caller.state))
    return {Code::kUnavailable, msg::CliDownSince{.since = *since}, {}};
  return {Code::kUnavailable, msg::CliNoYard{.home = caller.state.home}, {}};
}

Code CodeOf(std::string_view name) {
  if (name == "invalid") return Code::kInvalid;
  if (name == "not_found") return Code::kNotFound;
  if (name == "conflict") return Code::kConflict;
  return Code::kInternal;  // a yard that answers is reachable: not exit 4
}

}  // namespace

Result<json::value> ParseAnswer(std::string_view text) {
  boost::system::error_code problem;
  json::value value = json::parse(json::string_view(text.data(), text.size()), problem);
  if (problem) return Fail(Code::kInternal, msg::CliBadAnswer{.what = problem.message()});
  return value;
}

Error ErrorOfProblem(const json::value& problem) {
  std::string text = TextAt(problem, "detail");
  if (text.empty()) text = TextAt(problem, "title");
  // A bulk says which line; why is told by the problems inside. Else the first of them is this one.
  Error error;
  std::vector<std::string> besides;
  for (const json::value& cause : ItemsAt(problem, "errors")) besides.push_back(TextAt(cause, "detail"));
  if (!besides.empty()) {
    if (besides.front() != text) text += " " + besides.front();
    besides.erase(besides.begin());
  }
  // A yard without room on its disk is there and answers: another moment, not another place.
  const bool no_room = IntAt(problem, "status").value_or(0) == 507;
  error.code = no_room ? Code::kConflict : CodeOf(TextAt(problem, "code"));
  error.field = TextAt(problem, "field");
  error.message = msg::CliText{.text = text};
  for (std::string& one : besides) error.message.args.emplace_back(kBesides, std::move(one));
  return error;
}

Result<Link> Link::Open(Caller& caller, Need need) {
  if (caller.state.home.empty()) return Fail(Code::kInvalid, msg::CliNoHome{});
  SysResult<HttpLine> line = HttpLine::Open(caller.state.Socket());
  if (line) return Link(caller, need, std::move(*line));
  if (!NobodyListens(line.error())) return tl::unexpected(CannotReach(caller, line.error()));

  if (need == Need::kThere) return tl::unexpected(DownError(caller));
  if (need == Need::kFind) {
    // A yard that was never taken down but does not answer has crashed, or the machine was started again:
    // its tasks wait for it.
    if (DownSince(caller.state) || !Exists(caller.state.Database())) return tl::unexpected(DownError(caller));
  }
  StartOptions options = KeptStartOptions(caller.state);
  auto started = StartYard(caller, options);
  if (!started) return Forward(started.error());
  if (need == Need::kFind) caller.Note(msg::CliStartsAgain{});
  ClearDownMark(caller.state);
  line = HttpLine::Open(caller.state.Socket());
  if (!line) return tl::unexpected(CannotReach(caller, line.error()));
  return Link(caller, need, std::move(*line));
}

Status Link::Reconnect() {
  // A line that was only idle too long is opened again without a word.
  if (auto line = HttpLine::Open(caller_->state.Socket())) {
    line_ = std::move(*line);
    return {};
  }
  // It was ending just as this command began.
  if (!answered_) {
    auto again = Open(*caller_, need_);
    if (!again) return Forward(again.error());
    line_ = std::move(again->line_);
    return {};
  }
  caller_->Note(msg::CliYardLost{});
  constexpr int kStep_ms = 50;
  for (int waited = 0; waited < kBackWait_ms && !Interrupted(); waited += kStep_ms) {
    if (auto line = HttpLine::Open(caller_->state.Socket())) {
      line_ = std::move(*line);
      caller_->Note(msg::CliYardBack{});
      return {};
    }
    if (DownSince(caller_->state)) return tl::unexpected(DownError(*caller_));
    if (!Exists(caller_->state.home))
      return Fail(Code::kUnavailable, msg::CliHomeGone{.home = caller_->state.home});
    poll(nullptr, 0, kStep_ms);
  }
  return Fail(Code::kUnavailable, msg::CliYardStaysAway{});
}

Result<HttpReply> Link::Ask(HttpRequest request) {
  request.headers.emplace_back("Accept-Language", caller_->LanguageCode());
  bool repeatable = request.method == "GET";
  for (const auto& [name, value] : request.headers) repeatable = repeatable || name == "Idempotency-Key";
  for (int tries = 0;; ++tries) {
    auto reply = line_.Ask(request);
    if (reply) {
      answered_ = true;
      if (reply->status < 400) return std::move(*reply);
      auto problem = ParseAnswer(reply->body);
      if (problem && problem->is_object()) return tl::unexpected(ErrorOfProblem(*problem));
      return Fail(Code::kInternal, msg::CliBadAnswer{.what = "HTTP " + std::to_string(reply->status)});
    }
    if (reply.error() == HttpTrouble::kInterrupted) return Fail(Code::kInternal, msg::CliInterrupted{});
    if (reply.error() == HttpTrouble::kTimeout) return Fail(Code::kUnavailable, msg::CliNoAnswer{});
    if ((!repeatable && line_.sent()) || tries == kMostTries)
      return Fail(Code::kUnavailable, msg::CliLostMeanwhile{});
    if (Status back = Reconnect(); !back) return Forward(back.error());
  }
}

Result<json::value> Link::Get(const std::string& target, int wait_s) {
  HttpRequest request;
  request.target = target;
  request.timeout_s += wait_s;
  auto reply = Ask(std::move(request));
  if (!reply) return Forward(reply.error());
  return ParseAnswer(reply->body);
}

Result<json::value> Link::Post(const std::string& target, const json::value& body) {
  std::string text = json::serialize(body);
  HttpRequest request;
  request.method = "POST";
  request.target = target;
  request.body = text;
  auto reply = Ask(std::move(request));
  if (!reply) return Forward(reply.error());
  return ParseAnswer(reply->body);
}

}  // namespace ty
