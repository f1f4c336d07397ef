#include "http/browsers.h"

#include <fcntl.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstring>

#include "base/digest.h"
#include "base/log.h"
#include "http/body.h"
#include "http/secret.h"
#include "posix/files.h"

namespace ty {

namespace json = boost::json;

namespace {

constexpr Duration kLife = hours(24 * 30);
constexpr Duration kKeepEvery = hours(1);
constexpr size_t kMost = 100;
constexpr size_t kFileLimit = 256 * 1024;

std::optional<std::string> Text(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->get_string());
}

bool IsHash(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

Browsers::Browsers(std::string file, std::string instance)
    : file_(std::move(file)), instance_(std::move(instance)) {
  Load();
}

void Browsers::Load() {
  auto give_up = [&](const std::string& why) {
    browsers_.clear();
    Log(file_ + " " + why + ": no browser is signed in");
  };
  SysResult<UniqueFd> fd = OpenAt(AT_FDCWD, file_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!fd && fd.error() == ENOENT) return;
  SysResult<std::string> text = fd ? ReadAllAt(fd->get(), kFileLimit) : tl::unexpected(fd.error());
  if (!text) return give_up(std::string("cannot be read (") + std::strerror(text.error()) + ")");
  Result<json::value> whole = ParseJson(*text);
  const json::object* object = whole && whole->is_object() ? &whole->get_object() : nullptr;
  const json::value* format = object ? object->if_contains("format") : nullptr;
  const json::value* list = object ? object->if_contains("browsers") : nullptr;
  if (format == nullptr || *format != 1 || list == nullptr || !list->is_array()) return give_up("is damaged");
  if (Text(*object, "instance") != instance_) return give_up("is of another yard");
  for (const json::value& one : list->get_array()) {
    if (!one.is_object()) return give_up("is damaged");
    const json::object& entry = one.get_object();
    const std::string hash = Text(entry, "hash").value_or("");
    const std::optional<Time> since = ParseIso(Text(entry, "since").value_or(""));
    const std::optional<Time> used = ParseIso(Text(entry, "used").value_or(""));
    if (!IsHash(hash) || !since || !used || browsers_.size() == kMost) return give_up("is damaged");
    browsers_.push_back({hash, *since, *used, *used});
  }
}

// Whole or not at all, as far as a killed process goes; a power cut may sign somebody out.
void Browsers::Keep() {
  json::array list;
  for (Browser& one : browsers_) {
    one.kept = one.used;
    list.push_back(
        json::object{{"hash", one.hash}, {"since", FormatIso(one.since)}, {"used", FormatIso(one.used)}});
  }
  const std::string text =
      json::serialize(json::object{{"format", 1}, {"instance", instance_}, {"browsers", std::move(list)}});
  SysStatus written = ReplaceFile(file_, text + "\n");
  if (!written) {
    Log(file_ + " cannot be written (" + std::strerror(written.error()) +
        "): who signed in or out now is forgotten by the next start");
  }
}

void Browsers::ForgetOld(Time now) {
  std::erase_if(browsers_, [now](const Browser& one) { return now - one.used > kLife; });
}

std::string Browsers::SignIn(Time now) {
  ForgetOld(now);
  if (browsers_.size() >= kMost) {
    browsers_.erase(std::min_element(browsers_.begin(), browsers_.end(),
                                     [](const Browser& a, const Browser& b) { return a.used < b.used; }));
  }
  std::string token = MakeSecret();
  browsers_.push_back({Sha256Hex(token), now, now, now});
  Keep();
  return token;
}

const Browsers::Browser* Browsers::Look(std::string_view hash) const {
  const Browser* found = nullptr;
  for (const Browser& one : browsers_) {
    if (SameHash(one.hash, hash)) found = &one;
  }
  return found;
}

std::string Browsers::Find(std::string_view token) const {
  if (!LooksLikeSecret(token)) return {};
  const Browser* found = Look(Sha256Hex(token));
  return found == nullptr ? std::string() : found->hash;
}

bool Browsers::IsIn(std::string_view hash, Time now) const {
  const Browser* found = Look(hash);
  return found != nullptr && now - found->used <= kLife;
}

bool Browsers::Use(std::string_view hash, Time now) {
  for (Browser& one : browsers_) {
    if (one.hash != hash) continue;
    one.used = std::max(one.used, now);
    if (one.used - one.kept < kKeepEvery) return false;
    Keep();
    return true;
  }
  return false;
}

void Browsers::SignOut(std::string_view hash) {
  if (std::erase_if(browsers_, [hash](const Browser& one) { return one.hash == hash; }) > 0) Keep();
}

void Browsers::SignAllOut() {
  browsers_.clear();
  Keep();
}

std::string CookieName(const std::string& instance) {
  return "trainyard_" + instance;
}

std::string SetCookie(const std::string& instance, std::string_view token) {
  return CookieName(instance) + "=" + std::string(token) +
         "; Path=/; Max-Age=" + std::to_string(std::chrono::duration_cast<seconds>(kLife).count()) +
         "; HttpOnly; SameSite=Strict";
}

std::string DropCookie(const std::string& instance) {
  return CookieName(instance) + "=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict";
}

std::optional<std::string> FindCookie(const std::vector<std::pair<std::string, std::string>>& headers,
                                      std::string_view name) {
  std::optional<std::string> found;
  for (const auto& [key, value] : headers) {
    if (key.size() != 6 || ::strncasecmp(key.data(), "Cookie", 6) != 0) continue;
    for (std::string_view rest = value; !rest.empty();) {
      const size_t end = std::min(rest.find(';'), rest.size());
      const std::string_view pair = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const size_t equals = pair.find('=');
      if (equals == std::string_view::npos || Trimmed(pair.substr(0, equals)) != name) continue;
      if (found) return std::nullopt;
      found = std::string(Trimmed(pair.substr(equals + 1)));
    }
  }
  return found;
}

}  // namespace ty
