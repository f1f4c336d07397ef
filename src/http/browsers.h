// Browsers knows which browsers are signed in: each by the hash of the token that its cookie carries, kept in
// one file of the state folder so that no restart signs anybody out. Thirty days without use end it.
//
//   {"format":1,"instance":"7k2m9q4x1c","browsers":[{"hash":"<SHA-256 of the token, hex>",
//     "since":"2026-11-30T09:12:27.123Z","used":"2026-11-30T09:12:27.123Z"}]}
//
// A file that cannot be read, or is of another instance, signs nobody in; the next sign-in replaces it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace ty {

class Browsers {
 public:
  Browsers(std::string file, std::string instance);

  std::string SignIn(Time now);  // the token; of 100 browsers the one longest unused makes room
  // Whose token this is, by its hash; empty: nobody's.
  std::string Find(std::string_view token) const;
  // Notes that it is being used. Once in an hour the file learns of it: then, and only then, true.
  bool Use(std::string_view hash, Time now);
  bool IsIn(std::string_view hash, Time now) const;
  void SignOut(std::string_view hash);
  void SignAllOut();

 private:
  struct Browser {
    std::string hash;
    Time since, used;
    Time kept;  // `used` as the file has it
  };
  void Load();
  void Keep();
  void ForgetOld(Time now);
  const Browser* Look(std::string_view hash) const;

  std::string file_, instance_;
  std::vector<Browser> browsers_;
};

// The cookie that carries a token: its name is of one instance, as cookies are shared by all ports of a host.
std::string CookieName(const std::string& instance);
std::string SetCookie(const std::string& instance, std::string_view token);  // value of Set-Cookie
std::string DropCookie(const std::string& instance);

// What a cookie of this name holds; nothing when it is not there, or there twice: somebody else set one too.
std::optional<std::string> FindCookie(const std::vector<std::pair<std::string, std::string>>& headers,
                                      std::string_view name);

}  // namespace ty
