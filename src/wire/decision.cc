#include "wire/decision.h"

#include <charconv>

namespace ty::wire {

namespace {

// Takes "key=value" and the space before it off the front.
bool TakeField(std::string_view& text, std::string_view key, std::string_view& value) {
  if (text.substr(0, 1) != " ") return false;
  text.remove_prefix(1);
  if (text.substr(0, key.size()) != key || text.substr(key.size(), 1) != "=") return false;
  text.remove_prefix(key.size() + 1);
  value = text.substr(0, text.find(' '));
  text.remove_prefix(value.size());
  return !value.empty();
}

bool ToNumber(std::string_view text, int64_t& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size() && to >= 0;
}

}  // namespace

std::string EncodeDecision(const Decision& decision) {
  if (!decision.go) return decision.reason.empty() ? "VOID" : "VOID " + decision.reason;
  return "GO boot=" + decision.boot + " pid=" + std::to_string(decision.pid) +
         " start=" + std::to_string(decision.start);
}

std::optional<Decision> DecodeDecision(std::string_view text) {
  Decision decision;
  if (text == "VOID") return decision;
  if (text.substr(0, 5) == "VOID ") {
    decision.reason = text.substr(5);
    return decision;
  }
  if (text.substr(0, 2) != "GO") return std::nullopt;
  text.remove_prefix(2);
  std::string_view boot, pid, start;
  if (!TakeField(text, "boot", boot) || !TakeField(text, "pid", pid) || !TakeField(text, "start", start)) {
    return std::nullopt;
  }
  decision.go = true;
  decision.boot = boot;
  if (!ToNumber(pid, decision.pid) || !ToNumber(start, decision.start)) return std::nullopt;
  return decision;  // what a newer supervisor may add follows
}

}  // namespace ty::wire
