#include "wire/control.h"

#include <array>

namespace ty::wire {

namespace {

constexpr std::array<std::string_view, 8> kVerbs = {"",       "PING",   "STATUS", "STOP",
                                                    "SIGNAL", "FREEZE", "THAW",   "KILL"};
constexpr std::array<std::string_view, 10> kNews = {"",       "REFUSED", "STARTED", "EXITED", "UNKILLABLE",
                                                    "FROZEN", "THAWED",  "STATE",   "DONE",   "ERR"};

template <class Enum, size_t N>
Enum FromName(const std::array<std::string_view, N>& names, std::string_view name) {
  for (size_t i = 1; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return Enum{};
}

}  // namespace

std::string EncodeOrder(const Order& order) {
  JsonObject json;
  json.emplace_back("format", kControlFormat);
  json.emplace_back("verb", kVerbs[static_cast<size_t>(order.verb)]);
  if (order.verb == Verb::kStop) {
    json.emplace_back("reason", FromBytes(order.reason));
    if (order.target != Target::kGroup) json.emplace_back("target", Name(order.target));
    json.emplace_back("grace_ms", order.grace_ms);
  }
  if (order.verb == Verb::kStop || order.verb == Verb::kSignal) json.emplace_back("signal", order.signal);
  if (order.verb == Verb::kFreeze) json.emplace_back("deadline_ms", order.deadline_ms);
  return Write(json);
}

std::optional<Order> DecodeOrder(std::string_view packet) {
  const std::optional<Json> json = Parse(packet);
  if (!json) return std::nullopt;
  Order order;
  int64_t format = 0;
  std::string verb;
  Fields fields(*json);
  fields.Need("format", format).Need("verb", verb);
  fields.May("reason", order.reason).May("signal", order.signal).May("grace_ms", order.grace_ms);
  std::string target(Name(order.target));
  fields.May("deadline_ms", order.deadline_ms).May("target", target);
  if (!fields.ok() || format < 1) return std::nullopt;
  order.target = ParseTarget(target).value_or(Target::kGroup);
  order.verb = FromName<Verb>(kVerbs, verb);
  return order;
}

std::string EncodeNews(const News& news) {
  JsonObject json;
  json.emplace_back("format", kControlFormat);
  json.emplace_back("news", kNews[static_cast<size_t>(news.kind)]);
  if (news.record) json.emplace_back("record", ToJson(*news.record));
  if (news.error != 0) json.emplace_back("error", news.error);
  if (!news.step.empty()) json.emplace_back("step", FromBytes(news.step));
  if (news.frozen) json.emplace_back("frozen", true);
  if (news.unkillable) json.emplace_back("unkillable", true);
  return Write(json);
}

std::optional<News> DecodeNews(std::string_view packet) {
  const std::optional<Json> json = Parse(packet);
  if (!json) return std::nullopt;
  News news;
  int64_t format = 0;
  std::string kind;
  Fields fields(*json);
  fields.Need("format", format).Need("news", kind).May("error", news.error).May("step", news.step);
  fields.May("frozen", news.frozen).May("unkillable", news.unkillable);
  if (!fields.ok() || format < 1) return std::nullopt;
  news.kind = FromName<NewsKind>(kNews, kind);
  if (const Json* record = json->Find("record")) {
    news.record = SlotRecordFrom(*record);
    if (!news.record) return std::nullopt;
  }
  return news;
}

}  // namespace ty::wire
