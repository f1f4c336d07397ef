// Server listens: on the Unix socket of the state folder for the command line, and on a loopback address for
// the page. One thread of its own reads, answers and writes; it never waits for the Yard, the store or a
// client.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/api.h"

namespace ty {

class Inbox;
class SeriesStore;

struct ServerSettings {
  std::string home;  // state folder, 0700; the socket is made inside
  std::string
      listen;  // "127.0.0.1:7788", "[::1]:0", ":80"; "": port 7788 or the next free one; "none": socket alone
  std::string owner, instance, version;
  std::string web_folder;          // the page's files are read from here instead of out of the program
  std::vector<std::string> hosts;  // configured names that Host may carry
  std::function<void(bool cancelled)>
      on_down;                // on the server's thread, once the answer has gone out: never calls Stop itself
  std::function<Time()> now;  // wall clock; the system's when empty
  std::function<void(Language, std::function<void(std::string)>)> doctor;  // as ApiSettings says
  std::optional<Variables> basics;                                         // too
  int most_connections = 512;  // of each kind; fewer when the process may open few files
};

class Server {
 public:
  using BackendMaker = std::function<std::unique_ptr<Backend>(std::shared_ptr<Loop>)>;

  // Binds and begins to answer. Errors: port taken, no permission, not loopback, socket or folder not fit.
  static Result<std::unique_ptr<Server>> Start(ServerSettings settings, const BackendMaker& make_backend);
  // The same with the real Backend. Inbox and stores outlive the server.
  static Result<std::unique_ptr<Server>> Start(ServerSettings settings, Inbox& inbox, Store& store,
                                               SeriesStore& series);

  ~Server();                // stops
  std::string url() const;  // "http://127.0.0.1:7788"; empty without a TCP listener
  // Closes the listeners, lets answers go out that are ready, ends every wait, and joins the thread.
  void Stop();

 private:
  class Engine;
  explicit Server(std::shared_ptr<Engine> engine);
  std::shared_ptr<Engine> engine_;
};

}  // namespace ty
