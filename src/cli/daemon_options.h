// What the daemon is started with. The program's main gives the daemon's entry to RunCli, which calls it for
// `up --foreground` and in the process that `run`, `submit`, `up` and `demo` start.
#pragma once

#include <string>

#include "cli/config.h"

namespace ty {

struct DaemonOptions {
  std::string home;     // state folder: absolute, made by the caller, 0700
  std::string devices;  // text of --devices: "" or "cpu:N"
  std::string listen;   // text of --listen: "" (the default), "ADDR:PORT" or ":PORT"
  std::string
      web_folder;  // text of --web-dir, absolute: the page's files are read from here, for who works on them
  std::string language;  // "en", "zh" or "": what the yard itself speaks when nobody asks
  Config config;         // as read; the options above already hold what it says where no option was given
  // Where one line of JSON goes when requests are answered: {"pid":N,"url":"…"}; or, when the start fails,
  // {"error":{"id":…,"args":{…},"text":"in `language`"}}; with the id daemon.second the client waits for the
  // other daemon, which was quicker. Closed after it. -1: nobody listens.
  int ready_fd = -1;
  bool foreground = false;  // a person watches: say on stderr what a ready_fd would be told
};

using DaemonMain = int (*)(const DaemonOptions&);

}  // namespace ty
