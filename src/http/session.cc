// The door: how a browser comes to be signed in, and ceases to be.
#include <unistd.h>

#include <boost/json.hpp>

#include "base/digest.h"
#include "base/paths.h"
#include "http/api.h"
#include "http/body.h"
#include "msg/api.h"

namespace ty {

void Api::GetHealth(CallPtr call) {
  call->Answer(boost::json::object{{"ok", true}});
}

// The first thing the page asks; its cookie lasts thirty days from here again.
void Api::GetSession(CallPtr call) {
  const Peer& peer = call->request.peer;
  if (peer.session) {
    browsers_.Use(peer.browser, settings_.now());
    call->renewed_cookie.clear();
    const std::string token = FindCookie(call->request.headers, CookieName(settings_.instance)).value_or("");
    return TellSession(call, true, SetCookie(settings_.instance, token));
  }
  TellSession(call, MayEnter(Access::kSession, peer), "");
}

void Api::CreateSession(CallPtr call) {
  Result<boost::json::object> body = ParseBody(call->request.body, {"code"});
  Result<std::string> code = body ? ReadText(*body, "code") : Forward(body.error());
  if (!code) return call->Refuse(code.error());
  switch (codes_.Spend(*code, settings_.now())) {
    case Codes::Verdict::kWrong:
      return call->Refuse(401, Error{Code::kInvalid, msg::ApiCodeRefused{}, "/code"});
    case Codes::Verdict::kTooMany:
      return call->Refuse(429, Error{Code::kInvalid, msg::ApiTooManyCodes{}, "/code"});
    case Codes::Verdict::kRight:
      break;
  }
  RemoveOpener(StatePaths{settings_.home}.Opener(Sha256Hex(*code)));
  call->renewed_cookie.clear();
  // A browser that signs in anew leaves nothing behind that would still open the yard.
  if (call->request.peer.session) browsers_.SignOut(call->request.peer.browser);
  TellSession(call, true, SetCookie(settings_.instance, browsers_.SignIn(settings_.now())));
}

void Api::EndSession(CallPtr call) {
  const Peer& peer = call->request.peer;
  peer.session ? browsers_.SignOut(peer.browser) : browsers_.SignAllOut();
  if (settings_.on_signed_out) settings_.on_signed_out(peer.browser);
  call->renewed_cookie.clear();
  TellSession(call, false, DropCookie(settings_.instance));
}

void Api::MintCode(CallPtr call) {
  if (Result<boost::json::object> body = ParseBody(call->request.body, {}); !body)
    return call->Refuse(body.error());
  const Codes::Minted minted = codes_.Mint(settings_.now());
  const std::string url = settings_.url();
  call->Answer(
      boost::json::object{{"code", minted.code},
                          {"url", url.empty() ? boost::json::value(nullptr) : boost::json::value(url)},
                          {"expires_at", FormatIso(minted.expires)}});
}

// `trainyard open` may have written it, for this code.
void Api::RemoveOpener(const std::string& path) {
  ::unlink(path.c_str());
  const auto held = openers_.extract(path);  // may hold the timer that calls us: it goes last
}

void Api::TellSession(const CallPtr& call, bool signed_in, std::string cookie) {
  Response response;
  response.body = boost::json::serialize(boost::json::object{
      {"owner", settings_.owner}, {"instance", settings_.instance}, {"signed_in", signed_in}});
  if (!cookie.empty()) response.headers.emplace_back("Set-Cookie", std::move(cookie));
  call->Answer(std::move(response));
}

void Api::Recognize(const CallPtr& call) {
  Request& request = call->request;
  if (request.peer.socket) return;
  const auto token = FindCookie(request.headers, CookieName(settings_.instance));
  if (!token) return;
  const Time now = settings_.now();
  request.peer.browser = browsers_.Find(*token);
  request.peer.session = browsers_.IsIn(request.peer.browser, now);
  if (request.peer.session && browsers_.Use(request.peer.browser, now))
    call->renewed_cookie = SetCookie(settings_.instance, *token);
}

}  // namespace ty
