// ErrandThread runs errands one after the other on a thread that may block, so that the Yard's never does.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "yard/yard.h"

namespace ty {

class ErrandThread {
 public:
  ErrandThread();
  ~ErrandThread();  // errands not begun are dropped: each can be lost without harm
  void Run(Errand errand);

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Errand> errands_;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace ty
