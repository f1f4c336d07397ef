// What can be leased and how it is; hold and release of it.
#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "http/api.h"
#include "http/body.h"
#include "http/render.h"
#include "msg/api.h"
#include "msg/devices.h"

namespace ty {

namespace json = boost::json;

namespace {

constexpr size_t kMostDevices = 4096;

Status ReadDevices(const json::object& body, std::vector<std::string>& devices) {
  const json::value* value = body.if_contains("devices");
  const json::array* list = value == nullptr ? nullptr : value->if_array();
  if (list == nullptr && value != nullptr && !value->is_null())
    return Invalid(msg::ApiMustBe{.name = "devices", .what = "[\"0\", \"GPU1\", \"cpu:0\"]"}, "/devices");
  if (list == nullptr || list->empty()) return Invalid(msg::DevicesNoneNamed{}, "/devices");
  if (list->size() > kMostDevices) return Invalid(msg::DevicesTooMany{.most = kMostDevices}, "/devices");
  for (size_t i = 0; i < list->size(); i++) {
    const json::value& one = (*list)[i];
    std::string name;
    if (one.is_string()) name.assign(one.get_string().data(), one.get_string().size());
    if (one.is_int64()) name = std::to_string(one.get_int64());
    if (name.empty()) return Invalid(msg::DevicesNoneNamed{}, "/devices/" + std::to_string(i));
    if (std::find(devices.begin(), devices.end(), name) == devices.end()) devices.push_back(std::move(name));
  }
  return {};
}

Result<std::optional<Time>> ReadUntil(const json::object& body, Time now) {
  Result<std::string> text = ReadText(body, "until");
  if (!text) return Forward(text.error());
  if (text->empty() && (!body.contains("until") || body.at("until").is_null())) return std::nullopt;
  const std::optional<Time> until = ParseIso(*text);
  if (!until) return Invalid(msg::ApiTime{.name = "until", .text = Printable(*text)}, "/until");
  if (*until <= now) return Invalid(msg::DevicesUntilPast{.until = *until}, "/until");
  return until;
}

}  // namespace

void Api::ListDevices(CallPtr call) {
  backend_.Look([call](YardFacts facts) {
    json::array items;
    for (const DeviceView& device : facts.devices) items.emplace_back(RenderDevice(device, call->language()));
    const YardView& yard = facts.yard;
    auto version = [](const std::string& text) {
      return text.empty() ? json::value(nullptr) : json::value(ToJsonText(text));
    };
    call->Answer(json::object{{"items", std::move(items)},
                              {"next", nullptr},
                              {"probe",
                               {{"state", Name(yard.probe)},
                                {"reason", RenderMessage(yard.probe_trouble, call->language())},
                                {"driver", version(yard.driver)},
                                {"cuda", version(yard.cuda)}}}});
  });
}

void Api::ActOn(CallPtr call, DeviceVerb verb) {
  const bool hold = verb == DeviceVerb::kHold;
  Result<json::object> body =
      hold ? ParseBody(call->request.body, {"devices", "until"}) : ParseBody(call->request.body, {"devices"});
  if (!body) return call->Refuse(body.error());
  ActOnDevices act;
  act.verb = verb;
  if (Status read = ReadDevices(*body, act.devices); !read) return call->Refuse(read.error());
  if (hold) {
    Result<std::optional<Time>> until = ReadUntil(*body, settings_.now());
    if (!until) return call->Refuse(until.error());
    act.until = *until;
  }
  act.reply = [call](std::vector<std::pair<std::string, Status>> answers) {
    if (!answers.empty() && !answers.front().second && StatusOf(answers.front().second.error()) == kNoRoom)
      return call->Refuse(answers.front().second.error());
    json::array items;
    for (const auto& [device, done] : answers) {
      json::object item{{"device", ToJsonText(device)}, {"ok", done.has_value()}};
      if (!done) item["problem"] = RenderProblem(StatusOf(done.error()), done.error(), call->language());
      items.push_back(std::move(item));
    }
    call->Answer(json::object{{"items", std::move(items)}});
  };
  backend_.Post(std::move(act));
}

void Api::HoldDevices(CallPtr call) {
  ActOn(std::move(call), DeviceVerb::kHold);
}
void Api::ReleaseDevices(CallPtr call) {
  ActOn(std::move(call), DeviceVerb::kRelease);
}

}  // namespace ty
