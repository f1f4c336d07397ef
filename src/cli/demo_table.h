// DemoTable is the live table of the demo: a row a task with what it does, where, whose turn it is, how far
// it is, how well it does and how long it still takes. On a terminal it is drawn over itself; into a file it
// is written again only when a state or a share changed.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "cli/caller.h"

namespace ty {

class DemoTable {
 public:
  explicit DemoTable(const Caller& caller) : caller_(caller) {}

  // Tasks and devices as the API gives them.
  void Show(const boost::json::array& tasks, const boost::json::array& devices);

 private:
  std::string Draw(const boost::json::array& tasks, const boost::json::array& devices) const;

  const Caller& caller_;
  int lines_ = 0;       // drawn last time
  std::string states_;  // written last time
};

}  // namespace ty
