#include "http/parameters.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "msg/api.h"

namespace ty {

namespace {

std::optional<double> ParseReal(const std::string& text) {
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = fault == std::errc{} && end == text.data() + text.size();
  return whole && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::string ShortText(double number) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, number).ptr);
}

}  // namespace

const std::string* Parameters::Find(std::string_view name) const {
  for (const auto& [key, value] : request_.query) {
    if (key == name) return &value;
  }
  return nullptr;
}

void Parameters::Complain(Message message, std::string_view name) {
  if (!error_) error_ = Error{Code::kInvalid, std::move(message), std::string(name)};
}

std::string Parameters::Text(std::string_view name) const {
  const std::string* text = Find(name);
  return text == nullptr ? "" : *text;
}

int64_t Parameters::Number(std::string_view name, int64_t otherwise, int64_t least, int64_t most) {
  const std::string* text = Find(name);
  if (text == nullptr) return otherwise;
  const std::optional<int64_t> number = ParseInt(*text);
  if (number && *number >= least && *number <= most) return *number;
  Complain(msg::ApiNumber{.name = std::string(name), .least = least, .most = most, .text = Printable(*text)},
           name);
  return otherwise;
}

std::optional<double> Parameters::Real(std::string_view name) {
  const std::string* text = Find(name);
  if (text == nullptr) return std::nullopt;
  if (const std::optional<double> number = ParseReal(*text)) return number;
  Complain(msg::ApiReal{.name = std::string(name), .text = Printable(*text)}, name);
  return std::nullopt;
}

double Parameters::Real(std::string_view name, double otherwise, double least, double most) {
  const std::string* text = Find(name);
  if (text == nullptr) return otherwise;
  const std::optional<double> number = ParseReal(*text);
  if (number && *number >= least && *number <= most) return *number;
  Complain(msg::ApiRealRange{.name = std::string(name),
                             .least = ShortText(least),
                             .most = ShortText(most),
                             .text = Printable(*text)},
           name);
  return otherwise;
}

Duration Parameters::Seconds(std::string_view name, Duration otherwise, Duration most) {
  const std::string* text = Find(name);
  if (text == nullptr) return otherwise;
  double seconds = -1;
  const auto [end, fault] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  const double limit = std::chrono::duration<double>(most).count();
  if (fault == std::errc{} && end == text->data() + text->size() && seconds >= 0 && seconds <= limit) {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  }
  Complain(
      msg::ApiNumber{
          .name = std::string(name), .least = 0, .most = std::llround(limit), .text = Printable(*text)},
      name);
  return otherwise;
}

std::optional<Time> Parameters::At(std::string_view name) {
  const std::string* text = Find(name);
  if (text == nullptr) return std::nullopt;
  std::optional<Time> time = ParseIso(*text);
  if (!time) Complain(msg::ApiTime{.name = std::string(name), .text = Printable(*text)}, name);
  return time;
}

std::string Parameters::Choice(std::string_view name, const std::vector<std::string>& known) {
  const std::string* text = Find(name);
  if (text == nullptr) return "";
  if (std::find(known.begin(), known.end(), *text) != known.end()) return *text;
  std::string list;
  for (const std::string& word : known) list += (list.empty() ? "" : ", ") + word;
  Complain(msg::ApiChoice{.name = std::string(name), .text = Printable(*text), .known = list}, name);
  return "";
}

}  // namespace ty
