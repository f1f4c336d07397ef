// What the tests of this room share: a loop that is turned by hand, and a Backend of plain maps that answers
// at once.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "http/api.h"
#include "msg/task.h"
#include "series/series.h"

namespace ty::testing {

class HandLoop final : public Loop {
 public:
  void Post(std::function<void()> act) override { act(); }
  std::shared_ptr<void> After(Duration delay, std::function<void()> act) override {
    auto timer = std::make_shared<Timer>(Timer{now_ + delay, std::move(act)});
    timers_.push_back(timer);
    return timer;
  }
  // Lets time pass, timers in order.
  void Pass(Duration time) {
    const Duration end = now_ + time;
    while (true) {
      std::shared_ptr<Timer> next;
      for (const std::weak_ptr<Timer>& weak : timers_) {
        auto timer = weak.lock();
        if (timer && timer->act && timer->at <= end && (!next || timer->at < next->at)) next = timer;
      }
      if (!next) break;
      now_ = next->at;
      auto act = std::exchange(next->act, nullptr);
      act();
    }
    now_ = end;
    std::erase_if(timers_, [](const std::weak_ptr<Timer>& timer) { return timer.expired(); });
  }
  size_t pending() {
    std::erase_if(timers_, [](const std::weak_ptr<Timer>& timer) { return timer.expired(); });
    return timers_.size();
  }

 private:
  struct Timer {
    Duration at;
    std::function<void()> act;
  };
  Duration now_{};
  std::vector<std::weak_ptr<Timer>> timers_;
};

class MapRows final : public Rows {
 public:
  std::map<TaskId, TaskRecord> tasks;
  std::map<std::string, KeptKey> keys;
  std::vector<Event> events;
  int reads = 0;

  Result<OpenState> LoadOpen() override { return OpenState{}; }
  Result<std::optional<TaskId>> LastTask() override {
    return tasks.empty() ? std::nullopt : std::optional(tasks.rbegin()->first);
  }
  Result<TaskRecord> FindTask(TaskId id) override {
    auto found = tasks.find(id);
    if (found == tasks.end()) return NotFound(msg::TaskUnknown{.task = std::to_string(id.value)});
    return found->second;
  }
  Result<std::optional<TaskId>> FindName(std::string_view name) override {
    for (auto it = tasks.rbegin(); it != tasks.rend(); ++it) {
      if (it->second.task.name == name) return std::optional(it->first);
    }
    return std::optional<TaskId>();
  }
  Result<std::optional<KeptKey>> FindKey(std::string_view key) override {
    auto found = keys.find(std::string(key));
    return found == keys.end() ? std::nullopt : std::optional(found->second);
  }
  Result<std::vector<Task>> ListEnded(const EndedFilter& filter) override {
    std::vector<Task> list;
    for (auto it = tasks.rbegin(); it != tasks.rend(); ++it) {
      const Task& task = it->second.task;
      const bool fits = IsEnded(task) && (filter.before == 0 || task.id.value < filter.before) &&
                        (!filter.since || *task.ended >= *filter.since) &&
                        (filter.kinds.empty() || std::find(filter.kinds.begin(), filter.kinds.end(),
                                                           task.outcome->kind) != filter.kinds.end()) &&
                        (filter.tag.empty() ||
                         std::find(task.tags.begin(), task.tags.end(), filter.tag) != task.tags.end());
      if (fits && static_cast<int>(list.size()) < filter.limit) list.push_back(task);
    }
    return list;
  }
  Result<std::optional<Attempt>> FindAttempt(TaskId task, int number) override {
    auto found = tasks.find(task);
    if (found == tasks.end()) return std::nullopt;
    for (const Attempt& attempt : found->second.attempts) {
      if (attempt.number == number) return attempt;
    }
    return std::nullopt;
  }
  Result<std::vector<Event>> ListEvents(int64_t after, int limit) override {
    std::vector<Event> list;
    for (const Event& event : events) {
      if (event.seq > after && static_cast<int>(list.size()) < limit) list.push_back(event);
    }
    return list;
  }
};

class MapBackend final : public Backend {
 public:
  MapRows rows;
  std::unique_ptr<SeriesStore> series;  // a test brings its own
  std::map<TaskId, TaskView> open;
  YardFacts facts;
  std::vector<Submit> submits;
  std::vector<Preview> previews;
  PreviewAnswer preview_answer;
  std::vector<Act> acts;
  std::vector<PauseQueue> pauses;
  std::vector<ActOnDevices> device_acts;
  std::function<Status(const std::string&)> act_on_device = [](const std::string&) { return Status(); };
  std::function<Status(TaskId)> act_on = [](TaskId) { return Status(); };
  int64_t next_id = 1;
  Result<SubmitReceipt> receipt = SubmitReceipt{};

