// trainyard devices: what can be leased, and who holds it.
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/link.h"
#include "cli/table.h"
#include "cli/task_text.h"
#include "msg/cli.h"

namespace ty {
namespace {

namespace json = boost::json;

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

std::string HolderText(const Caller& caller, const json::value& device) {
  if (!FlagAt(device, "usable")) return caller.Words(msg::CliDeviceUnusable{});
  auto task = IntAt(device, "task");
  if (!task) return caller.Words(msg::CliDeviceFree{});
  std::string text = std::to_string(*task);
  std::string name = TextAt(device, "task_name");
  return Printable(name.empty() ? text : text + " (" + name + ")");
}

int Devices(Caller& caller, const Invocation&) {
  auto link = Link::Open(caller, Link::Need::kFind);
  if (!link) return caller.Complain(link.error());
  auto list = link->Get("/api/v1/devices");
  if (!list) return caller.Complain(list.error());
  if (caller.json) {
    caller.Print(json::serialize(*list) + "\n");
    return kDone;
  }
  Table table;
  table.columns = {
      {caller.Words(msg::CliColumnDevice{})}, {caller.Words(msg::CliColumnName{}), Table::Align::kLeft, true},
      {"CPU", Table::Align::kLeft, true},     {caller.Words(msg::CliColumnMemory{}), Table::Align::kRight},
      {caller.Words(msg::CliColumnTask{})},   {caller.Words(msg::CliColumnSince{})}};
  for (const json::value& device : ItemsAt(*list, "items"))
    table.rows.push_back({Printable(TextAt(device, "id")), Printable(TextAt(device, "name")),
                          CpusText(device), FormatBytes(IntAt(device, "memory").value_or(0)),
                          HolderText(caller, device), TimeText(caller, device, "since")});
  if (table.rows.empty()) caller.Note(msg::CliNoDevices{});
  caller.Print(table.Text(caller.width));
  return kDone;
}

}  // namespace

const Command kDevicesCommand = {"devices", "", "cli.about_devices", {}, Devices};

}  // namespace ty
