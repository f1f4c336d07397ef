#include "wire/json.h"

#include <charconv>
#include <limits>

#include "base/text.h"
#include "base/utf8.h"

namespace ty::wire {

namespace {

constexpr int kDepth = 16;

void WriteText(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (byte < 0x20) {
          out += "\\u00";
          out += "0123456789abcdef"[byte >> 4];
          out += "0123456789abcdef"[byte & 15];
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void WriteTo(const Json& json, std::string& out) {
  if (std::holds_alternative<std::nullptr_t>(json.value)) {
    out += "null";
  } else if (const bool* truth = json.AsBool()) {
    out += *truth ? "true" : "false";
  } else if (const int64_t* number = json.AsInt()) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, *number).ptr;
    out.append(digits, end);
  } else if (const std::string* text = json.AsText()) {
    WriteText(*text, out);
  } else if (const JsonArray* array = json.AsArray()) {
    out += '[';
    for (size_t i = 0; i < array->size(); ++i) {
      if (i > 0) out += ',';
      WriteTo((*array)[i], out);
    }
    out += ']';
  } else if (const JsonObject* object = json.AsObject()) {
    out += '{';
    for (size_t i = 0; i < object->size(); ++i) {
      if (i > 0) out += ',';
      WriteText((*object)[i].first, out);
      out += ':';
      WriteTo((*object)[i].second, out);
    }
    out += '}';
  }
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<Json> Whole() {
    std::optional<Json> json = Value(0);
    Space();
    if (at_ != text_.size()) return std::nullopt;
    return json;
  }

 private:
  void Space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }
  bool Take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::optional<Json> Value(int depth) {
    if (depth > kDepth) return std::nullopt;
    Space();
    if (at_ >= text_.size()) return std::nullopt;
    switch (text_[at_]) {
      case 'n':
        return Take("null") ? std::optional<Json>(Json()) : std::nullopt;
      case 't':
        return Take("true") ? std::optional<Json>(Json(true)) : std::nullopt;
      case 'f':
        return Take("false") ? std::optional<Json>(Json(false)) : std::nullopt;
      case '"': {
        std::optional<std::string> text = Text();
        if (!text) return std::nullopt;
        return Json(std::move(*text));
      }
      case '[':
        return Array(depth);
      case '{':
        return Object(depth);
      default:
        return Number();
    }
  }

  std::optional<Json> Number() {
    const size_t start = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    const size_t digits = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    if (at_ == digits || (text_[digits] == '0' && at_ - digits > 1)) return std::nullopt;
    if (at_ < text_.size() && (text_[at_] == '.' || text_[at_] == 'e' || text_[at_] == 'E'))
      return std::nullopt;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text_.data() + start, text_.data() + at_, number);
    if (error != std::errc() || end != text_.data() + at_) return std::nullopt;
    return Json(number);
  }

