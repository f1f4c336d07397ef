// trainyard devices: what can be leased, and who uses it; hold takes one out of use, release gives it back.
#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/begin.h"
#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/device_text.h"
#include "cli/link.h"
#include "cli/select.h"
#include "msg/cli.h"
#include "msg/devices.h"

namespace ty {
namespace {

namespace json = boost::json;

constexpr Option kOptions[] = {
    {"--until", Option::Takes::kValue, "22:00|2h", "cli.option_hold_until"},
};

int List(Caller& caller) {
  auto link = Link::Open(caller, Link::Need::kFind);
  if (!link) return caller.Complain(link.error());
  auto list = link->Get("/api/v1/devices");
  if (!list) return caller.Complain(list.error());
  if (caller.json) {
    caller.Print(json::serialize(*list) + "\n");
    return kDone;
  }
  if (ItemsAt(*list, "items").empty()) caller.Note(msg::CliNoDevices{});
  caller.Print(DevicesTable(caller, *list));
  return kDone;
}

// What --begin takes, and a plain length: 2h is from now.
Result<Time> UntilOf(const std::string& text, Time now) {
  auto until = ParseBegin(text, now);
  bool bare = text.find_first_not_of("0123456789") == std::string::npos;  // 22: seconds, hours, o'clock?
  if (auto length = ParseDuration(text); !until && !bare && length) until = now + *length;
  if (!until) return Invalid(msg::CliUntil{.value = text});
  if (*until <= now) return Invalid(msg::CliUntilPast{.value = text});
  return until;
}

// "0-3", "GPU0-3", "cpu:0-1" written out. A UUID is full of hyphens and no range.
Result<std::vector<std::string>> SpreadLabels(const std::vector<std::string>& words) {
  std::vector<std::string> labels;
  for (const std::string& word : words) {
    size_t digits = word.find_first_of("0123456789");
    std::string kind = word.substr(0, digits);
    bool counted = kind.empty() || kind == "GPU" || kind == "gpu" || kind == "cpu:";
    if (digits == std::string::npos || !counted) {
      labels.push_back(word);
      continue;
    }
    auto numbers = SpreadRanges({word.substr(digits)});
    if (!numbers) return Forward(numbers.error());
    for (const std::string& number : *numbers) labels.push_back(kind + number);
  }
  return labels;
}

// Those that nothing stood against, so that a release changes nothing of them.
std::vector<std::string> InService(Link& link) {
  std::vector<std::string> labels;
  if (auto list = link.Get("/api/v1/devices")) {
    for (const json::value& device : ItemsAt(*list, "items")) {
      const std::string state = TextAt(device, "state");
      if (state == "free" || state == "leased" || state == "shared")
        labels.push_back(TextAt(device, "label"));
    }
  }
  return labels;
}

Message DoneWith(bool holds, const std::optional<Time>& until, const std::string& device,
                 const std::vector<std::string>& in_service) {
  if (std::find(in_service.begin(), in_service.end(), device) != in_service.end())
    return msg::DevicesNotHeld{.device = device};
  if (!holds) return msg::CliDoneDeviceRelease{.device = device};
  if (until) return msg::CliDoneDeviceHoldUntil{.device = device, .until = *until};
  return msg::CliDoneDeviceHold{.device = device};
}

int Act(Caller& caller, const std::vector<std::string>& words, const std::optional<Time>& until) {
  bool holds = words.front() == "hold";
  auto devices = SpreadLabels({words.begin() + 1, words.end()});
  if (!devices) return caller.Complain(devices.error());
  if (devices->empty()) return caller.Complain({Code::kInvalid, msg::CliNameDevices{}, {}});
  auto link = Link::Open(caller, Link::Need::kFind);
  if (!link) return caller.Complain(link.error());
  json::object body{{"devices", json::array(devices->begin(), devices->end())}};
  if (until) body["until"] = FormatIso(*until);
  const std::vector<std::string> in_service =
      holds || caller.json ? std::vector<std::string>() : InService(*link);
  auto answer = link->Post("/api/v1/devices/" + words.front(), body);
  if (!answer) return caller.Complain(answer.error());
  if (caller.json) caller.Print(json::serialize(*answer) + "\n");

  int code = kDone;
  for (const json::value& item : ItemsAt(*answer, "items")) {
    if (FlagAt(item, "ok")) {
      if (!caller.json) caller.Say(DoneWith(holds, until, TextAt(item, "device"), in_service));
      continue;
    }
    const json::value* problem = At(item, "problem");
    code = std::max(code, caller.Complain(ErrorOfProblem(problem ? *problem : json::value())));
  }
  return code;
}

int Devices(Caller& caller, const Invocation& invocation) {
  std::string verb = invocation.words.empty() ? "" : invocation.words.front();
  if (!verb.empty() && verb != "hold" && verb != "release")
    return caller.Complain({Code::kInvalid, msg::CliDevicesWord{.word = verb}, {}});
  std::optional<Time> until;
  if (invocation.Has("until")) {
    std::string text = invocation.Value("until");
    if (verb != "hold") return caller.Complain({Code::kInvalid, msg::CliUntilHoldOnly{.value = text}, {}});
    auto time = UntilOf(text, WallClock());
    if (!time) return caller.Complain(time.error());
    until = *time;
  }
  return verb.empty() ? List(caller) : Act(caller, invocation.words, until);
}

}  // namespace

const Command kDevicesCommand = {"devices", "[hold|release DEVICE…]", "cli.about_devices", kOptions, Devices};

}  // namespace ty
