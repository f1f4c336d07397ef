// Backend is what the handlers ask: the Yard and the store, by the few verbs they use. Calls return at once;
// answers come on the loop's thread. Tests bring their own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/exchange.h"
#include "store/store.h"
#include "yard/input.h"
#include "yard/view.h"

namespace ty {

class Inbox;
class SeriesStore;

struct YardFacts {
  YardView yard;
  std::vector<DeviceView> devices;
  std::vector<TaskId> running;
  std::string home, instance, owner;
  bool survives_logout = false, survives_reboot = false;
};

class Backend {
 public:
  virtual ~Backend() = default;

  // Their replies come on the loop's thread too.
  virtual void Post(Submit submit) = 0;
  virtual void Post(Preview preview) = 0;
  virtual void Post(Act act) = 0;
  virtual void Post(ActOnDevices act) = 0;
  virtual void Post(PauseQueue pause) = 0;

  // The Yard's answers; nothing when the task is not open. `last_event`: the last durable event then.
  virtual void Describe(TaskId id, std::function<void(std::optional<TaskView>, int64_t last_event)> then) = 0;
  virtual void ListOpen(OpenFilter filter, std::function<void(std::vector<TaskView>)> then) = 0;
  virtual void AreOpen(std::vector<TaskId> ids, std::function<void(std::vector<bool>)> then) = 0;
  virtual void Look(std::function<void(YardFacts)> then) = 0;

  // `wake` is called once; dropping the token before stops the waiting.
  virtual std::shared_ptr<void> AwaitEnd(TaskId id, std::function<void()> wake) = 0;
  virtual std::shared_ptr<void> AwaitEvents(int64_t after, std::function<void()> wake) = 0;

  // `read` runs on the store's thread, `then` on the loop's.
  virtual void Read(std::function<void(Rows&)> read, std::function<void()> then) = 0;

  // `read` runs on the thread of the series, `then` on the loop's.
  virtual void ReadSeries(std::function<void(SeriesStore&)> read, std::function<void()> then) = 0;
  // Memory alone; grows with each point of the task.
  virtual int64_t SeriesVersion(TaskId id) = 0;
};

// Reads a value from the store, then goes on with it.
template <class T>
void Fetch(Backend& backend, std::function<T(Rows&)> read, std::function<void(T)> then) {
  auto kept = std::make_shared<std::optional<T>>();
  backend.Read([kept, read = std::move(read)](Rows& rows) { *kept = read(rows); },
               [kept, then = std::move(then)] { then(std::move(**kept)); });
}

// The real one. `loop` outlives what is posted to the Yard and the stores.
std::unique_ptr<Backend> MakeBackend(Inbox& inbox, Store& store, SeriesStore& series,
                                     std::shared_ptr<Loop> loop);

}  // namespace ty
