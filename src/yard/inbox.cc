#include "yard/inbox.h"

namespace ty {

void Inbox::Post(Input input) {
  {
    std::lock_guard lock(mutex_);
    inputs_.push_back(std::move(input));
  }
  arrived_.notify_one();
}

std::vector<Input> Inbox::Drain() {
  std::lock_guard lock(mutex_);
  return std::exchange(inputs_, {});
}

void Inbox::Wait(std::optional<Duration> at_most) {
  std::unique_lock lock(mutex_);
  auto ready = [this] { return closed_ || !inputs_.empty(); };
  if (at_most) {
    arrived_.wait_for(lock, *at_most, ready);
  } else {
    arrived_.wait(lock, ready);
  }
}

bool Inbox::empty() const {
  std::lock_guard lock(mutex_);
  return inputs_.empty();
}

void Inbox::Close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  arrived_.notify_all();
}

bool Inbox::closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

}  // namespace ty
