// Desk does jobs one after the other on a thread that may wait for disks, so that the loop's never does. The
// thread is there only while there is work.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace ty {

class Desk {
 public:
  using Job = std::function<void()>;

  // `when_idle` runs on the thread before it goes home.
  explicit Desk(Job when_idle = {}) : when_idle_(std::move(when_idle)) {}
  ~Desk() { Close(); }

  void Do(Job job);
  // Ends the job in hand, drops the others and takes no more.
  void Close();

 private:
  void Work();

  Job when_idle_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Job> jobs_;
  bool working_ = false, closed_ = false;
  std::thread thread_;
};

}  // namespace ty
