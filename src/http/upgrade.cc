// How a call becomes a live stream, and what such a stream asks of the yard that no route gives.
#include "http/api.h"
#include "http/parameters.h"
#include "http/render.h"
#include "http/websocket.h"
#include "msg/api.h"
#include "msg/live.h"

namespace ty {

namespace {
Response NotUpgraded(Language language) {
  Response response = ProblemResponse(426, Error{Code::kInvalid, msg::LiveNotUpgraded{}, {}}, language);
  response.headers.emplace_back("Upgrade", "websocket");
  response.headers.emplace_back("Sec-WebSocket-Version", "13");
  return response;
}
}  // namespace

void Api::OpenLive(CallPtr call) {
  call->Answer(NotUpgraded(call->language()));
}

bool Api::MayUpgrade(const CallPtr& call) {
  Request& request = call->request;
  const Upgrade upgrade = JudgeUpgrade(request);
  if (!upgrade.asked) return false;
  Parameters query(request);
  const std::string language = query.Choice("lang", {"en", "zh"});
  if (query.error()) {
    call->Refuse(*query.error());
  } else if (!request.peer.socket && request.Count("Origin") != 1) {
    // Browsers send cookies with every handshake, whoever made them ask, and always say who did.
    call->Refuse(403, Error{Code::kInvalid, msg::ApiNeedsOrigin{}, "Origin"});
  } else if (upgrade.fault == 426) {
    call->Answer(NotUpgraded(call->language()));
  } else if (upgrade.fault != 0) {
    call->Refuse(upgrade.fault, Error{Code::kInvalid, msg::ApiMalformed{}, {}});
  } else {
    if (!language.empty()) request.language = ParseLanguage(language).value_or(request.language);
    return true;
  }
  return false;
}

void Api::LastEvent(std::function<void(int64_t)> then) {
  backend_.Describe(TaskId{0},
                    [then = std::move(then)](const std::optional<TaskView>&, int64_t last) { then(last); });
}

std::shared_ptr<void> Api::AwaitEvents(int64_t after, std::function<void()> wake) {
  return backend_.AwaitEvents(after, std::move(wake));
}

void Api::CountQueue(std::function<void(const YardView&)> then) {
  backend_.Look([then = std::move(then)](const YardFacts& facts) { then(facts.yard); });
}

bool Api::StillSignedIn(const std::string& browser) {
  const Time now = settings_.now();
  if (!browsers_.IsIn(browser, now)) return false;
  browsers_.Use(browser, now);
  return true;
}

}  // namespace ty
