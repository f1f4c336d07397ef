// Link is a command's line to the yard: it finds or starts it, speaks JSON, turns problems into errors,
// and goes on after the daemon was away for a moment.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "base/result.h"
#include "cli/caller.h"
#include "cli/http.h"

namespace ty {

class Link {
 public:
  enum class Need : unsigned char {
    kStart,  // run, submit, demo: starts the yard, also when it is down by intent
    kFind,   // the others: start it only when it is not down by intent and has been there before
    kThere,  // never starts it
  };
  static Result<Link> Open(Caller& caller, Need need);

  // `wait_s` is how long the yard may take its time (long polls), on top of the usual limit.
  Result<boost::json::value> Get(const std::string& target, int wait_s = 0);
  Result<boost::json::value> Post(const std::string& target, const boost::json::value& body);
  // A whole exchange. Repeated after a broken line only for GET and with an Idempotency-Key.
  Result<HttpReply> Ask(HttpRequest request);

 private:
  Link(Caller& caller, Need need, HttpLine line) : caller_(&caller), need_(need), line_(std::move(line)) {}
  // After the line broke: waits for the daemon to come back, saying so; one that never answered is opened
  // anew.
  Status Reconnect();

  Caller* caller_;
  Need need_;
  HttpLine line_;
  bool answered_ = false;  // on this link, at least once
};

Result<boost::json::value> ParseAnswer(std::string_view text);
// The error that a problem of the API stands for.
Error ErrorOfProblem(const boost::json::value& problem);

}  // namespace ty
