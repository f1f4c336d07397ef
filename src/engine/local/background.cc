#include "engine/local/background.h"

#include <algorithm>

namespace ty {

void Background::Run(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (closing_) return;
  waiting_.push_back(std::move(work));
  for (const auto id : finished_) {
    const auto it = std::find_if(threads_.begin(), threads_.end(), [&](auto& t) { return t.get_id() == id; });
    it->join();
    threads_.erase(it);
  }
  finished_.clear();
  if (working_ < kThreads) {
    ++working_;
    threads_.emplace_back([this] { Work(); });
  }
}

void Background::Work() {
  std::unique_lock lock(mutex_);
  while (!closing_ && !waiting_.empty()) {
    std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
  --working_;
  finished_.push_back(std::this_thread::get_id());
}

bool Background::Pause(Duration time) {
  std::unique_lock lock(mutex_);
  return !closing_wakes_.wait_for(lock, time, [this] { return closing_; });
}

void Background::Close() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    waiting_.clear();
    threads = std::move(threads_);
    threads_.clear();
    finished_.clear();
  }
  closing_wakes_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace ty
