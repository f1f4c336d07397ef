#include "yard/yard.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/assert.h"
#include "base/log.h"
#include "base/paths.h"
#include "msg/probe.h"
#include "msg/store.h"
#include "msg/why.h"
#include "store/room.h"

namespace ty {

namespace {
constexpr Duration kPatience = milliseconds(20);
}

Yard::Yard(YardSettings settings, Machine machine, Store& store, Engine& engine, Ingest& ingest, Inbox& inbox,
           Errands errands, DeviceWatch* watch, HostLeases* host)
    : settings_(std::move(settings)),
      machine_(std::move(machine)),
      store_(store),
      engine_(engine),
      ingest_(ingest),
      inbox_(inbox),
      errands_(std::move(errands)),
      watch_(watch),
      host_(host),
      ledger_(settings_.instance) {
  if (!settings_.expect_gpus) {
    for (const Device& device : machine_.devices) ledger_.Put(device);
  } else {  // until the first report, which a driver that hangs may hold up
    probe_ = ProbeState::kHanging;
    probe_trouble_ = msg::ProbeHanging{};
  }
}

Yard::~Yard() = default;

void Yard::Turn(Time now) {
  now_ = now;
  for (Input& input : inbox_.Drain()) {
    std::visit([this](auto& one) { Apply(one); }, input);
  }
  WakeDue();
  EndHolds();
  ConcludeMute(std::nullopt);
  if (decide_ && !adopting_ && !health_.low) DecideAll();
  TakeTurns();
  TellWatch();
  Commit();
  // Answered last: who reads on in the store then finds there what has just left this memory.
  for (const Ask& ask : std::exchange(asks_, {})) ask.question(*this);
}

std::optional<Time> Yard::next_wakeup() const {
  std::optional<Time> next = decide_at_;
  if (!due_.empty() && (!next || due_.begin()->first < *next)) next = due_.begin()->first;
  if (patient_until_ && (!next || *patient_until_ < *next)) next = patient_until_;
  if (!device_due_.empty() && (!next || device_due_.begin()->first < *next))
    next = device_due_.begin()->first;
  if (!mute_.empty() && (!next || mute_.begin()->first < *next)) next = mute_.begin()->first;
  if (const std::optional<Time> turn = NextTurn(); turn && (!next || *turn < *next)) next = turn;
  return next;
}

void Yard::Close(Time now) {
  now_ = now;
  Emit("daemon.stopped");
  Commit();
}

void Yard::Commit() {
  if (journal_.empty()) return;
  if (!journal_.wanted()) {
    if (!patient_until_) patient_until_ = now_ + kPatience;
    if (now_ < *patient_until_) return;
  }
  patient_until_.reset();
  auto [batch, acts] = journal_.Take();
  batch.number = ++batches_;
  pending_.push_back(Pending{batch.number, last_event_, std::move(acts)});
  store_.Commit(std::move(batch), [this](Receipt receipt) { inbox_.Post(Committed{std::move(receipt)}); });
}

void Yard::Apply(Committed& committed) {
  TY_ASSERT(!pending_.empty() && pending_.front().number == committed.receipt.number);
  Pending done = std::move(pending_.front());
  pending_.pop_front();
  if (!committed.receipt.committed) broken_ = committed.receipt.committed.error();
  for (Journal::Act& act : done.acts) act(committed.receipt);
  if (broken_) return;
  durable_event_ = std::max(durable_event_, done.last_event);
  auto waits = [this](const AwaitEvents& await) { return await.after >= durable_event_; };
  auto ready = std::partition(await_events_.begin(), await_events_.end(), waits);
  std::vector<AwaitEvents> woken(ready, await_events_.end());
  await_events_.erase(ready, await_events_.end());
  for (const AwaitEvents& await : woken) {
    if (auto wake = await.wake.lock()) (*wake)();
  }
}

void Yard::Apply(Ask& ask) {
  asks_.push_back(std::move(ask));
}

void Yard::Apply(HostChanged& host) {
  settings_.survives_logout = host.survives_logout;
  settings_.survives_reboot = host.survives_reboot;
}

void Yard::Apply(StoreHealth& health) {
  health_ = std::move(health);
  decide_ = true;
  if (!health_.broken.empty() && !broken_)
    broken_ = Error{Code::kInternal,
                    msg::StoreBroken{.path = StatePaths{settings_.home}.Database(), .what = health_.broken},
                    {}};
}

Status Yard::HasRoom(bool makes_room) const {
  // Asked anew, which costs some microseconds: what is taken in on a disk that has just become so would wait,
  // and its client with it.
  if (health_.read_only || TakesNoWriting(settings_.home))
    return Fail(Code::kUnavailable, msg::StoreReadOnly{.folder = settings_.home});
  if (health_.stuck) return Fail(Code::kUnavailable, msg::StoreStuck{.folder = settings_.home});
  if (!health_.low || makes_room) return {};
  return Fail(Code::kUnavailable,
              msg::StoreLow{.folder = settings_.home, .room = health_.room, .need = health_.need});
}

void Yard::Apply(AwaitEnd& await) {
  auto wake = await.wake.lock();
  if (!wake) return;
  if (!IsOpen(await.task)) {
    (*wake)();
    return;
  }
  // Those who gave up meanwhile leave a dead pointer behind; they go when the same task is asked about again.
  auto [first, last] = await_end_.equal_range(await.task);
  for (auto it = first; it != last;) it = it->second.expired() ? await_end_.erase(it) : std::next(it);
  await_end_.emplace(await.task, await.wake);
}

void Yard::Apply(AwaitEvents& await) {
  auto wake = await.wake.lock();
  if (!wake) return;
  if (await.after < durable_event_) {
    (*wake)();
    return;
  }
  std::erase_if(await_events_, [](const AwaitEvents& other) { return other.wake.expired(); });
  await_events_.push_back(await);
}

Task* Yard::FindTask(TaskId id) {
  auto found = tasks_.find(id);
  return found == tasks_.end() ? nullptr : &found->second;
}

const Task* Yard::FindTask(TaskId id) const {
  auto found = tasks_.find(id);
  return found == tasks_.end() ? nullptr : &found->second;
}

Yard::Live* Yard::FindLive(Ulid uid) {
  auto found = lives_.find(uid);
  return found == lives_.end() ? nullptr : &found->second;
}

const Yard::Live* Yard::LiveOf(TaskId id) const {
  auto found = current_.find(id);
  return found == current_.end() ? nullptr : &lives_.at(found->second);
}

Yard::Live* Yard::LiveOf(TaskId id) {
  auto found = current_.find(id);
  return found == current_.end() ? nullptr : &lives_.at(found->second);
}

void Yard::Emit(std::string kind, std::optional<TaskId> task, int attempt, const boost::json::object& data) {
  Event event;
  event.seq = ++last_event_;
  event.at = Wall();
  event.kind = std::move(kind);
  event.task = task;
  event.attempt = attempt;
  event.data = boost::json::serialize(data);
  journal_.Write(EventAdded{std::move(event)});
}

void Yard::Emit(std::string kind, std::optional<TaskId> task, int attempt) {
  Event event;
  event.seq = ++last_event_;
  event.at = Wall();
  event.kind = std::move(kind);
  event.task = task;
  event.attempt = attempt;
  journal_.Write(EventAdded{std::move(event)});
}

// ---- Questions.

bool Yard::IsOpen(TaskId id) const {
  return tasks_.count(id) != 0;
}

std::string Yard::NameOf(TaskId id) const {
  const Task* task = FindTask(id);
  const std::string number = std::to_string(id.value);
  return task == nullptr ? number : number + " (" + task->name + ")";
}

std::optional<TaskView> Yard::Describe(TaskId id) const {
  const Task* task = FindTask(id);
  if (task == nullptr) return std::nullopt;
  TaskView view;
  view.task = *task;
  if (const Live* live = LiveOf(id)) {
    view.attempt = live->attempt;
    view.progress = live->progress;
    view.metrics = live->metrics;
    view.time_left = TimeLeft(*live);
    view.frozen = live->frozen;
    if (std::holds_alternative<Stopping>(task->state)) view.reason = WhyStopping(*live);
    if (live->stuck) view.reason = msg::WhyShimStuck{};
    if (live->unkillable) view.reason = msg::WhyUnkillable{};
  } else if (IsWaiting(*task)) {
    view.reason = *Why(id);
  }
  return view;
}

// Who asked, and how long it has.
Message Yard::WhyStopping(const Live& live) const {
  if (!live.kill_at || live.exit) return msg::WhyStopping{};
  const auto left = std::chrono::ceil<std::chrono::seconds>(std::max(Duration{}, *live.kill_at - now_));
  if (live.attempt.stop_kind == OutcomeKind::kPreempted) return msg::WhyDisplacing{.left = left};
  if (left == Duration{}) return msg::WhyKilling{};
  return msg::WhyCancelling{.left = left, .task = std::to_string(live.attempt.task.value)};
}

// Running first, by id, then waiting in queue order. `after` is the last task of the page before; when it has
// ended meanwhile the page begins with the running ones behind it.
std::vector<TaskView> Yard::ListOpen(const OpenFilter& filter) const {
  auto wanted = [&](const Task& task) {
    if (!filter.tag.empty() && std::find(task.tags.begin(), task.tags.end(), filter.tag) == task.tags.end())
      return false;
    if (filter.state.empty()) return true;
    const bool waiting = IsWaiting(task);
    if (filter.state == "held") return waiting && task.held;
    return filter.state == "waiting"   ? waiting
           : filter.state == "running" ? !waiting && !IsEnded(task)
                                       : Name(task.state) == filter.state;
  };
  const Task* last = filter.after > 0 ? FindTask(TaskId{filter.after}) : nullptr;
  const bool past_running = last != nullptr && IsWaiting(*last);
  std::vector<TaskView> views;
  const size_t limit = static_cast<size_t>(std::max(filter.limit, 0));
  for (TaskId id : past_running ? std::vector<TaskId>() : Running()) {
    if (views.size() >= limit) return views;
    if (id.value > filter.after && wanted(*FindTask(id))) views.push_back(*Describe(id));
  }
  auto from = past_running ? order_.upper_bound(KeyOf(*last)) : order_.begin();
  for (; from != order_.end() && views.size() < limit; ++from) {
    if (wanted(*FindTask(from->id))) views.push_back(*Describe(from->id));
  }
  return views;
}

std::vector<TaskId> Yard::Running() const {
  std::vector<TaskId> ids;
  for (const auto& [id, uid] : current_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

YardView Yard::Overview() const {
  YardView view;
  view.running = static_cast<int>(current_.size());
  view.waiting = static_cast<int>(order_.size());
  for (const QueuePlace& key : order_) view.held += FindTask(key.id)->held ? 1 : 0;
  view.devices = static_cast<int>(ledger_.rows().size());
  for (const DeviceRow& row : ledger_.rows()) view.devices_free += row.usable && row.tenants.empty() ? 1 : 0;
  view.probe = probe_;
  view.probe_trouble = probe_trouble_.value_or(Message{});
  view.driver = driver_;
  view.cuda = cuda_;
  view.paused = paused_;
  view.store = health_;
  view.adopting = adopting_;
  for (const auto& [uid, stray] : strays_) {
    StrayView one{uid, stray.task, stray.number, stray.shim, stray.command, {}};
    for (const Entry& entry : ledger_.entries())
      if (entry.stray == uid) one.devices.push_back(entry.device.label);
    view.strays.push_back(std::move(one));
  }
  view.put_aside = put_aside_;
  view.cores = machine_.cores;
  view.containment = engine_.Containment();
  return view;
}

std::optional<Message> Yard::Why(TaskId id) const {
  const Task* task = FindTask(id);
  if (task == nullptr || !IsWaiting(*task)) return std::nullopt;
  if (adopting_) return Message(msg::WhyAdopting{});
  if (health_.read_only && ready_.Contains(id))
    return Message(msg::WhyDiskReadOnly{.folder = settings_.home});
  if (health_.low && ready_.Contains(id))
    return Message(msg::WhyReadOnly{.room = health_.room, .need = health_.need, .folder = settings_.home});
  return Explain(MakeView(), *task, OpenDependenciesOf(*task), now_);
}

}  // namespace ty
