#include "store/ledger.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace ty {
namespace {

constexpr Duration kRestAfter = milliseconds(500);

struct Order {
  // Either a batch with `done`, or `read`.
  Batch batch;
  std::function<void(Receipt)> done;
  std::function<void(Rows&)> read;
};

class ThreadedStore final : public Store {
 public:
  ThreadedStore(std::unique_ptr<Ledger> ledger, Duration look_every)
      : ledger_(std::move(ledger)), look_every_(look_every), thread_([this] { Run(); }) {}

  ~ThreadedStore() override {
    {
      std::lock_guard lock(mutex_);
      closing_ = true;
    }
    arrived_.notify_one();
    thread_.join();
  }

  void Commit(Batch batch, std::function<void(Receipt)> done) override {
    Order order;
    order.batch = std::move(batch);
    order.done = std::move(done);
    Take(std::move(order));
  }

  void Read(std::function<void(Rows&)> read) override {
    Order order;
    order.read = std::move(read);
    Take(std::move(order));
  }

 private:
  using Clock = std::chrono::steady_clock;

  void Take(Order order) {
    {
      std::lock_guard lock(mutex_);
      orders_.push_back(std::move(order));
    }
    arrived_.notify_one();
  }

  void Run() {
    bool rested = true, working = false;
    Clock::time_point look_at = Clock::now() + look_every_;
    while (true) {
      const Duration rest_left = rested ? look_every_ : Duration(kRestAfter);
      const Duration patience = working ? Duration{} : std::min<Duration>(rest_left, look_at - Clock::now());
      std::optional<std::vector<Order>> orders = Await(patience);
      if (!orders) break;
      const bool idle = orders->empty();
      if (!idle) {
        Serve(std::move(*orders));
        rested = false;
      }
      if (Clock::now() >= look_at) {
        look_at = Clock::now() + look_every_;
        ledger_->Look();
        if (!kept_.empty()) Serve({});
        working = true;
      } else if (idle && !rested && !working) {
        ledger_->Rest();
        rested = true;
      }
      if (working) working = ledger_->Work();
    }
    GiveUpKept();
  }

  // Whatever has arrived; what arrives meanwhile is the next group. Empty when nothing has for so long,
  // nothing when the store closes and all is done.
  std::optional<std::vector<Order>> Await(Duration patience) {
    std::unique_lock lock(mutex_);
    const auto something = [this] { return !orders_.empty() || closing_; };
    if (patience > Duration{}) arrived_.wait_for(lock, patience, something);
    if (orders_.empty() && closing_) return std::nullopt;
    return std::exchange(orders_, {});
  }

  // All batches are one commit. A read sees every batch handed over before it; it may see some handed over
  // later, so reads never cut a group in two. While batches wait for room, others queue behind them and reads
  // are answered from what there is.
  void Serve(std::vector<Order> orders) {
    const bool waiting = !kept_.empty() && !orders.empty();
    std::vector<Order> group = waiting ? std::vector<Order>() : std::exchange(kept_, {});
    for (Order& order : orders) {
      if (order.read && (group.empty() || waiting))
        order.read(ledger_->rows());
      else
        (waiting ? kept_ : group).push_back(std::move(order));
    }
    if (!group.empty()) WriteGroup(std::move(group));
  }

  void WriteGroup(std::vector<Order> group) {
    std::vector<Batch> batches;
    for (Order& order : group)
      if (!order.read) batches.push_back(std::move(order.batch));
    std::vector<Receipt> receipts;
    const Status written = ledger_->Write(batches, receipts);
    size_t next = 0;
    for (Order& order : group) {
      if (order.read) {
        order.read(ledger_->rows());
      } else if (written) {
        order.done(std::move(receipts[next++]));
      } else {
        order.batch = std::move(batches[next++]);
        kept_.push_back(std::move(order));
      }
    }
  }

  // The store closes: a last try, one by one and never past one that was not kept, since what follows rests
  // on it. Then whoever still waits is told that nothing of it was kept.
  void GiveUpKept() {
    Status written;
    for (Order& order : kept_) {
      std::vector<Batch> batches;
      batches.push_back(std::move(order.batch));
      std::vector<Receipt> receipts;
      if (written) written = ledger_->Write(batches, receipts);
      if (written)
        order.done(std::move(receipts.front()));
      else
        order.done({.number = batches.front().number, .committed = written, .specs = {}});
    }
  }

  std::unique_ptr<Ledger> ledger_;
  const Duration look_every_;
  std::vector<Order> kept_;  // batches that wait for room, in order
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Order> orders_;
  bool closing_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace

std::unique_ptr<Store> OnThread(std::unique_ptr<Ledger> ledger, Duration look_every) {
  return std::make_unique<ThreadedStore>(std::move(ledger), look_every);
}

}  // namespace ty
