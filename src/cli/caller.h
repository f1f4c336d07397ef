// Caller is who typed the command and from where: language, terminal, state folder, config.
// All that a command says goes through it, so that hostile text never reaches a terminal raw.
#pragma once

#include <string>
#include <string_view>

#include "base/paths.h"
#include "base/result.h"
#include "cli/config.h"
#include "cli/daemon_options.h"
#include "words/words.h"

namespace ty {

enum class Paint : unsigned char { kPlain, kBold, kDim, kRed, kGreen, kYellow };

// Exit codes of contracts C14.
inline constexpr int kDone = 0, kFailed = 1, kRefused = 2, kUnknown = 3, kUnreachable = 4, kOurTrouble = 125;
int ExitCodeOf(const Error& error);

// Builds the state of a folder anew (model/recovery.h); given by main, since this room knows no store.
struct Recovery;
using RecoverMain = Result<Recovery> (*)(const std::string& home);

class Caller {
 public:
  Language language = Language::kEnglish;
  bool json = false;
  StatePaths state;  // home is absolute; empty when the environment names none
  Config config;
  DaemonMain daemon = nullptr;
  RecoverMain recover = nullptr;

  bool out_is_terminal = false, err_is_terminal = false;
  bool colours = false;  // of stdout
  int width = 0;         // of stdout's terminal; 0: no terminal

  std::string Words(const Message& message) const;
  std::string Painted(Paint paint, std::string_view text) const;

  void Print(std::string_view text) const;       // stdout, as it is
  void Say(const Message& message) const;        // stdout, a line
  void Note(const Message& message) const;       // stderr, a line: hints and what happens meanwhile
  void PrintError(std::string_view text) const;  // stderr, as it is
  int Complain(const Error& error) const;        // stderr, "trainyard: …"; the exit code that belongs to it

  // "en" or "zh": for Accept-Language and the daemon.
  const char* LanguageCode() const { return language == Language::kChinese ? "zh" : "en"; }
};

// The value of a variable of the environment, empty when it is not set.
std::string Environment(const char* name);
// Where the terminal, NO_COLOR and the languages stand.
void LookAround(Caller& caller);
Time WallClock();

}  // namespace ty