  std::optional<unsigned> Hex4() {
    if (text_.size() - at_ < 4) return std::nullopt;
    unsigned code = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = text_[at_++];
      unsigned digit = 0;
      if (c >= '0' && c <= '9') {
        digit = static_cast<unsigned>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        digit = static_cast<unsigned>(c - 'a' + 10);
      } else if (c >= 'A' && c <= 'F') {
        digit = static_cast<unsigned>(c - 'A' + 10);
      } else {
        return std::nullopt;
      }
      code = code << 4 | digit;
    }
    return code;
  }

  // What follows "\u": also the second half of a pair.
  bool Escape(std::string& out) {
    const std::optional<unsigned> first = Hex4();
    if (!first) return false;
    unsigned code = *first;
    if (code >= 0xD800 && code < 0xDC00) {
      if (!Take("\\u")) return false;
      const std::optional<unsigned> second = Hex4();
      if (!second || *second < 0xDC00 || *second > 0xDFFF) return false;
      code = 0x10000 + ((code - 0xD800) << 10) + (*second - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000) {
      return false;
    }
    AppendUtf8(out, code);
    return true;
  }

  std::optional<std::string> Text() {
    ++at_;  // the quote
    std::string out;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') {
        if (!IsUtf8(out)) return std::nullopt;
        return out;
      }
      if (static_cast<unsigned char>(c) < 0x20) return std::nullopt;
      if (c != '\\') {
        out += c;
        continue;
      }
      if (at_ >= text_.size()) return std::nullopt;
      switch (text_[at_++]) {
        case '"':
          out += '"';
          break;
        case '\\':
          out += '\\';
          break;
        case '/':
          out += '/';
          break;
        case 'b':
          out += '\b';
          break;
        case 'f':
          out += '\f';
          break;
        case 'n':
          out += '\n';
          break;
        case 'r':
          out += '\r';
          break;
        case 't':
          out += '\t';
          break;
        case 'u':
          if (!Escape(out)) return std::nullopt;
          break;
        default:
          return std::nullopt;
      }
    }
    return std::nullopt;
  }

  std::optional<Json> Array(int depth) {
    ++at_;
    JsonArray items;
    Space();
    if (Take("]")) return Json(std::move(items));
    for (;;) {
      std::optional<Json> item = Value(depth + 1);
      if (!item) return std::nullopt;
      items.push_back(std::move(*item));
      Space();
      if (Take("]")) return Json(std::move(items));
      if (!Take(",")) return std::nullopt;
    }
  }

  std::optional<Json> Object(int depth) {
    ++at_;
    JsonObject members;
    Space();
    if (Take("}")) return Json(std::move(members));
    for (;;) {
      Space();
      if (at_ >= text_.size() || text_[at_] != '"') return std::nullopt;
      std::optional<std::string> key = Text();
      if (!key) return std::nullopt;
      for (const auto& member : members) {
        if (member.first == *key) return std::nullopt;
      }
      Space();
      if (!Take(":")) return std::nullopt;
      std::optional<Json> value = Value(depth + 1);
      if (!value) return std::nullopt;
      members.emplace_back(std::move(*key), std::move(*value));
      Space();
      if (Take("}")) return Json(std::move(members));
      if (!Take(",")) return std::nullopt;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

const Json* Json::Find(std::string_view key) const {
  const JsonObject* object = AsObject();
  if (object == nullptr) return nullptr;
  for (const auto& [name, member] : *object) {
    if (name == key) return &member;
  }
  return nullptr;
}

std::string Write(const Json& json) {
  std::string out;
  WriteTo(json, out);
  return out;
}

std::optional<Json> Parse(std::string_view text) {
  return Reader(text).Whole();
}

Json FromBytes(std::string_view bytes) {
  if (IsUtf8(bytes)) return Json(bytes);
  JsonObject wrapped;
  wrapped.emplace_back("base64", ToBase64(bytes));
  return Json(std::move(wrapped));
}

std::optional<std::string> ToBytes(const Json& json) {
  if (const std::string* text = json.AsText()) return *text;
  const JsonObject* object = json.AsObject();
  if (object == nullptr || object->size() != 1) return std::nullopt;
  const Json* encoded = json.Find("base64");
  if (encoded == nullptr || encoded->AsText() == nullptr) return std::nullopt;
  return FromBase64(*encoded->AsText());
}

Fields& Fields::Read(std::string_view key, int64_t& to, bool needed) {
  const Json* member = json_.Find(key);
  if (member == nullptr) {
    ok_ = ok_ && !needed;
  } else if (const int64_t* number = member->AsInt()) {
    to = *number;
  } else {
    ok_ = false;
  }
  return *this;
}

Fields& Fields::Read(std::string_view key, std::string& to, bool needed) {
  const Json* member = json_.Find(key);
  if (member == nullptr) {
    ok_ = ok_ && !needed;
  } else if (std::optional<std::string> bytes = ToBytes(*member)) {
    to = std::move(*bytes);
  } else {
    ok_ = false;
  }
  return *this;
}

Fields& Fields::May(std::string_view key, int& to) {
  int64_t wide = to;
  Read(key, wide, false);
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    ok_ = false;
  } else {
    to = static_cast<int>(wide);
  }
  return *this;
}

Fields& Fields::May(std::string_view key, bool& to) {
  const Json* member = json_.Find(key);
  if (member == nullptr) return *this;
  if (const bool* truth = member->AsBool()) {
    to = *truth;
  } else {
    ok_ = false;
  }
  return *this;
}

Fields& Fields::May(std::string_view key, std::optional<int>& to) {
  if (json_.Find(key) == nullptr) return *this;
  int number = 0;
  May(key, number);
  to = number;
  return *this;
}

Fields& Fields::May(std::string_view key, std::optional<int64_t>& to) {
  if (json_.Find(key) == nullptr) return *this;
  int64_t number = 0;
  May(key, number);
  to = number;
  return *this;
}

}  // namespace ty::wire
