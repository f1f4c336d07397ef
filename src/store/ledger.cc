#include "store/ledger.h"

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
  explicit ThreadedStore(std::unique_ptr<Ledger> ledger)
      : ledger_(std::move(ledger)), thread_([this] { Work(); }) {}

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
  void Take(Order order) {
    {
      std::lock_guard lock(mutex_);
      orders_.push_back(std::move(order));
    }
    arrived_.notify_one();
  }

  void Work() {
    bool rested = true;
    while (std::optional<std::vector<Order>> orders = Await(rested)) {
      rested = orders->empty();
      if (rested)
        ledger_->Rest();
      else
        Serve(std::move(*orders));
    }
  }

  // Whatever has arrived; what arrives meanwhile is the next group. Empty when it is time to rest, nothing
  // when the store closes and all is done.
  std::optional<std::vector<Order>> Await(bool rested) {
    std::unique_lock lock(mutex_);
    const auto something = [this] { return !orders_.empty() || closing_; };
    if (rested)
      arrived_.wait(lock, something);
    else
      arrived_.wait_for(lock, kRestAfter, something);
    if (orders_.empty() && closing_) return std::nullopt;
    return std::exchange(orders_, {});
  }

  // All batches are one commit. A read sees every batch handed over before it; it may see some handed over
  // later, so reads never cut a group in two.
  void Serve(std::vector<Order> orders) {
    size_t first = 0;
    for (; first < orders.size() && orders[first].read; ++first) orders[first].read(ledger_->rows());

    std::vector<Batch> batches;
    for (size_t i = first; i < orders.size(); ++i)
      if (!orders[i].read) batches.push_back(std::move(orders[i].batch));
    if (batches.empty()) return;
    std::vector<Receipt> receipts = ledger_->Write(std::move(batches));

    size_t next = 0;
    for (size_t i = first; i < orders.size(); ++i) {
      if (orders[i].read)
        orders[i].read(ledger_->rows());
      else
        orders[i].done(std::move(receipts[next++]));
    }
  }

  std::unique_ptr<Ledger> ledger_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Order> orders_;
  bool closing_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace

std::unique_ptr<Store> OnThread(std::unique_ptr<Ledger> ledger) {
  return std::make_unique<ThreadedStore>(std::move(ledger));
}

}  // namespace ty
