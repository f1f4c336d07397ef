#include "testing/yard_harness.h"

#include <algorithm>
#include <map>

#include "base/assert.h"

namespace ty {

TaskSpec Spec(std::vector<std::string> argv, std::string gpus) {
  TaskSpec spec;
  spec.argv = std::move(argv);
  spec.workdir = "/";
  spec.gpus = *DeviceCounts::Parse(gpus);
  return spec;
}

YardHarness::YardHarness(int slots, int cores)
    : store(std::make_shared<PatientStore>(MakeMemoryStore())), slots_(slots), cores_(cores) {
  Open();
  FinishAdoption();
}

YardHarness::YardHarness(Gpus gpus)
    : store(std::make_shared<PatientStore>(MakeMemoryStore())), slots_(0), cores_(8), gpus_(true) {
  report.state = ProbeState::kGood;
  report.driver = "550.54.14";
  report.lists_trusted = true;
  for (int i = 0; i < gpus.count; i++) {
    DeviceReading reading;
    reading.device = FakeGpu(i);
    reading.memory_used = 0;
    reading.utilisation = 0;
    reading.processes.emplace();
    report.devices.push_back(std::move(reading));
  }
  Open();
  FinishAdoption();
  Look();
}

void YardHarness::Open() {
  yard.reset();
  engine = std::make_unique<FakeEngine>();
  ingest = std::make_unique<FakeIngest>();
  inbox = std::make_unique<Inbox>();
  std::vector<int> cpus;
  for (int i = 0; i < cores_; i++) cpus.push_back(i);
  DeviceChoice choice;
  choice.cpu_slots = slots_;
  YardSettings settings;
  settings.home = "/nowhere";
  settings.boot = "boot-1";
  settings.owner = "ann";
  settings.instance = "this";
  Machine machine = SplitCpus(cpus, int64_t{8} << 30, choice);
  if (gpus_) {
    machine.devices.clear();
    machine.complete = false;
    settings.expect_gpus = true;
    watch = std::make_unique<FakeWatch>();
    host = std::make_unique<FakeHost>();
  } else {
    settings.devices_chosen = true;
  }
  freezes_heard_ = thaws_heard_ = stops_heard_ = 0;
  yard = std::make_unique<Yard>(
      settings, machine, *store, *engine, *ingest, *inbox, [](Errand errand) { errand(); }, watch.get(),
      host.get());
  OpenState state;
  store->Read([&](Rows& rows) { state = *rows.LoadOpen(); });
  yard->Open(std::move(state), now);
}

void YardHarness::Restart() {
  Open();
}

void YardHarness::FinishAdoption() {
  engine->adopted({});
  Settle();
}

void YardHarness::Settle() {
  do {
    yard->Turn(now);
  } while (!inbox->empty());
  now += milliseconds(20);  // what was written patiently
  do {
    yard->Turn(now);
  } while (!inbox->empty());
}

void YardHarness::Pass(Duration time) {
  now += time;
  Settle();
}

Result<std::vector<SubmitReceipt>> YardHarness::SubmitAll(std::vector<SubmitItem> items) {
  std::optional<Result<std::vector<SubmitReceipt>>> answer;
  inbox->Post(ty::Submit{
      std::move(items), {}, {}, [&](Result<std::vector<SubmitReceipt>> a) { answer = std::move(a); }});
  Settle();
  TY_ASSERT(answer);
  return *answer;
}

Result<SubmitReceipt> YardHarness::Submit(TaskSpec spec, std::string key, std::string hash) {
  std::vector<SubmitItem> items(1);
  items[0].spec = std::move(spec);
  items[0].idempotency_key = std::move(key);
  items[0].request_hash = std::move(hash);
  Result<std::vector<SubmitReceipt>> receipts = SubmitAll(std::move(items));
  if (!receipts) return Forward(receipts.error());
  return receipts->front();
}

TaskId YardHarness::MustSubmit(TaskSpec spec) {
  Result<SubmitReceipt> receipt = Submit(std::move(spec));
  TY_ASSERT(receipt);
  return receipt->id;
}

std::vector<ActAnswer> YardHarness::Do(Verb verb, std::vector<TaskId> tasks, int priority) {
  Act act;
  act.verb = verb;
  act.priority = priority;
  for (TaskId id : tasks) {
    if (yard->IsOpen(id)) continue;
    store->Read([&](Rows& rows) {
      if (Result<TaskRecord> record = rows.FindTask(id)) act.ended.push_back(*record);
    });
  }
  act.tasks = std::move(tasks);
  std::vector<ActAnswer> answers;
  act.reply = [&](std::vector<ActAnswer> a) { answers = std::move(a); };
  inbox->Post(std::move(act));
  Settle();
  return answers;
}

Status YardHarness::DoOne(Verb verb, TaskId task, int priority) {
  return Do(verb, {task}, priority).front().done;
}

Ulid YardHarness::AttemptOf(TaskId task) const {
  std::optional<TaskView> view = yard->Describe(task);
  TY_ASSERT(view && view->attempt);
  return view->attempt->uid;
}

bool YardHarness::Launched(TaskId task) const {
  std::optional<TaskView> view = yard->Describe(task);
  if (!view || !view->attempt) return false;
  for (const LaunchOrder& order : engine->launched) {
    if (order.attempt == view->attempt->uid) return true;
  }
  return false;
}

void YardHarness::News(TaskId task, decltype(AttemptNews::what) what) {
  inbox->Post(AttemptNews{AttemptOf(task), std::move(what)});
  Settle();
}

void YardHarness::Begin(TaskId task) {
  News(task, AttemptRunning{now, 4242, false});
}

void YardHarness::Exit(TaskId task, int code, bool stopped) {
  ExitRecord record;
  record.exit_code = code;
  record.started = record.ended = now;
  if (stopped) record.stopped_by = ExitRecord::StoppedBy::kOrder;
  News(task, AttemptExited{record});
}

void YardHarness::Die(TaskId task, int signal) {
  ExitRecord record;
  record.signal = signal;
  record.started = record.ended = now;
  News(task, AttemptExited{record});
}

void YardHarness::See(TaskId task, Progress progress, std::optional<Pace> pace) {
  Observation seen;
  seen.attempt = AttemptOf(task);
  seen.progress = std::move(progress);
  seen.pace = pace;
  inbox->Post(std::move(seen));
  Settle();
}

void YardHarness::SaveCheckpoint(TaskId task, std::string path, int64_t step) {
  Observation seen;
  seen.attempt = AttemptOf(task);
  seen.checkpoints.push_back(Checkpoint{std::move(path), step, 1, 1});
  inbox->Post(std::move(seen));
  Settle();
}

void YardHarness::Look() {
  report.at = now;
  report.asked = watch ? watch->wish.elsewhere : std::vector<std::string>{};
  inbox->Post(report);
  report.xids.clear();
  Settle();
}

DeviceView YardHarness::DeviceOf(const std::string& label) const {
  for (DeviceView& view : yard->Devices()) {
    if (view.device.label == label) return std::move(view);
  }
  TY_ASSERT(false);
  return {};
}

void YardHarness::Obey() {
  while (freezes_heard_ < engine->freezes.size() || thaws_heard_ < engine->thaws.size() ||
         stops_heard_ < engine->stops.size()) {
    std::vector<AttemptNews> news;
    for (; freezes_heard_ < engine->freezes.size(); freezes_heard_++) {
      const Ulid& uid = engine->freezes[freezes_heard_].first;
      if (!std::exchange(frozen_[uid], true)) news.push_back({uid, AttemptFrozen{}});
    }
    for (; thaws_heard_ < engine->thaws.size(); thaws_heard_++) {
      const Ulid& uid = engine->thaws[thaws_heard_];
      if (std::exchange(frozen_[uid], false)) news.push_back({uid, AttemptThawed{}});
    }
    for (; stops_heard_ < engine->stops.size(); stops_heard_++) {  // a stop comes with a thaw
      const Ulid& uid = engine->stops[stops_heard_].first;
      if (std::exchange(frozen_[uid], false)) news.push_back({uid, AttemptThawed{}});
    }
    for (AttemptNews& one : news) inbox->Post(std::move(one));
    do {
      yard->Turn(now);
    } while (!inbox->empty());
  }
  Settle();
}

std::string YardHarness::LeasesOn(const std::string& label) {
  const std::string id = DeviceOf(label).device.id;
  std::string text;
  store->Read([&](Rows& rows) {
    OpenState state = *rows.LoadOpen();
    std::map<Ulid, TaskId> tasks;
    for (const Attempt& attempt : state.attempts) tasks[attempt.uid] = attempt.task;
    std::sort(state.leases.begin(), state.leases.end(),
              [&](const Lease& a, const Lease& b) { return tasks[a.attempt] < tasks[b.attempt]; });
    for (const Lease& lease : state.leases) {
      if (lease.device != id) continue;
      if (!text.empty()) text += ", ";
      text += std::to_string(tasks[lease.attempt].value) + " " + std::to_string(lease.share_milli) + "/" +
              std::to_string(lease.asked_milli) + " " + std::string(ty::Name(lease.mode));
    }
  });
  return text;
}

std::vector<Event> YardHarness::Events() {
  std::vector<Event> events;
  store->Read([&](Rows& rows) { events = *rows.ListEvents(0, 1000000); });
  return events;
}

TaskRecord YardHarness::RecordOf(TaskId task) {
  TaskRecord record;
  store->Read([&](Rows& rows) { record = *rows.FindTask(task); });
  return record;
}

std::string YardHarness::StateOf(TaskId task) {
  return std::string(Name(RecordOf(task).task.state));
}

std::optional<Outcome> YardHarness::OutcomeOf(TaskId task) {
  return RecordOf(task).task.outcome;
}

std::string YardHarness::WhyId(TaskId task) {
  return yard->Why(task).value_or(Message{}).id;
}

std::vector<std::string> YardHarness::EventKinds(TaskId task) {
  std::vector<std::string> kinds;
  store->Read([&](Rows& rows) {
    const std::vector<Event> events = *rows.ListEvents(0, 100000);
    for (const Event& event : events) {
      if (event.task == task) kinds.push_back(event.kind);
    }
  });
  return kinds;
}

}  // namespace ty
