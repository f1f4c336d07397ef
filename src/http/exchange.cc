#include "http/exchange.h"

#include <strings.h>

#include <boost/json.hpp>

#include "http/render.h"

namespace ty {

namespace {
bool SameHeader(std::string_view a, std::string_view b) {
  return a.size() == b.size() && (a.empty() || ::strncasecmp(a.data(), b.data(), a.size()) == 0);
}
}  // namespace

size_t Request::Count(std::string_view name) const {
  size_t count = 0;
  for (const auto& [key, value] : headers) count += SameHeader(key, name) ? 1 : 0;
  return count;
}

std::string_view Request::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (SameHeader(key, name)) return value;
  }
  return {};
}

void Call::Answer(Response response) {
  if (std::exchange(answered_, true)) return;
  when_gone_ = nullptr;
  on_wait = nullptr;
  if (!renewed_cookie.empty()) response.headers.emplace_back("Set-Cookie", std::move(renewed_cookie));
  std::exchange(respond_, nullptr)(std::move(response));
}

void Call::Answer(const boost::json::value& json, int status) {
  Response response;
  response.status = status;
  response.body = boost::json::serialize(json);
  Answer(std::move(response));
}

void Call::Refuse(const Error& error) {
  Answer(ProblemResponse(StatusOf(error), error, language()));
}
void Call::Refuse(int status, const Error& error) {
  Answer(ProblemResponse(status, error, language()));
}

void Call::Refuse(const std::vector<Error>& errors) {
  Response response;
  response.status = StatusOf(errors.front());
  response.type = "application/problem+json";
  response.body = boost::json::serialize(RenderProblem(response.status, errors, language()));
  Answer(std::move(response));
}

void Call::WhenGone(std::function<void()> act) {
  if (answered_) return;
  when_gone_ = std::move(act);
  if (on_wait) on_wait();
}

void Call::Gone() {
  if (auto act = std::exchange(when_gone_, nullptr)) act();
}

}  // namespace ty
