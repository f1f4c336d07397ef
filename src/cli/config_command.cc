// trainyard config: what holds, and which file says so.
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/start.h"
#include "msg/cli.h"

namespace ty {
namespace {

int ShowConfig(Caller& caller, const Invocation&) {
  const Config& config = caller.config;
  StartOptions kept = caller.state.home.empty() ? StartOptions() : KeptStartOptions(caller.state);
  std::string devices = kept.devices.empty() ? config.devices : kept.devices;
  std::string listen = kept.listen.empty() ? config.listen : kept.listen;
  if (caller.json) {
    boost::json::object shown{
        {"file", config.file.empty() ? boost::json::value() : boost::json::value(config.file)},
        {"devices", devices},
        {"listen", listen},
        {"language", caller.LanguageCode()},
        {"paths", {{"state", caller.state.home}}}};
    caller.Print(boost::json::serialize(shown) + "\n");
    return kDone;
  }
  if (config.file.empty())
    caller.Say(msg::CliConfigNone{.file = ConfigPath()});
  else
    caller.Say(msg::CliConfigFile{.file = config.file});
  std::string standard = caller.Words(msg::CliConfigDefault{});
  auto line = [&](const char* key, const std::string& value) {
    caller.Print(std::string(key) + ": " + (value.empty() ? "# " + standard : Printable(value)) + "\n");
  };
  line("devices", devices);
  line("listen", listen);
  line("language", caller.LanguageCode());
  caller.Print("paths:\n");
  line("  state", caller.state.home);
  return kDone;
}

}  // namespace

const Command kConfigCommand = {"config", "", "cli.about_config", {}, ShowConfig};

}  // namespace ty
