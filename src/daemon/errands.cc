#include "daemon/errands.h"

namespace ty {

ErrandThread::ErrandThread() : thread_([this] { Loop(); }) {}

ErrandThread::~ErrandThread() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  arrived_.notify_all();
  thread_.join();
}

void ErrandThread::Run(Errand errand) {
  {
    std::lock_guard lock(mutex_);
    errands_.push_back(std::move(errand));
  }
  arrived_.notify_one();
}

void ErrandThread::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [this] { return closed_ || !errands_.empty(); });
    if (closed_) return;
    Errand errand = std::move(errands_.front());
    errands_.pop_front();
    lock.unlock();
    errand();
    lock.lock();
  }
}

}  // namespace ty
