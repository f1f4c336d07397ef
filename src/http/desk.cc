#include "http/desk.h"

#include <chrono>

namespace ty {

namespace {

constexpr auto kPatience = std::chrono::seconds(60);

}  // namespace

void Desk::Do(Job job) {
  std::unique_lock lock(mutex_);
  if (closed_) return;
  jobs_.push_back(std::move(job));
  if (working_) {
    lock.unlock();
    arrived_.notify_one();
    return;
  }
  if (thread_.joinable()) thread_.join();  // it has gone home and holds no lock any more
  working_ = true;
  thread_ = std::thread([this] { Work(); });
}

void Desk::Work() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    if (jobs_.empty()) {
      if (arrived_.wait_for(lock, kPatience, [this] { return closed_ || !jobs_.empty(); })) continue;
      if (when_idle_) when_idle_();
      break;
    }
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
  working_ = false;
}

void Desk::Close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  arrived_.notify_all();
  if (thread_.joinable()) thread_.join();
  jobs_.clear();
}

}  // namespace ty
