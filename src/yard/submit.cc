// A submit becomes queued tasks, committed before the receipt goes out.
#include <algorithm>
#include <boost/json.hpp>

#include "base/fail_point.h"
#include "msg/receipt.h"
#include "msg/submit.h"
#include "msg/why.h"
#include "sched/shares.h"
#include "yard/yard.h"

namespace ty {

namespace {

constexpr size_t kLatelyKept = 20000;

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// "python3 train.py --lr 1" is called train: people know their script, not their interpreter.
std::string NameFor(const TaskSpec& spec) {
  if (!spec.recipe.empty()) return spec.recipe;
  std::string name;
  for (const std::string& word : spec.argv) {
    std::string_view base = BaseName(word);
    for (std::string_view ending : {".py", ".sh", ".bash", ".lua", ".jl", ".R"}) {
      if (base.size() > ending.size() && base.substr(base.size() - ending.size()) == ending) {
        name = base.substr(0, base.size() - ending.size());
      }
    }
    if (!name.empty()) break;
  }
  if (name.empty()) name = BaseName(spec.argv.front());
  std::string clean;
  for (char c : name.substr(0, 48)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
    clean += plain ? c : '_';
  }
  if (!CheckName(clean)) clean = "task-" + clean;
  return CheckName(clean) ? clean : "task";
}

// Items may follow one another, so a file can hold a ring.
std::optional<size_t> FindCycle(const std::vector<SubmitItem>& items) {
  std::vector<int> open(items.size(), 0);
  std::vector<std::vector<size_t>> behind(items.size());
  for (size_t i = 0; i < items.size(); i++) {
    for (const auto& [other, on] : items[i].after_items) {
      open[i]++;
      behind[other].push_back(i);
    }
  }
  std::vector<size_t> free;
  for (size_t i = 0; i < items.size(); i++) {
    if (open[i] == 0) free.push_back(i);
  }
  size_t seen = 0;
  while (!free.empty()) {
    const size_t i = free.back();
    free.pop_back();
    seen++;
    for (size_t j : behind[i]) {
      if (--open[j] == 0) free.push_back(j);
    }
  }
  if (seen == items.size()) return std::nullopt;
  return std::find_if(open.begin(), open.end(), [](int n) { return n > 0; }) - open.begin();
}

Error AtLine(Error error, const Submit& submit, size_t index) {
  if (submit.items.size() > 1) error.field = "/" + std::to_string(index) + error.field;
  return error;
}

}  // namespace

// Why it can never run, as far as what it asks of us tells.
std::vector<Error> Yard::FaultsOf(const TaskSpec& spec, const Submit& submit) const {
  std::vector<Error> faults =
      FindMisfits(ledger_.rows(), machine_.cores, machine_.memory, spec, machine_.complete);
  for (size_t i = 0; i < spec.after.size(); i++) {
    const Dependency& after = spec.after[i];
    if (after.task.value == 0) continue;  // it could not be read, which has been said
    const std::string field = "/after/" + std::to_string(i) + "/task";
    const Task* other = FindTask(after.task);
    if (other != nullptr && !IsEnded(*other)) continue;
    std::optional<OutcomeKind> kind;
    if (other != nullptr) {
      kind = other->outcome->kind;
    } else if (auto found = lately_ended_.find(after.task); found != lately_ended_.end()) {
      kind = found->second;
    } else if (auto known = submit.ended.find(after.task); known != submit.ended.end()) {
      kind = known->second;
    }
    const std::string task = std::to_string(after.task.value);
    const bool ok = kind == OutcomeKind::kSucceeded;
    if (!kind) {
      faults.push_back({Code::kInvalid, msg::SubmitUnknownDependency{.task = task}, field});
    } else if ((after.on == Dependency::On::kOk && !ok) || (after.on == Dependency::On::kFail && ok)) {
      faults.push_back({Code::kInvalid,
                        msg::SubmitDependencyNever{.task = task, .outcome = std::string(ty::Name(*kind))},
                        field});
    }
  }
  return faults;
}

Result<Task> Yard::Admit(const Submit& submit, size_t index, TaskId first) const {
  const SubmitItem& item = submit.items[index];
  const TaskSpec& spec = item.spec;
  if (std::vector<Error> faults = FaultsOf(spec, submit); !faults.empty()) return Forward(faults.front());
  Task task;
  task.id = TaskId{first.value + static_cast<int64_t>(index)};
  task.uid = Ulid::Make(Wall());
  task.name = spec.name.empty() ? NameFor(spec) : spec.name;
  task.priority = spec.priority;
  task.held = spec.hold;
  task.gpus = spec.gpus;
  task.cpus = spec.cpus.value_or(1);
  task.memory = spec.memory.value_or(0);
  task.wish = spec.wish;
  task.after = spec.after;
  task.begin = spec.begin;
  task.submitted = Wall();
  task.tags = spec.tags;
  task.retry = spec.retry;
  task.checkpoint.path = spec.resume_path;
  for (const auto& [other, on] : item.after_items) {
    task.after.push_back(Dependency{TaskId{first.value + static_cast<int64_t>(other)}, on});
  }
  return task;
}

// A repeated request finds the task it made the first time.
Result<std::optional<SubmitReceipt>> Yard::FindRepeat(const Submit& submit, const SubmitItem& item) const {
  if (item.idempotency_key.empty()) return std::nullopt;
  const KeptKey* kept = nullptr;
  if (auto found = lately_kept_.find(item.idempotency_key); found != lately_kept_.end())
    kept = &found->second;
  if (auto found = submit.kept.find(item.idempotency_key); found != submit.kept.end()) kept = &found->second;
  if (kept == nullptr) return std::nullopt;
  if (kept->request_hash != item.request_hash) {
    return Conflict(msg::SubmitKeyTaken{.task = std::to_string(kept->task.value)}, "Idempotency-Key");
  }
  SubmitReceipt receipt;
  if (const Task* task = FindTask(kept->task)) {
    receipt = WriteReceipt(*task, !item.spec.environment.empty());
  } else {
    receipt.id = kept->task;
    receipt.state = "ended";
    receipt.reason = msg::SubmitEndedAlready{};
  }
  receipt.repeated = true;
  return receipt;
}

// "1 process, sees GPU0 and GPU1": what it has, and what a share of it does and does not promise.
Message Yard::DescribeLeases(const Task& task, const Attempt& attempt) const {
  if (attempt.devices.empty()) return msg::ReceiptCores{.cores = task.cpus};
  const Entry* entry = ledger_.Find(attempt.devices.front());
  const Entry::Tenancy* tenancy = entry == nullptr ? nullptr : entry->Of(attempt.uid);
  Share share;
  if (tenancy != nullptr) share = {tenancy->lease.asked_milli, tenancy->lease.mode, tenancy->lease.slice};
  return DescribeDevices(task.wish.ranks, attempt.devices, share,
                         tenancy == nullptr ? 0 : tenancy->lease.memory);
}

// The same before there are leases.
Message Yard::DescribeStart(const Task& task, const Decision& decision) const {
  if (decision.devices.empty()) return msg::ReceiptCores{.cores = task.cpus};
  std::vector<std::string> ids;
  for (int index : decision.devices) ids.push_back(ledger_.rows()[index].id);
  const int64_t memory =
      MemoryOfLease(ReadyOf(task).wish, ledger_.entries()[decision.devices.front()].device.to_give());
  return DescribeDevices(task.wish.ranks, ids, decision.share, memory);
}

// In turns there are no ranks.
Message Yard::DescribeDevices(bool ranks, const std::vector<std::string>& ids, const Share& share,
                              int64_t memory) const {
  const std::string devices = ledger_.Labels(ids);
  const double percent = share.milli / 10.0;
  const auto count = static_cast<int64_t>(ids.size());
  switch (share.mode) {
    case ShareMode::kTurns:
      return msg::ReceiptSeesTurns{
          .devices = devices, .percent = percent, .slice = share.slice, .memory = memory};
    case ShareMode::kTogether:
      if (ranks) {
        return msg::ReceiptRanksTogether{
            .count = count, .devices = devices, .percent = percent, .memory = memory};
      }
      return msg::ReceiptSeesTogether{.devices = devices, .percent = percent, .memory = memory};
    case ShareMode::kWhole:
      break;
  }
  if (ranks) return msg::ReceiptRanks{.count = count, .devices = devices};
  return msg::ReceiptSees{.devices = devices};
}

Message Yard::DescribeWish(const Task& task) const {
  if (task.gpus.Most() == 0) return msg::ReceiptCores{.cores = task.cpus};
  const std::string count = task.gpus.Text();
  const Share& share = task.wish.share;
  const double percent = share.milli / 10.0;
  const int64_t memory = LeastMemoryOfPart(task);
  switch (share.mode) {
    case ShareMode::kTurns:
      return msg::ReceiptWantsTurns{
          .percent = percent, .count = count, .slice = share.slice, .memory = memory};
    case ShareMode::kTogether:
      if (task.wish.ranks)
        return msg::ReceiptWantsRanksTogether{.percent = percent, .count = count, .memory = memory};
      return msg::ReceiptWantsTogether{.percent = percent, .count = count, .memory = memory};
    case ShareMode::kWhole:
      break;
  }
  if (task.wish.ranks) return msg::ReceiptWantsRanks{.count = count};
  return msg::ReceiptWants{.count = count};
}

// Of a device, whichever it turns out to be.
int64_t Yard::LeastMemoryOfPart(const Task& task) const {
  int64_t least = 0;
  for (const DeviceRow& row : ledger_.rows()) {
    const int64_t part = MemoryOfLease(task.wish, row.to_give());
    if (row.memory > 0 && row.to_give() >= task.wish.memory && (least == 0 || part < least)) least = part;
  }
  return least > 0 ? least : task.wish.memory;
}

SubmitReceipt Yard::WriteReceipt(const Task& task, bool own_shell) const {
  SubmitReceipt receipt;
  receipt.id = task.id;
  receipt.uid = task.uid;
  receipt.name = task.name;
  receipt.state = ty::Name(task.state);
  receipt.held = task.held;
  const Live* live = LiveOf(task.id);
  if (live != nullptr) receipt.devices = live->attempt.devices;
  if (live == nullptr) receipt.reason = Why(task.id).value_or(Message{});
  receipt.devices_message = live != nullptr ? DescribeLeases(task, live->attempt) : DescribeWish(task);
  receipt.environment_message = own_shell ? Message(msg::ReceiptOwnShell{}) : Message(msg::ReceiptBasics{});
  receipt.retry_message = DescribeRetry(task.retry);
  receipt.survival_message = settings_.survives_reboot   ? Message(msg::ReceiptSurvivesReboot{})
                             : settings_.survives_logout ? Message(msg::ReceiptSurvivesLogout{})
                                                         : Message(msg::ReceiptSurvivesTerminal{});
  return receipt;
}

// The task stands in the queue for as long as it takes to decide, and nobody sees it there.
void Yard::Apply(Preview& preview) {
  if (const Status room = HasRoom(false); !room) return preview.reply(Forward(room.error()));
  Submit submit;
  submit.items.push_back({.spec = std::move(preview.spec)});
  submit.ended = std::move(preview.ended);
  PreviewAnswer answer;
  answer.faults = FaultsOf(submit.items.front().spec, submit);
  if (preview.faults_only || !answer.faults.empty()) return preview.reply(std::move(answer));
  const Result<Task> admitted = Admit(submit, 0, TaskId{last_task_.value + 1});
  if (!admitted) return preview.reply(Forward(admitted.error()));
  const Task& task = *admitted;

  answer.receipt = WriteReceipt(task, !submit.items.front().spec.environment.empty());
  const std::vector<OpenDependency> open = OpenDependenciesOf(task);
  const bool ready = !task.held && open.empty() && !(task.begin && *task.begin > Wall());
  if (ready) ready_.Insert(ReadyOf(task));
  if (adopting_) {
    answer.receipt.reason = msg::WhyAdopting{};
  } else if (const auto start = ready ? WouldStart(task.id) : std::nullopt) {
    answer.starts_now = true;
    answer.receipt.devices_message = DescribeStart(task, *start);
  } else {
    answer.receipt.reason = Explain(MakeView(), task, open, now_);
  }
  if (ready) ready_.Erase(task.id);
  preview.reply(std::move(answer));
}

// The decision that would start it. Of a very long queue with very many kinds of needs only the first is
// asked.
std::optional<Decision> Yard::WouldStart(TaskId id) const {
  constexpr size_t kManyNeeds = 10'000;
  const size_t needs = ready_.device_lines().size() + ready_.core_lines().size();
  if (needs > kManyNeeds && ready_.CountAhead(PlaceOf(*ready_.Find(id))) > 0) return std::nullopt;
  for (const Decision& start : Decide(MakeView(), now_).starts) {
    if (start.task == id) return start;
  }
  return std::nullopt;
}

void Yard::Apply(Submit& submit) {
  auto refuse = [&](Error error) { submit.reply(Forward(error)); };
  if (std::optional<size_t> at = FindCycle(submit.items)) {
    return refuse(
        AtLine(Error{Code::kInvalid, msg::SubmitCycle{.line = static_cast<int64_t>(*at + 1)}, "/after"},
               submit, *at));
  }
  // A single repeated submit is answered with what it made; in a bulk the first line's key speaks for all.
  Result<std::optional<SubmitReceipt>> repeat = FindRepeat(submit, submit.items.front());
  if (!repeat) return refuse(repeat.error());
  if (*repeat) {
    std::vector<SubmitReceipt> receipts{**repeat};
    // Answered in order with the commits, so that a repeat is never told of a task that is not yet durable.
    journal_.Then([reply = std::move(submit.reply), receipts](const Receipt&) { reply(receipts); });
    return;
  }
  if (const Status room = HasRoom(false); !room) return refuse(room.error());

  const TaskId first{last_task_.value + 1};
  std::vector<Task> admitted;
  admitted.reserve(submit.items.size());
  for (size_t i = 0; i < submit.items.size(); i++) {
    Result<Task> task = Admit(submit, i, first);
    if (!task) return refuse(AtLine(task.error(), submit, i));
    admitted.push_back(std::move(*task));
  }
  last_task_.value += static_cast<int64_t>(submit.items.size());

  std::vector<TaskId> ids;
  ids.reserve(admitted.size());
  const bool own_shell = !submit.items.front().spec.environment.empty();
  for (size_t i = 0; i < admitted.size(); i++) {
    SubmitItem& item = submit.items[i];
    Task& task = tasks_[admitted[i].id] = std::move(admitted[i]);
    ids.push_back(task.id);
    if (!item.idempotency_key.empty()) {
      lately_kept_[item.idempotency_key] = KeptKey{task.id, item.request_hash};
      lately_kept_order_.push_back(item.idempotency_key);
      if (lately_kept_order_.size() > kLatelyKept) {
        lately_kept_.erase(lately_kept_order_.front());
        lately_kept_order_.pop_front();
      }
    }
    item.spec.after = task.after;  // the other items of the same submit have numbers now
    journal_.Write(
        TaskAdded{task, std::move(item.spec), std::move(item.idempotency_key), std::move(item.request_hash)});
    Emit("task.submitted", task.id, 0, {{"name", task.name}, {"priority", task.priority}});
  }
  for (TaskId id : ids) Watch(tasks_.at(id));
  for (TaskId id : ids) Place(tasks_.at(id));

  FAIL_POINT("submit.written");
  // The receipt is written after this turn has decided, so that it can say "starting"; it leaves after the
  // commit.
  journal_.Then(
      [this, own_shell, ids = std::move(ids), reply = std::move(submit.reply)](const Receipt& receipt) {
        if (!receipt.committed) return reply(Forward(receipt.committed.error()));
        FAIL_POINT("submit.durable");
        std::vector<SubmitReceipt> receipts;
        // A bulk of thousands is told its range only; the explanation of each would cost more than the
        // submit.
        const size_t told = ids.size() > 100 ? 1 : ids.size();
        receipts.reserve(ids.size());
        for (size_t i = 0; i < ids.size(); i++) {
          const Task* task = FindTask(ids[i]);
          if (task != nullptr && i < told) {
            receipts.push_back(WriteReceipt(*task, own_shell));
          } else {
            receipts.push_back(SubmitReceipt{.id = ids[i]});
          }
        }
        reply(std::move(receipts));
        FAIL_POINT("submit.answered");
      });
}

}  // namespace ty
