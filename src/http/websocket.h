// Websocket carries one live stream over a connection whose request has been admitted (RFC 6455, by Beast).
// It pings a browser that is quiet for 20 s and gives it up 20 s later. Everything on the loop's thread.
#pragma once

#include <functional>
#include <memory>

#include "http/exchange.h"
#include "http/live.h"
#include "posix/fd.h"

namespace boost::asio {
class io_context;
}

namespace ty {

class Websocket : public LiveLine {
 public:
  static std::shared_ptr<Websocket> Make(boost::asio::io_context& io, UniqueFd fd, bool unix_socket);

  using Opener = std::function<std::shared_ptr<LiveClient>(std::shared_ptr<LiveLine>)>;
  // Answers the handshake; then `open` makes the client that takes the frames. `ended` is called once, when
  // nothing more will come of it.
  virtual void Begin(const Request& request, const std::string& cookie, Opener open,
                     std::function<void()> ended) = 0;
  virtual void Drop() = 0;  // at once, without a word
};

// Whether this asks for a WebSocket at all; `fault` says what is wrong with how it asks (a status, or 0).
struct Upgrade {
  bool asked = false;
  int fault = 0;
};
Upgrade JudgeUpgrade(const Request& request);

}  // namespace ty
