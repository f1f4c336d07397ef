// HttpLine is one HTTP/1.1 connection to the yard over its Unix socket, kept alive between requests.
// Hand-written and small: the command line must start in under a millisecond.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "posix/fd.h"

namespace ty {

struct HttpRequest {
  std::string method = "GET";
  std::string target;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string_view body;  // sent with its length for every method but GET
  std::string type = "application/json";
  int timeout_s = 120;  // without a byte arriving
};

struct HttpReply {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  std::string_view Header(std::string_view lower_case_name) const;
};

enum class HttpTrouble : unsigned char {
  kBroken,       // the other end went away, or sent what is no HTTP
  kTimeout,      // nothing came for so long
  kInterrupted,  // a signal came (Ctrl-C)
};

class HttpLine {
 public:
  // errno: ENOENT and ECONNREFUSED when nobody listens; EPERM when another user does.
  static SysResult<HttpLine> Open(const std::string& socket);

  tl::expected<HttpReply, HttpTrouble> Ask(const HttpRequest& request);
  // A request was sent whole in the last Ask: it may have been carried out.
  bool sent() const { return sent_; }

 private:
  tl::expected<void, HttpTrouble> Send(std::string_view bytes, int timeout_s);
  tl::expected<void, HttpTrouble> More(int timeout_s);  // reads some bytes into arrived_
  tl::expected<std::string, HttpTrouble> Line(int timeout_s);
  tl::expected<void, HttpTrouble> Take(size_t count, std::string& to, int timeout_s);
  tl::expected<void, HttpTrouble> TakeChunks(std::string& to, int timeout_s);

  UniqueFd fd_;
  std::string arrived_;
  size_t used_ = 0;
  bool sent_ = false;
};

// A word as part of a path or a query.
std::string PercentEncode(std::string_view word);

}  // namespace ty