  void Post(Submit submit) override {
    std::vector<SubmitReceipt> receipts;
    for (size_t i = 0; receipt && i < submit.items.size(); i++) {
      SubmitReceipt one = *receipt;
      if (one.id.value == 0) one.id = TaskId{next_id++};
      one.name = submit.items[i].spec.name;
      receipts.push_back(std::move(one));
    }
    auto reply = submit.reply;
    submits.push_back(std::move(submit));
    receipt ? reply(std::move(receipts)) : reply(Forward(receipt.error()));
  }
  void Post(Preview preview) override {
    PreviewAnswer answer = preview_answer;
    answer.receipt.name = preview.spec.name;
    auto reply = preview.reply;
    previews.push_back(std::move(preview));
    receipt ? reply(std::move(answer)) : reply(Forward(receipt.error()));
  }
  void Post(Act act) override {
    std::vector<ActAnswer> answers;
    for (TaskId id : act.tasks) {
      const bool ended = std::any_of(act.ended.begin(), act.ended.end(),
                                     [&](const TaskRecord& r) { return r.task.id == id; });
      if (open.count(id) != 0 || ended) {
        answers.push_back({id, act_on(id)});
      } else {
        answers.push_back({id, NotFound(msg::TaskUnknown{.task = std::to_string(id.value)})});
      }
    }
    if (act.all_open) {
      for (const auto& [id, view] : open) answers.push_back({id, act_on(id)});
    }
    auto reply = act.reply;
    acts.push_back(std::move(act));
    reply(std::move(answers));
  }
  void Post(ActOnDevices act) override {
    std::vector<std::pair<std::string, Status>> answers;
    for (const std::string& device : act.devices) answers.emplace_back(device, act_on_device(device));
    auto reply = act.reply;
    device_acts.push_back(std::move(act));
    reply(std::move(answers));
  }
  void Post(PauseQueue pause) override {
    auto reply = pause.reply;
    pauses.push_back(std::move(pause));
    reply({});
  }
  void Describe(TaskId id, std::function<void(std::optional<TaskView>, int64_t)> then) override {
    auto found = open.find(id);
    then(found == open.end() ? std::nullopt : std::optional(found->second),
         rows.events.empty() ? 0 : rows.events.back().seq);
  }
  void ListOpen(OpenFilter filter, std::function<void(std::vector<TaskView>)> then) override {
    std::vector<TaskView> views;
    for (const auto& [id, view] : open) {
      const bool fits =
          id.value > filter.after && (filter.state.empty() || filter.state == Name(view.task.state));
      if (fits && static_cast<int>(views.size()) < filter.limit) views.push_back(view);
    }
    then(std::move(views));
  }
  void AreOpen(std::vector<TaskId> ids, std::function<void(std::vector<bool>)> then) override {
    std::vector<bool> answers;
    for (TaskId id : ids) answers.push_back(open.count(id) != 0);
    then(answers);
  }
  void Look(std::function<void(YardFacts)> then) override { then(facts); }
  std::shared_ptr<void> AwaitEnd(TaskId id, std::function<void()> wake) override {
    return Keep(ends, id, std::move(wake));
  }
  std::shared_ptr<void> AwaitEvents(int64_t after, std::function<void()> wake) override {
    if (!rows.events.empty() && rows.events.back().seq > after) wake();
    return Keep(news, after, std::move(wake));
  }
  void Read(std::function<void(Rows&)> read, std::function<void()> then) override {
    rows.reads++;
    read(rows);
    then();
  }
  void ReadSeries(std::function<void(SeriesStore&)> read, std::function<void()> then) override {
    read(*series);
    then();
  }
  int64_t SeriesVersion(TaskId id) override { return series ? series->Version(id) : 0; }

  // What the Yard does when it happens.
  void End(TaskId id, Outcome outcome) {
    Task& task = rows.tasks[id].task;
    task.state = Ended{};
    task.outcome = std::move(outcome);
    task.ended = FromNanos(0) + hours(24 * 365 * 50);
    open.erase(id);
    Wake(ends);
  }
  void Emit(std::string kind) {
    Event event;
    event.seq = rows.events.empty() ? 1 : rows.events.back().seq + 1;
    event.kind = std::move(kind);
    rows.events.push_back(event);
    Wake(news);
  }
  size_t waiting() {
    auto alive = [](auto& list) {
      return std::count_if(list.begin(), list.end(), [](auto& one) { return !one.second.expired(); });
    };
    return static_cast<size_t>(alive(ends) + alive(news));
  }

 private:
  using Wakes = std::function<void()>;
  template <class Key>
  std::shared_ptr<void> Keep(std::vector<std::pair<Key, std::weak_ptr<Wakes>>>& list, Key key, Wakes wake) {
    auto token = std::make_shared<Wakes>(std::move(wake));
    list.emplace_back(key, token);
    return token;
  }
  template <class List>
  void Wake(List& list) {
    List woken;
    std::swap(woken, list);
    for (auto& [key, weak] : woken) {
      if (auto wake = weak.lock()) (*wake)();
    }
  }
  std::vector<std::pair<TaskId, std::weak_ptr<Wakes>>> ends;
  std::vector<std::pair<int64_t, std::weak_ptr<Wakes>>> news;
};

// A task as the Yard tells it, and its row.
inline TaskView MakeTask(int64_t id, const std::string& name, TaskState state = Waiting{}) {
  TaskView view;
  view.task.id = TaskId{id};
  view.task.name = name;
  view.task.state = state;
  return view;
}

}  // namespace ty::testing
