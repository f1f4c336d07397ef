// The table of all routes, and the way of a call to its handler.
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <sstream>

#include "base/paths.h"
#include "base/text.h"
#include "http/api.h"
#include "http/render.h"
#include "http/scout.h"
#include "ingest/log_shelf.h"
#include "msg/api.h"
#include "posix/files.h"

namespace ty {

const std::vector<Route>& Routes() {
  static const std::vector<Route> routes = {
      {"GET", "/healthz", Access::kPublic, &Api::GetHealth},
      {"GET", "/", Access::kPublic, &Api::GetPage},
      {"GET", "/welcome", Access::kPublic, &Api::GetPage},
      {"GET", "/new", Access::kPublic, &Api::GetPage},
      {"GET", "/tasks", Access::kPublic, &Api::GetPage},
      {"GET", "/tasks/{task}", Access::kPublic, &Api::GetPage},
      {"GET", "/assets/{asset}", Access::kPublic, &Api::GetAsset},
      {"GET", "/favicon.svg", Access::kPublic, &Api::GetIcon},
      {"GET", "/favicon.ico", Access::kPublic, &Api::GetIcon},
      {"GET", "/api/v1/session", Access::kPublic, &Api::GetSession},
      {"POST", "/api/v1/session", Access::kPublic, &Api::CreateSession},
      {"DELETE", "/api/v1/session", Access::kSession, &Api::EndSession},
      {"POST", "/api/v1/session/code", Access::kSocket, &Api::MintCode},
      {"GET", "/api/v1/live", Access::kSession, &Api::OpenLive, "lang", false, true},
      {"GET", "/api/v1/doctor", Access::kSession, &Api::GetDoctor},
      {"GET", "/api/v1/status", Access::kSession, &Api::GetStatus},
      {"GET", "/api/v1/devices", Access::kSession, &Api::ListDevices},
      {"POST", "/api/v1/devices/hold", Access::kSession, &Api::HoldDevices},
      {"POST", "/api/v1/devices/release", Access::kSession, &Api::ReleaseDevices},
      {"GET", "/api/v1/tasks", Access::kSession, &Api::ListTasks, "state tag limit after before since"},
      {"POST", "/api/v1/tasks", Access::kSession, &Api::SubmitTask, "looked"},
      {"POST", "/api/v1/tasks/bulk", Access::kSession, &Api::SubmitTasks, "", true},
      {"POST", "/api/v1/tasks/preview", Access::kSession, &Api::PreviewTask},
      {"POST", "/api/v1/tasks/cancel", Access::kSession, &Api::CancelTasks},
      {"POST", "/api/v1/tasks/hold", Access::kSession, &Api::HoldTasks},
      {"POST", "/api/v1/tasks/release", Access::kSession, &Api::ReleaseTasks},
      {"POST", "/api/v1/tasks/retry", Access::kSession, &Api::RetryTasks},
      {"POST", "/api/v1/tasks/remove", Access::kSession, &Api::RemoveTasks},
      {"POST", "/api/v1/tasks/priority", Access::kSession, &Api::SetPriority},
      {"GET", "/api/v1/tasks/{task}", Access::kSession, &Api::GetTask, "wait timeout"},
      {"GET", "/api/v1/tasks/{task}/why", Access::kSession, &Api::GetWhy},
      {"GET", "/api/v1/tasks/{task}/log", Access::kSession, &Api::GetLog, "attempt rank offset limit wait"},
      {"GET", "/api/v1/tasks/{task}/tail", Access::kSession, &Api::GetTail, "attempt rank"},
      {"GET", "/api/v1/tasks/{task}/head", Access::kSession, &Api::GetHead, "attempt"},
      {"GET", "/api/v1/tasks/{task}/series", Access::kSession, &Api::ListSeries},
      {"GET", "/api/v1/tasks/{task}/points", Access::kSession, &Api::GetPoints, "tag x from to px smooth"},
      {"GET", "/api/v1/tasks/{task}/lines", Access::kSession, &Api::GetLines, "attempt rank from count"},
      {"GET", "/api/v1/tasks/{task}/search", Access::kSession, &Api::SearchLog,
       "q regex case attempt rank from limit"},
      {"GET", "/api/v1/tasks/{task}/files", Access::kSession, &Api::ListFiles},
      {"GET", "/api/v1/tasks/{task}/file", Access::kSession, &Api::GetFile, "path offset limit"},
      {"POST", "/api/v1/queue/pause", Access::kSession, &Api::PauseTheQueue},
      {"POST", "/api/v1/queue/resume", Access::kSession, &Api::ResumeTheQueue},
      {"GET", "/api/v1/events", Access::kSession, &Api::ListEvents, "since limit wait"},
      {"POST", "/api/v1/down", Access::kSocket, &Api::StopDaemon},
  };
  return routes;
}

namespace {

// How a route's path meets the parts of a request's; a path in plain words is nearer than one with {task}.
enum class Fit : uint8_t { kNone, kByParameter, kExact };
Fit FitOf(std::string_view pattern, const std::vector<std::string>& parts, std::string* task) {
  pattern.remove_prefix(1);
  Fit fit = Fit::kExact;
  for (size_t i = 0; i < parts.size(); i++) {
    const size_t end = std::min(pattern.find('/'), pattern.size());
    const std::string_view word = pattern.substr(0, end);
    if (word.starts_with('{') && !parts[i].empty()) {
      *task = parts[i];
      fit = Fit::kByParameter;
    } else if (word != parts[i]) {
      return Fit::kNone;
    }
    const bool last_of_pattern = end == pattern.size();
    if (last_of_pattern != (i + 1 == parts.size())) return Fit::kNone;
    if (!last_of_pattern) pattern.remove_prefix(end + 1);
  }
  return fit;
}

std::vector<std::string> Words(const char* text) {
  std::istringstream words{std::string(text)};
  std::vector<std::string> list;
  for (std::string word; words >> word;) list.push_back(word);
  return list;
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// Each parameter known, and there once.
std::optional<Error> JudgeParameters(const Request& request, const Route& route) {
  // What a page's address says behind ? is for the page.
  if (request.query.empty() || route.answer == &Api::GetPage) return std::nullopt;
  const std::vector<std::string> known = Words(route.parameters);
  for (const auto& [name, value] : request.query) {
    const bool twice = std::count_if(request.query.begin(), request.query.end(),
                                     [&name = name](const auto& other) { return other.first == name; }) > 1;
    if (!twice && std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string shown = Printable(name), nearest = Nearest(name, known);
    if (known.empty()) return Error{Code::kInvalid, msg::ApiNoParameters{.name = shown}, shown};
    if (!nearest.empty() && !twice)
      return Error{Code::kInvalid, msg::ApiUnknownParameter{.name = shown, .nearest = nearest}, shown};
    return Error{Code::kInvalid, msg::ApiUnknownParameterAlone{.name = shown, .known = Join(known)}, shown};
  }
  return std::nullopt;
}

}  // namespace

Api::Api(ApiSettings settings, Backend& backend, Loop& loop)
    : settings_(std::move(settings)),
      backend_(backend),
      loop_(loop),
      browsers_(StatePaths{settings_.home}.Browsers(), settings_.instance),
      scout_(settings_.basics ? std::make_unique<Scout>(loop) : nullptr),
      shelf_(std::make_unique<LogShelf>()) {
  // Those of codes that an earlier daemon minted.
  for (const std::string& name : ListFolder(settings_.home).value_or(std::vector<std::string>())) {
    if (name.starts_with("open-") && name.ends_with(".html")) ::unlink((settings_.home + "/" + name).c_str());
  }
}
Api::~Api() = default;

bool Api::Admit(const CallPtr& call) {
  Request& request = call->request;
  auto refuse = [&](int status, Message message, Code code = Code::kInvalid) {
    call->Refuse(status, Error{code, std::move(message), {}});
    return false;
  };
  if (std::optional<Response> refusal = Refusal(request, settings_.gate)) {
    call->Answer(std::move(*refusal));
    return false;
  }
  Recognize(call);
  const size_t question = request.target.find('?');
  const std::string raw_path = request.target.substr(0, question);
  std::optional<std::vector<std::string>> path = DecodePath(raw_path);
  auto query =
      DecodeQuery(question == std::string::npos ? "" : std::string_view(request.target).substr(question + 1));
  if (!path || !query) return refuse(400, msg::ApiBadPath{});
  request.path = std::move(*path);
  request.query = std::move(*query);

  Fit best = Fit::kNone;
  std::vector<const Route*> here;
  for (const Route& route : Routes()) {
    std::string task;
    const Fit fit = FitOf(route.path, request.path, &task);
    if (fit == Fit::kNone || fit < best) continue;
    if (fit > best) here.clear();
    best = fit;
    here.push_back(&route);
    if (fit == Fit::kByParameter) call->task = std::move(task);
  }
  // Deny by default: a stranger learns of public routes only, not even what else there is.
  const bool stranger = !MayEnter(Access::kSession, request.peer);
  const bool open = std::any_of(here.begin(), here.end(),
                                [](const Route* route) { return route->access == Access::kPublic; });
  if (here.empty() || (stranger && !open)) {
    if (std::optional<Response> page = PageNotFound(request)) {
      call->Answer(std::move(*page));
      return false;
    }
  }
  if (stranger && !open) return refuse(401, msg::ApiNeedsSession{});
  if (here.empty()) return refuse(404, msg::ApiNoRoute{.path = Printable(raw_path)}, Code::kNotFound);

  const std::string_view method = request.method == "HEAD" ? "GET" : std::string_view(request.method);
  std::string allowed;
  for (const Route* route : here) {
    if (method == route->method) call->route = route;
    allowed += (allowed.empty() ? "" : ", ") + std::string(route->method);
    if (std::string_view(route->method) == "GET") allowed += ", HEAD";
  }
  if (call->route == nullptr) {
    Response response = ProblemResponse(
        405,
        Error{Code::kInvalid, msg::ApiMethod{.method = Printable(request.method), .allowed = allowed}, {}},
        call->language());
    response.headers.emplace_back("Allow", allowed);
    call->Answer(std::move(response));
    return false;
  }
  if (!MayEnter(call->route->access, request.peer)) return refuse(401, msg::ApiNeedsSession{});
  // A cookie comes along with whatever the browser sends; only the Origin tells who made it send that.
  const bool by_cookie = request.peer.session && call->route->access != Access::kPublic;
  if (by_cookie && method != "GET" && request.Count("Origin") == 0) return refuse(403, msg::ApiNeedsOrigin{});
  if (std::optional<Error> error = JudgeParameters(request, *call->route)) {
    call->Refuse(*error);
    return false;
  }
  return true;
}

void Api::Handle(const CallPtr& call) {
  (this->*call->route->answer)(call);
}

}  // namespace ty
