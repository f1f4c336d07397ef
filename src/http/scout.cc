#include "http/scout.h"

#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace ty {

namespace {

constexpr auto kPatience = seconds(3);
constexpr int kMostAway = 8;  // each may hang for as long as its disk does

}  // namespace

// What the threads share; it outlives the Scout for as long as one of them hangs.
struct Scout::Camp {
  std::mutex mutex;
  Scout* scout;  // null: gone
  std::deque<std::pair<uint64_t, Look>> errands;
  int away = 0;
};

Scout::Scout(Loop& loop) : loop_(loop), camp_(std::make_shared<Camp>()) {
  camp_->scout = this;
}

Scout::~Scout() {
  std::lock_guard lock(camp_->mutex);
  camp_->scout = nullptr;
  camp_->errands.clear();
}

void Scout::Send(Look look, Then then) {
  const uint64_t errand = ++errands_;
  waiting_[errand] = {std::move(then), loop_.After(kPatience, [this, errand] { Tell(errand, {}); })};
  std::lock_guard lock(camp_->mutex);
  camp_->errands.emplace_back(errand, std::move(look));
  if (camp_->away >= kMostAway) return;
  try {
    std::thread([camp = camp_] { Work(camp); }).detach();
    ++camp_->away;
  } catch (const std::exception&) {
    // No thread is to be had now: the next one that is takes it along, or nothing is seen.
  }
}

void Scout::Tell(uint64_t errand, std::vector<Error> seen) {
  auto found = waiting_.extract(errand);
  if (found) found.mapped().then(std::move(seen));
}

void Scout::Work(const std::shared_ptr<Camp>& camp) {
  std::unique_lock lock(camp->mutex);
  while (!camp->errands.empty()) {
    const auto [errand, look] = std::move(camp->errands.front());
    camp->errands.pop_front();
    lock.unlock();
    auto seen = std::make_shared<std::vector<Error>>(look());
    lock.lock();
    if (camp->scout == nullptr) break;
    camp->scout->loop_.Post([camp, errand = errand, seen] {
      if (camp->scout != nullptr) camp->scout->Tell(errand, std::move(*seen));
    });
  }
  --camp->away;
}

}  // namespace ty
