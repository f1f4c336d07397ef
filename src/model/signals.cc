#include "model/signals.h"

#include <csignal>

#include "base/text.h"

namespace ty {
namespace {

struct Signal {
  std::string_view name;
  int number;
};
constexpr Signal kSignals[] = {
    {"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"ILL", SIGILL},   {"TRAP", SIGTRAP},
    {"ABRT", SIGABRT}, {"BUS", SIGBUS},   {"FPE", SIGFPE},   {"KILL", SIGKILL}, {"USR1", SIGUSR1},
    {"SEGV", SIGSEGV}, {"USR2", SIGUSR2}, {"PIPE", SIGPIPE}, {"ALRM", SIGALRM}, {"TERM", SIGTERM},
    {"CONT", SIGCONT}, {"STOP", SIGSTOP}, {"XCPU", SIGXCPU}, {"XFSZ", SIGXFSZ}, {"SYS", SIGSYS},
};

}  // namespace

std::optional<int> ParseSignal(std::string_view name) {
  if (std::optional<int64_t> number = ParseInt(name)) {
    if (*number < 1 || *number > 64) return std::nullopt;
    return static_cast<int>(*number);
  }
  std::string upper;
  for (char c : name) upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  std::string_view wanted = upper;
  if (wanted.starts_with("SIG")) wanted.remove_prefix(3);
  for (const Signal& signal : kSignals)
    if (signal.name == wanted) return signal.number;
  return std::nullopt;
}

std::string SignalName(int number) {
  for (const Signal& signal : kSignals)
    if (signal.number == number) return std::string(signal.name);
  return std::to_string(number);
}

}  // namespace ty
