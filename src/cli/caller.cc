#include "cli/caller.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/besides.h"
#include "posix/clocks.h"

namespace ty {
namespace {

// The option that a field of a task comes from, so that people find what they typed.
std::string OptionOf(const std::string& field) {
  struct Pair {
    const char *field, *option;
  };
  static constexpr Pair kOptions[] = {
      {"/resources/gpus", "--gpus"},
      {"/resources/share", "--share"},
      {"/resources/gpu_memory", "--gpu-memory"},
      {"/resources/exclusive", "--exclusive"},
      {"/resources/gpu_ids", "--gpu-ids"},
      {"/ranks", "--ranks"},
      {"/resources/cpus", "--cpus"},
      {"/resources/memory", "--mem"},
      {"/limits/time", "--time"},
      {"/limits/idle", "--idle"},
      {"/limits/log", "--log-limit"},
      {"/checkpoint/signal", "--stop-signal"},
      {"/checkpoint/target", "--stop-target"},
      {"/checkpoint/grace", "--stop-grace"},
      {"/retry/max", "--retry"},
      {"/retry", "--retry"},
      {"/workdir", "--workdir"},
      {"/name", "--name"},
      {"/after", "--after"},
      {"/begin", "--begin"},
      {"/priority", "--priority"},
      {"/variables", "--env"},
      {"/tags", "--tag"},
      {"/command/0", "command"},
      {"attempt", "--attempt"},
      {"rank", "--rank"},
  };
  for (const Pair& pair : kOptions)
    if (field == pair.field || field.rfind(std::string(pair.field) + "/", 0) == 0) return pair.option;
  if (field.empty() || field[0] != '/') return field;
  std::string dotted = field.substr(1);
  for (char& c : dotted)
    if (c == '/') c = '.';
  return dotted;
}

void Write(FILE* stream, std::string_view text) {
  fwrite(text.data(), 1, text.size(), stream);
}

}  // namespace

int ExitCodeOf(const Error& error) {
  switch (error.code) {
    case Code::kInvalid:
      return kRefused;
    case Code::kNotFound:
      return kUnknown;
    case Code::kConflict:
      return kFailed;
    case Code::kUnavailable:
      return kUnreachable;
    case Code::kInternal:
      return kFailed;
  }
  return kFailed;
}

std::string Caller::Words(const Message& message) const {
  return Printable(Render(message, language, WallClock()));
}

std::string Caller::Painted(Paint paint, std::string_view text) const {
  if (!colours || paint == Paint::kPlain || text.empty()) return std::string(text);
  static constexpr const char* kCodes[] = {"0", "1", "2", "31", "32", "33"};
  return std::string("\x1b[") + kCodes[static_cast<int>(paint)] + "m" + std::string(text) + "\x1b[0m";
}

void Caller::Print(std::string_view text) const {
  Write(stdout, text);
}

void Caller::Say(const Message& message) const {
  Write(stdout, Words(message) + "\n");
}

void Caller::Note(const Message& message) const {
  PrintError(Words(message) + "\n");
}

void Caller::PrintError(std::string_view text) const {
  fflush(stdout);
  Write(stderr, text);
}

int Caller::Complain(const Error& error) const {
  std::string field = OptionOf(error.field), words = Words(error.message);
  // A sentence that names its field already is not given it twice.
  bool named = field.empty() || words.find(field) != std::string::npos;
  PrintError("trainyard: " + (named ? "" : Printable(field) + ": ") + words + "\n");
  for (const auto& [name, value] : error.message.args) {
    if (name == kBesides) PrintError("trainyard: " + Printable(std::get<std::string>(value)) + "\n");
  }
  return ExitCodeOf(error);
}

std::string Environment(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

void LookAround(Caller& caller) {
  caller.out_is_terminal = isatty(STDOUT_FILENO);
  caller.err_is_terminal = isatty(STDERR_FILENO);
  std::string term = Environment("TERM");
  caller.colours = caller.out_is_terminal && Environment("NO_COLOR").empty() && term != "dumb";
  if (!caller.out_is_terminal) return;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) caller.width = size.ws_col;
  if (auto columns = ParseInt(Environment("COLUMNS")); columns && *columns > 0 && *columns < 10000)
    caller.width = static_cast<int>(*columns);
  if (caller.width == 0) caller.width = 80;
}

Time WallClock() {
  return FromNanos(WallNanos());
}

}  // namespace ty
