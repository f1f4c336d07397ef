#include "os/users.h"

#include <pwd.h>
#include <stdio.h>

#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace ty {

namespace {

std::mutex names_mutex;
std::map<uid_t, std::string>& Names() {
  static std::map<uid_t, std::string> names;
  return names;
}

std::optional<std::string> Known(uid_t uid) {
  std::lock_guard lock(names_mutex);
  const auto it = Names().find(uid);
  if (it == Names().end()) return std::nullopt;
  return it->second;
}

void Remember(uid_t uid, const std::string& name) {
  std::lock_guard lock(names_mutex);
  Names()[uid] = name;
}

std::optional<std::string> FromPasswd(uid_t uid) {
  FILE* file = ::fopen("/etc/passwd", "re");
  if (file == nullptr) return std::nullopt;
  std::optional<std::string> name;
  std::vector<char> room(4096);
  passwd entry = {}, *found = nullptr;
  while (!name && ::fgetpwent_r(file, &entry, room.data(), room.size(), &found) == 0) {
    if (entry.pw_uid == uid) name = entry.pw_name;
  }
  ::fclose(file);
  return name;
}

std::string Number(uid_t uid) {
  return "uid " + std::to_string(uid);
}

}  // namespace

std::string UserNameAtHand(uid_t uid) {
  if (const auto known = Known(uid)) return *known;
  const auto name = FromPasswd(uid);
  if (!name) return Number(uid);
  Remember(uid, *name);
  return *name;
}

std::string UserNameOf(uid_t uid) {
  if (const auto known = Known(uid)) return *known;
  std::vector<char> room(16384);
  passwd entry = {}, *found = nullptr;
  const bool named = ::getpwuid_r(uid, &entry, room.data(), room.size(), &found) == 0 && found != nullptr;
  const std::string name = named ? found->pw_name : Number(uid);
  Remember(uid, name);
  return name;
}

}  // namespace ty
