// Background runs work that may take long (adopting, killing what is left, deleting) on at most sixteen
// threads. Threads come with the work and go when there is none.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/time.h"

namespace ty {

class Background {
 public:
  Background() = default;
  ~Background() { Close(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void Run(std::function<void()> work);
  // For work that waits: false once Close was called, which it must heed.
  bool Pause(Duration time);
  void Close();  // drops what has not begun, waits for what has

 private:
  static constexpr size_t kThreads = 16;
  void Work();

  std::mutex mutex_;
  std::condition_variable closing_wakes_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  std::vector<std::thread::id> finished_;
  size_t working_ = 0;
  bool closing_ = false;
};

}  // namespace ty
