#include "words/words.h"

namespace ty {
namespace {

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The quality of "zh;q=0.8" in thousandths; 1000 when not said, 0 when it cannot be read.
int Quality(std::string_view parameters) {
  parameters = Trimmed(parameters);
  if (parameters.empty()) return 1000;
  if (parameters.size() < 3 || Lower(parameters[0]) != 'q' || parameters[1] != '=') return 0;
  parameters.remove_prefix(2);
  if (parameters[0] != '0' && parameters[0] != '1') return 0;
  int quality = (parameters[0] - '0') * 1000, place = 100;
  for (char c : parameters.substr(1)) {
    if (c == '.') continue;
    if (c < '0' || c > '9') return 0;
    quality += (c - '0') * place;
    place /= 10;
  }
  return quality > 1000 ? 1000 : quality;
}

}  // namespace

std::optional<Language> ParseLanguage(std::string_view name) {
  name = Trimmed(name);
  if (name.size() < 2 || (name.size() > 2 && name.find_first_of("-_.@") != 2)) return std::nullopt;
  char first = Lower(name[0]), second = Lower(name[1]);
  if (first == 'z' && second == 'h') return Language::kChinese;
  if (first == 'e' && second == 'n') return Language::kEnglish;
  return std::nullopt;
}

Language ChooseLanguage(std::string_view lang_option, std::string_view lc_all, std::string_view lc_messages,
                        std::string_view lang) {
  if (std::optional<Language> asked = ParseLanguage(lang_option)) return *asked;
  std::string_view locale = !lc_all.empty() ? lc_all : !lc_messages.empty() ? lc_messages : lang;
  return ParseLanguage(locale).value_or(Language::kEnglish);
}

Language FromAcceptLanguage(std::string_view header) {
  Language best = Language::kEnglish;
  int best_quality = 0;
  while (!header.empty()) {
    size_t comma = header.find(',');
    std::string_view item = header.substr(0, comma);
    header.remove_prefix(comma == std::string_view::npos ? header.size() : comma + 1);
    size_t semicolon = item.find(';');
    std::optional<Language> language = ParseLanguage(item.substr(0, semicolon));
    int quality = semicolon == std::string_view::npos ? 1000 : Quality(item.substr(semicolon + 1));
    if (!language || quality <= best_quality) continue;  // of equals the first one named
    best = *language;
    best_quality = quality;
  }
  return best;
}

}  // namespace ty
