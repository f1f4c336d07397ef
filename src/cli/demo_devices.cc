#include "cli/demo_devices.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/answer.h"
#include "msg/cli.h"
#include "posix/fd.h"
#include "posix/files.h"

namespace ty {

namespace {

constexpr std::chrono::seconds kPatience(30);  // the first import of a large PyTorch from a cold disk

// What the program writes until it ends; it is ended when that takes too long.
std::string OutputOf(const char* const* argv, std::chrono::seconds patience) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  UniqueFd out(ends[0]), in(ends[1]);
  const pid_t child = fork();
  if (child < 0) return {};
  if (child == 0) {
    const int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(in.get(), 1);
    dup2(null, 2);
    unsetenv("CUDA_VISIBLE_DEVICES");  // a task is not bound by what the shell hides either
    execv(argv[0], const_cast<char* const*>(argv));
    _exit(127);
  }
  in.Reset();
  std::string text;
  const auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    struct pollfd ready = {out.get(), POLLIN, 0};
    const int told = left.count() > 0 ? poll(&ready, 1, static_cast<int>(left.count())) : 0;
    if (told < 0 && errno == EINTR) continue;
    char block[256];
    const ssize_t got = told > 0 ? read(out.get(), block, sizeof block) : 0;
    if (got <= 0) break;
    text.append(block, static_cast<size_t>(got));
  }
  kill(child, SIGKILL);  // it has ended, or it never will
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

// Whatever numbers they have: a container may have been given any of the machine's.
int CardsIn(const std::string& nodes) {
  int cards = 0;
  const auto names = ListFolder(nodes);
  for (const std::string& name : names ? *names : std::vector<std::string>())
    cards += name.starts_with("nvidia") && ParseInt(std::string_view(name).substr(6)).has_value();
  return cards;
}

int64_t GpusThatTorchSees(const std::string& python) {
  const char* const argv[] = {python.c_str(), "-c", "import torch; print(torch.cuda.device_count())",
                              nullptr};
  std::string text = OutputOf(argv, kPatience);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return ParseInt(text).value_or(0);
}

}  // namespace

DemoDevices ChooseDemoDevices(const DemoMachine& machine) {
  if (CardsIn(machine.nodes) < 2) return {false, msg::CliDemoOnCpu{}};
  if (GpusThatTorchSees(machine.python) < 2) return {false, msg::CliDemoOnCpuTorch{.python = machine.python}};
  return {true, {}};
}

bool BothFree(const boost::json::array& devices) {
  int free = 0;
  for (const boost::json::value& device : devices)
    free += FlagAt(device, "usable") && TextAt(device, "state") == "free";
  return free == 2;
}

}  // namespace ty
