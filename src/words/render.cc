#include <cmath>

#include "words/catalogue.h"
#include "words/words.h"

namespace ty {
namespace {

using Value = Message::Value;

const Value* FindArgument(const Message& message, std::string_view name) {
  for (const auto& [known, value] : message.args)
    if (known == name) return &value;
  return nullptr;
}

std::string Plain(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  return FormatReal(std::get<double>(value));
}

// A number for a placeholder that wants one; arguments that came through JSON may have changed int for real.
std::optional<int64_t> Whole(const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  const auto* real = std::get_if<double>(&value);
  if (!real || !(std::fabs(*real) < 9e18)) return std::nullopt;
  return std::llround(*real);
}

// Times and durations travel in milliseconds; beyond this they would not fit in nanoseconds.
constexpr int64_t kMostMillis = INT64_MAX / 1'000'000;

class Sentence {
 public:
  Sentence(const Message& message, Language language, std::optional<Time> now)
      : message_(message), language_(language), now_(now) {}

  // Nothing when an argument is missing.
  std::optional<std::string> Build(std::string_view text) {
    while (!text.empty()) {
      size_t brace = text.find_first_of("{}");
      out_ += text.substr(0, brace);
      if (brace == std::string_view::npos) break;
      text.remove_prefix(brace);
      if (text.size() > 1 && text[1] == text[0]) {
        out_ += text[0];
        text.remove_prefix(2);
        continue;
      }
      size_t end = text.find('}');
      if (end == std::string_view::npos || !Fill(text.substr(1, end - 1))) return std::nullopt;
      text.remove_prefix(end + 1);
    }
    return std::move(out_);
  }

 private:
  bool Fill(std::string_view placeholder) {
    size_t mark = placeholder.find_first_of(":?");
    const Value* value = FindArgument(message_, placeholder.substr(0, mark));
    if (!value || mark == std::string_view::npos) return false;
    std::string_view rest = placeholder.substr(mark + 1);
    out_ += placeholder[mark] == '?' ? Chosen(rest, *value) : Typed(rest, *value);
    return true;
  }

  std::string Chosen(std::string_view choices, const Value& value) {
    size_t bar = choices.find('|');
    bool one = Whole(value) == 1;
    return std::string(one || bar == std::string_view::npos ? choices.substr(0, bar)
                                                            : choices.substr(bar + 1));
  }

  std::string Typed(std::string_view type, const Value& value) {
    if (type == "text" || type == "int") return Plain(value);
    if (type == "real") {
      const auto* number = std::get_if<int64_t>(&value);
      return number ? FormatReal(static_cast<double>(*number)) : Plain(value);
    }
    std::optional<int64_t> whole = Whole(value);
    if (!whole) return Plain(value);
    if (type == "bytes") return FormatBytes(*whole);
    if (*whole > kMostMillis || *whole < -kMostMillis) return Plain(value);
    if (type == "duration") return FormatDuration(milliseconds(*whole), language_);
    if (type == "time") return FormatTime(Time(milliseconds(*whole)), now_);
    return Plain(value);
  }

  const Message& message_;
  Language language_;
  std::optional<Time> now_;
  std::string out_;
};

std::string Bare(const Message& message) {
  std::string text = message.id;
  for (const auto& [name, value] : message.args) {
    text += &name == &message.args.front().first ? " (" : ", ";
    text += name + "=" + Plain(value);
  }
  return message.args.empty() ? text : text + ")";
}

}  // namespace

std::string Render(const Message& message, Language language, std::optional<Time> now) {
  const CatalogueEntry* entry = FindInCatalogue(message.id);
  if (!entry) return Bare(message);
  std::string_view text = language == Language::kChinese ? entry->chinese : entry->english;
  std::optional<std::string> sentence = Sentence(message, language, now).Build(text);
  return sentence ? std::move(*sentence) : Bare(message);
}

}  // namespace ty
