// Inbox carries Inputs from any thread to the Yard's. Post never blocks long; Drain takes all there is.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "base/time.h"
#include "yard/input.h"

namespace ty {

class Inbox {
 public:
  void Post(Input input);
  std::vector<Input> Drain();
  // Waits until something is there, `until` has passed (wall clock, none: no limit) or Close was called.
  void Wait(std::optional<Duration> at_most);
  bool empty() const;
  void Close();
  bool closed() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Input> inputs_;
  bool closed_ = false;
};

}  // namespace ty
