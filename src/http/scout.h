// Scout sends somebody to look at places that may not answer, such as a folder of a network disk that is
// gone: the loop never waits, and who does not come back in time has seen nothing. Used on the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "http/exchange.h"

namespace ty {

class Scout {
 public:
  using Look = std::function<std::vector<Error>()>;      // on a thread of its own
  using Then = std::function<void(std::vector<Error>)>;  // on the loop's, once

  explicit Scout(Loop& loop);
  ~Scout();  // waits for nobody: who still looks finds nobody to tell
  void Send(Look look, Then then);

 private:
  struct Camp;
  struct Waiting {
    Then then;
    std::shared_ptr<void> timer;
  };
  static void Work(const std::shared_ptr<Camp>& camp);
  void Tell(uint64_t errand, std::vector<Error> seen);

  Loop& loop_;
  std::shared_ptr<Camp> camp_;
  uint64_t errands_ = 0;
  std::unordered_map<uint64_t, Waiting> waiting_;
};

}  // namespace ty
