// What a request and its answer are to the rest of this room: plain structs. Only reader.cc knows Beast and
// only server.cc knows Asio. Everything here happens on the loop's thread unless it says otherwise.
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "words/words.h"

namespace ty {

struct Route;

struct Peer {
  bool socket = false;   // came over the Unix socket
  bool trusted = false;  // and is the yard's own user or root, by SO_PEERCRED
  bool session = false;  // a browser that is signed in
  std::string browser;   // which, as Browsers knows it
};

struct Request {
  std::string method;             // as sent; case counts
  std::string target;             // as sent
  std::vector<std::string> path;  // decoded parts; set by routing, as the query
  std::vector<std::pair<std::string, std::string>> query;
  std::vector<std::pair<std::string, std::string>> headers;  // in order
  std::string body;
  int version = 11;
  bool keep_alive = true;
  bool expects_continue = false;
  std::optional<uint64_t> content_length;
  Peer peer;
  Language language = Language::kEnglish;

  size_t Count(std::string_view header) const;
  std::string_view Header(std::string_view name) const;  // the first; case does not count; empty when absent
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::vector<std::pair<std::string_view, std::string>> headers;
  std::string body;
  std::string_view lasting;     // instead of `body`: bytes that live as long as the program
  std::function<void()> after;  // called once it has been written, or could not be

  std::string_view content() const { return lasting.empty() ? std::string_view(body) : lasting; }
};

// Loop runs what it is given, one after the other, on one thread.
class Loop {
 public:
  virtual ~Loop() = default;
  virtual void Post(std::function<void()> act) = 0;  // from any thread; dropped once the loop has stopped
  // Runs `act` after the delay; dropping the token before cancels it.
  virtual std::shared_ptr<void> After(Duration delay, std::function<void()> act) = 0;
};

// Call is one request on its way to one answer. Handlers keep it as long as they need to answer.
class Call {
 public:
  using Responder = std::function<void(Response)>;
  Call(Request request, Responder respond) : request(std::move(request)), respond_(std::move(respond)) {}

  Request request;
  const Route* route = nullptr;
  std::string task;  // the {task} of the path, or what else it names

  std::string renewed_cookie;  // goes along with the answer

  bool answered() const { return answered_; }
  Language language() const { return request.language; }
  // The first answer counts, later ones are ignored: a wait may end in two ways at once.
  void Answer(Response response);
  void Answer(const boost::json::value& json, int status = 200);
  void Refuse(const Error& error);
  void Refuse(int status, const Error& error);
  void Refuse(const std::vector<Error>& errors);  // of one kind, at least one

  // Somebody who waits may go away. `act` is called once then, and never after the answer.
  void WhenGone(std::function<void()> act);
  bool waits() const { return static_cast<bool>(when_gone_); }
  void Gone();
  std::function<void()> on_wait;  // of the server: somebody wants to know when the caller goes

 private:
  Responder respond_;
  std::function<void()> when_gone_;
  bool answered_ = false;
};
using CallPtr = std::shared_ptr<Call>;

// A body that is read piece by piece instead of being kept whole.
class BodySink {
 public:
  virtual ~BodySink() = default;
  virtual void Take(std::string_view piece) = 0;  // may answer the call early: the rest is thrown away
  virtual void Finish() = 0;
};

}  // namespace ty
