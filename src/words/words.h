// Words puts a Message into English or Chinese. Everything here is pure but for the process's time zone.
// Arguments stand in the text as they are: whoever prints it escapes for a terminal, HTML or JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/message.h"
#include "base/time.h"

namespace ty {

enum class Language : uint8_t { kEnglish, kChinese };

// "en", "zh", "zh-CN", "zh_CN.UTF-8": a language we have, else nothing.
std::optional<Language> ParseLanguage(std::string_view name);
// The option wins, then the first of LC_ALL, LC_MESSAGES and LANG that is not empty; else English.
Language ChooseLanguage(std::string_view lang_option, std::string_view lc_all, std::string_view lc_messages,
                        std::string_view lang);
// The one the browser likes best of ours; English when it names neither.
Language FromAcceptLanguage(std::string_view header);

// Total: an unknown id or a missing argument shows the id and the arguments instead.
// `now` lets times of today stand without their date.
std::string Render(const Message& message, Language language, std::optional<Time> now = std::nullopt);

std::string FormatDuration(Duration length, Language language);  // "1 h 30 min", "1 小时 30 分"
std::string FormatBytes(int64_t bytes);                          // "3.5 GiB"
std::string FormatReal(double number);                           // four digits: "0.5312"
// Local time: "22:00" on the day of `now`, else "2026-11-30 22:00".
std::string FormatTime(Time time, std::optional<Time> now = std::nullopt);

}  // namespace ty
