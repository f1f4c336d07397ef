#include "cli/device_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/link.h"
#include "cli/table.h"
#include "cli/task_text.h"
#include "msg/cli.h"

namespace ty {
namespace {

namespace json = boost::json;

constexpr int kIndent = 8;
constexpr int kNarrow = 100;  // columns; below, the maker's name gives way

bool IsCpu(std::string_view id) {
  return id.substr(0, 4) == "cpu:";
}

// "0-3,8" of [0,1,2,3,8].
std::string CpusText(const json::value& device) {
  std::string text;
  const json::array& cpus = ItemsAt(device, "cpus");
  auto number = [&](size_t i) { return cpus[i].is_int64() ? cpus[i].get_int64() : -1; };
  for (size_t i = 0; i < cpus.size();) {
    size_t last = i;
    while (last + 1 < cpus.size() && number(last + 1) == number(last) + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(number(i));
    if (last > i) text += "-" + std::to_string(number(last));
    i = last + 1;
  }
  return text;
}

Message StateMessage(std::string_view state) {
  if (state == "free") return msg::CliDeviceFree{};
  if (state == "leased") return msg::CliDeviceLeased{};
  if (state == "shared") return msg::CliDeviceShared{};
  if (state == "held") return msg::CliDeviceHeld{};
  if (state == "foreign") return msg::CliDeviceForeign{};
  if (state == "elsewhere") return msg::CliDeviceElsewhere{};
  if (state == "settling") return msg::CliDeviceSettling{};
  if (state == "lost") return msg::CliDeviceLost{};
  if (state == "quarantined") return msg::CliDeviceQuarantined{};
  return msg::CliDeviceUnknown{};
}

// Used without a lease, and by a task of this yard.
bool IsAstray(const json::value& device) {
  const json::array& processes = ItemsAt(device, "processes");
  return TextAt(device, "state") == "foreign" &&
         std::any_of(processes.begin(), processes.end(), [](const json::value& process) {
           return FlagAt(process, "foreign") && IntAt(process, "task");
         });
}

Paint StatePaintOf(std::string_view state) {
  if (state == "lost" || state == "quarantined" || state == "unknown") return Paint::kRed;
  if (state == "held" || state == "foreign" || state == "elsewhere" || state == "settling")
    return Paint::kYellow;
  return state == "free" ? Paint::kPlain : Paint::kGreen;
}

// "7.9/10 GiB": both in the unit of the whole.
std::string MemoryText(const json::value& device) {
  const json::value* memory = At(device, "memory");
  auto total = memory ? IntAt(*memory, "total") : std::nullopt;
  auto used = memory ? IntAt(*memory, "used") : std::nullopt;
  if (!total || *total <= 0) return used ? FormatBytes(*used) : std::string();
  std::string all = FormatBytes(*total);
  if (!used) return all;
  constexpr int64_t kGib = int64_t{1} << 30;
  if (*total < kGib) return FormatBytes(*used) + "/" + all;
  return fmt::format("{:.1f}/{}", static_cast<double>(*used) / kGib, all);
}

std::string Percent(const json::value& reading, const char* key) {
  auto fraction = RealAt(reading, key);
  return fraction ? fmt::format("{:.0f}%", *fraction * 100) : std::string();
}

std::string Rounded(const json::value& reading, const char* key, const char* unit) {
  auto number = RealAt(reading, key);
  return number ? fmt::format("{:.0f}{}", *number, unit) : std::string();
}

std::string ShareText(double share) {
  return fmt::format("{:.3g}", share);
}

std::string Comma(const Caller& caller) {
  return caller.language == Language::kChinese ? "，" : ", ";
}

// Parts of a line, those that are there.
class Parts {
 public:
  explicit Parts(const Caller& caller) : caller_(caller) {}
  void Add(const Message& message) {
    text_ += (text_.empty() ? "" : Comma(caller_)) + caller_.Words(message);
  }
  void AddSince(const json::value& holder) {
    if (auto since = ParseIso(TextAt(holder, "since"))) Add(msg::CliUseSince{.since = *since});
  }
  const std::string& text() const { return text_; }

 private:
  const Caller& caller_;
  std::string text_;
};

std::string LeaseText(const Caller& caller, const json::value& lease) {
  Parts parts(caller);
  parts.Add(msg::CliUseTask{.task = std::to_string(IntAt(lease, "task").value_or(0)),
                            .name = TextAt(lease, "task_name")});
  std::string mode = TextAt(lease, "mode");
  double share = RealAt(lease, "share").value_or(1), asked = RealAt(lease, "asked").value_or(share);
  if (mode == "turns") parts.Add(msg::CliUseShareTurns{.share = ShareText(share)});
  if (mode == "together") parts.Add(msg::CliUseShareTogether{.share = ShareText(share)});
  if (asked != share) parts.Add(msg::CliUseGrown{.asked = ShareText(asked)});
  auto most = IntAt(lease, "memory"), used = IntAt(lease, "used");
  if (most && *most > 0 && used)
    parts.Add(msg::CliUseMemory{.used = *used, .most = *most});
  else if (most && *most > 0)
    parts.Add(msg::CliUseMemoryMost{.most = *most});
  if (FlagAt(lease, "frozen")) parts.Add(msg::CliUseFrozen{});
  parts.AddSince(lease);
  return parts.text();
}

std::string ProcessText(const Caller& caller, const json::value& process) {
  Parts parts(caller);
  std::string pid = std::to_string(IntAt(process, "pid").value_or(0)), user = TextAt(process, "user");
  if (user.empty())
    parts.Add(msg::CliUseProcessUnseen{.pid = pid});
  else
    parts.Add(msg::CliUseProcess{.pid = pid, .user = user});
  if (auto memory = IntAt(process, "memory")) parts.Add(msg::CliUseMemoryUsed{.used = *memory});
  parts.AddSince(process);
  std::string command = Printable(TextAt(process, "command"));
  if (command.empty()) return parts.text();
  return parts.text() + (caller.language == Language::kChinese ? "：" : ": ") + command;
}

std::string ElsewhereText(const Caller& caller, const json::value& other) {
  Parts parts(caller);
  std::string user = TextAt(other, "user");
  auto task = IntAt(other, "task");
  if (user.empty())
    parts.Add(msg::CliUseElsewhereUnread{});
  else if (!task)
    parts.Add(msg::CliUseElsewhereUser{.user = user});
  else
    parts.Add(msg::CliUseElsewhere{
        .user = user, .task = std::to_string(*task), .name = TextAt(other, "task_name")});
  parts.AddSince(other);
  return parts.text();
}

// What only the reading can tell of a card that slows itself down. A power cap is what a busy card lives
// with.
std::string ThrottleText(const json::value& device) {
  const json::value* reading = At(device, "reading");
  std::string text;
  if (!reading) return text;
  for (const json::value& why : ItemsAt(*reading, "throttle")) {
    std::string word = why.is_string() ? std::string(why.get_string()) : std::string();
    if (word.empty() || word == "power_cap") continue;
    std::replace(word.begin(), word.end(), '_', ' ');
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

// The lines below a device. They are wrapped, but for those that end in somebody's command.
struct UseLine {
  std::string text;
  bool wraps = true;
};

// `told` stands on top of the list already.
std::vector<UseLine> UseLines(const Caller& caller, const json::value& device, const std::string& told) {
  std::vector<UseLine> lines;
  auto add = [&](const Message& message) { lines.push_back({caller.Words(message)}); };
  std::string reason = Printable(WordsAt(device, "reason"));
  const json::value* elsewhere = At(device, "elsewhere");
  if (!reason.empty()) {
    if (reason != told) lines.push_back({reason});
  } else if (auto until = ParseIso(TextAt(device, "held_until"))) {
    add(msg::CliUseHeldUntil{.until = *until});
  }
  if (auto since = ParseIso(TextAt(device, "out_since"))) add(msg::CliUseOutSince{.since = *since});
  for (const json::value& lease : ItemsAt(device, "leases")) lines.push_back({LeaseText(caller, lease)});
  if (elsewhere && reason.empty()) lines.push_back({ElsewhereText(caller, *elsewhere)});
  // One process from outside is told by the reason already.
  const json::array& processes = ItemsAt(device, "processes");
  auto foreign = std::count_if(processes.begin(), processes.end(),
                               [](const json::value& process) { return FlagAt(process, "foreign"); });
  for (const json::value& process : processes)
    if (FlagAt(process, "foreign") && (foreign > 1 || reason.empty()))
      lines.push_back({ProcessText(caller, process), false});
  if (std::string why = ThrottleText(device); !why.empty()) add(msg::CliUseThrottle{.why = why});
  return lines;
}

std::string NameText(const Caller& caller, const json::value& device) {
  std::string name = Printable(TextAt(device, "name"));
  bool narrow = caller.width > 0 && caller.width < kNarrow;
  return narrow && name.rfind("NVIDIA ", 0) == 0 ? name.substr(7) : name;
}

std::vector<std::string> RowOf(const Caller& caller, const json::value& device) {
  static const json::value kNone = json::object();
  const json::value* reading = At(device, "reading");
  if (!reading) reading = &kNone;
  return {Printable(LabelOf(device)),
          NameText(caller, device),
          CpusText(device),
          Percent(*reading, "utilisation"),
          MemoryText(device),
          Rounded(*reading, "temperature_c", "°C"),
          Rounded(*reading, "power_w", " W"),
          caller.Words(IsAstray(device) ? Message(msg::CliDeviceAstray{})
                                        : StateMessage(TextAt(device, "state")))};
}

// What keeps all cards from being read, empty when nothing does.
std::string ProbeTrouble(const json::value& answer) {
  const json::value* probe = At(answer, "probe");
  std::string state = probe ? TextAt(*probe, "state") : std::string();
  if (state.empty() || state == "good" || state == "none") return {};
  std::string reason = Printable(WordsAt(*probe, "reason"));
  return reason.empty() ? state : reason;
}

std::string DriverBelow(const Caller& caller, const json::value& answer) {
  const json::value* probe = At(answer, "probe");
  std::string driver = probe ? TextAt(*probe, "driver") : std::string();
  std::string cuda = probe ? TextAt(*probe, "cuda") : std::string();
  if (driver.empty() || cuda.empty()) return {};
  return "\n" +
         caller.Painted(Paint::kDim, caller.Words(msg::CliDevicesDriver{.driver = driver, .cuda = cuda})) +
         "\n";
}

// Where the digits at the end of a label begin; npos without any.
size_t NumberIn(const std::string& label) {
  size_t last = label.find_last_not_of("0123456789");
  size_t start = last == std::string::npos ? 0 : last + 1;
  return start < label.size() && label.size() - start < 10 ? start : std::string::npos;
}

bool Follows(const std::string& label, const std::string& before) {
  size_t at = NumberIn(label), other = NumberIn(before);
  return at != std::string::npos && at == other && label.compare(0, at, before, 0, at) == 0 &&
         ParseInt(label.substr(at)) == *ParseInt(before.substr(at)) + 1;
}

}  // namespace

std::string LabelOf(const json::value& device) {
  std::string label = TextAt(device, "label");
  return label.empty() ? TextAt(device, "id") : label;
}

std::string DevicesTable(const Caller& caller, const json::value& answer) {
  using Align = Table::Align;
  Table table;
  table.columns = {{caller.Words(msg::CliColumnDevice{})},
                   {caller.Words(msg::CliColumnName{}), Align::kLeft, true},
                   {"CPU", Align::kLeft, true},
                   {caller.Words(msg::CliColumnLoad{}), Align::kRight},
                   {caller.Words(msg::CliColumnMemory{}), Align::kRight},
                   {caller.Words(msg::CliColumnTemperature{}), Align::kRight},
                   {caller.Words(msg::CliColumnPower{}), Align::kRight},
                   {caller.Words(msg::CliColumnState{})}};
  const json::array& devices = ItemsAt(answer, "items");
  for (const json::value& device : devices) table.rows.push_back(RowOf(caller, device));

  std::string rows = table.Text(caller.width), text, trouble = ProbeTrouble(answer);
  if (!trouble.empty()) text = caller.Painted(Paint::kRed, Wrapped("! " + trouble, caller.width, 2)) + "\n\n";
  size_t line = 0;
  for (size_t start = 0; start < rows.size(); ++line) {
    size_t end = rows.find('\n', start);
    Paint paint = line == 0 ? Paint::kBold : StatePaintOf(TextAt(devices[line - 1], "state"));
    text += caller.Painted(paint, std::string_view(rows).substr(start, end - start)) + "\n";
    start = end + 1;
    if (line == 0) continue;
    std::string space(kIndent, ' ');
    for (const UseLine& use : UseLines(caller, devices[line - 1], trouble))
      text += (use.wraps ? Wrapped(space + use.text, caller.width, kIndent)
                         : Clip(space + use.text, caller.width)) +
              "\n";
  }
  return text + DriverBelow(caller, answer);
}

std::string LabelsText(const std::vector<std::string>& labels, const char* gap) {
  std::string text;
  for (size_t i = 0; i < labels.size();) {
    size_t last = i;
    while (last + 1 < labels.size() && Follows(labels[last + 1], labels[last])) ++last;
    if (last - i < 2) last = i;
    text += (text.empty() ? "" : gap) + labels[i];
    if (last > i) text += "-" + labels[last].substr(NumberIn(labels[last]));
    i = last + 1;
  }
  return text;
}

DeviceLabels::DeviceLabels(const json::array& devices) {
  for (const json::value& device : devices) by_id_[TextAt(device, "id")] = LabelOf(device);
}

DeviceLabels DeviceLabels::For(Link& link, const json::array& holders) {
  bool needed = false;
  for (const json::value& holder : holders)
    for (const json::value& device : ItemsAt(holder, "devices"))
      needed = needed || (device.is_string() && !IsCpu(std::string_view(device.get_string())));
  if (!needed) return {};
  auto list = link.Get("/api/v1/devices");
  return list ? DeviceLabels(ItemsAt(*list, "items")) : DeviceLabels();
}

std::string DeviceLabels::Of(const std::string& id) const {
  constexpr size_t kShort = 12;
  if (auto found = by_id_.find(id); found != by_id_.end()) return found->second;
  return IsCpu(id) || id.size() <= kShort ? id : id.substr(0, kShort) + "…";
}

}  // namespace ty
