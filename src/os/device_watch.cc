#include "os/device_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "os/device_roll.h"
#include "os/helper_process.h"
#include "os/host_leases.h"
#include "os/pci_bus.h"
#include "os/process_facts.h"
#include "os/report_json.h"
#include "posix/clocks.h"
#include "posix/files.h"

namespace ty {

std::string_view Name(ProbeState state) {
  switch (state) {
    case ProbeState::kNone:
      return "none";
    case ProbeState::kGood:
      return "good";
    case ProbeState::kNoLibrary:
      return "no_library";
    case ProbeState::kNoDriver:
      return "no_driver";
    case ProbeState::kMismatch:
      return "mismatch";
    case ProbeState::kNoPermission:
      return "no_permission";
    case ProbeState::kHanging:
      return "hanging";
    case ProbeState::kCrashed:
      return "crashed";
    case ProbeState::kFailing:
      return "failing";
  }
  return "failing";
}

std::string_view Name(DeviceHealth health) {
  switch (health) {
    case DeviceHealth::kGood:
      return "good";
    case DeviceHealth::kLost:
      return "lost";
    case DeviceHealth::kFailing:
      return "failing";
    case DeviceHealth::kNoPermission:
      return "no_permission";
    case DeviceHealth::kUncorrectable:
      return "uncorrectable";
    case DeviceHealth::kAbsent:
      return "absent";
  }
  return "failing";
}

bool MayHaveGpus(const DeviceWatchSettings& settings) {
  if (!settings.library.empty()) return true;
  const std::string& root = settings.machine_root;
  for (const char* sign : {"/dev/nvidiactl", "/dev/nvidia0", "/usr/lib/wsl/lib/libnvidia-ml.so.1"}) {
    if (Exists(root + sign)) return true;
  }
  return !ListNvidiaCards(root).empty();
}

namespace {

constexpr int64_t kOften = 1'000'000'000, kSeldom = 10'000'000'000;             // ns between looks
constexpr int64_t kFirstDelay = 1'000'000'000, kLongestDelay = 30'000'000'000;  // before a new helper
constexpr int kFirstAnswer = 6;  // times the patience: a new helper wakes every card of a machine, one by one
constexpr int64_t kNever = INT64_MAX;

// What NVML may read. A library named by hand gets all there is: it may have variables of its own.
std::vector<std::string> HelperVariables(const std::string& library) {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const auto is = [&](std::string_view name) { return text.starts_with(name); };
    if (is("TRAINYARD_NVML=")) continue;
    if (!library.empty() || is("PATH=") || is("LD_LIBRARY_PATH=") || is("NVIDIA_") || is("__NVML_") ||
        is("TRAINYARD_NVML"))
      variables.emplace_back(text);
  }
  if (!library.empty()) variables.push_back("TRAINYARD_NVML=" + library);
  return variables;
}

class Watch final : public DeviceWatch {
 public:
  Watch(const DeviceWatchSettings& settings, std::function<void(DeviceReport)> report)
      : settings_(settings),
        report_(std::move(report)),
        roll_(settings.only),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        thread_([this] { Run(); }) {}

  ~Watch() override {
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
    }
    Wake();
    thread_.join();
  }

  void Want(WatchWish wish) override {
    {
      std::lock_guard lock(mutex_);
      if (wish == wish_) return;
      wish_ = std::move(wish);
    }
    Wake();
  }

  void LookNow() override {
    {
      std::lock_guard lock(mutex_);
      look_now_ = true;
    }
    Wake();
  }

  void AwaitFirst(Duration limit) {
    std::unique_lock lock(mutex_);
    first_.wait_for(lock, limit, [&] { return reported_; });
  }

 private:
  // --- the thread ---

  void Run() {
    while (TakeWish()) {
      const int64_t now = MonotonicNanos();
      ReapAbandoned();
      HearHelper(now);
      LosePatience(now);
      if (now >= DueAt()) BeginLook(now);
      Sleep();
    }
    EndHelper();
  }

  bool TakeWish() {
    std::lock_guard lock(mutex_);
    if (look_now_) due_now_ = true;
    look_now_ = false;
    wish_now_ = wish_;
    return !ending_;
  }

  // When the next look begins. Where there is nothing to look at, never by itself.
  int64_t DueAt() const {
    if (looking_) return kNever;
    if (due_now_) return 0;
    if (state_ == ProbeState::kNone && wish_now_.memory.empty() && wish_now_.elsewhere.empty()) return kNever;
    const int64_t next = began_ + (wish_now_.often ? kOften : kSeldom);
    return state_ == ProbeState::kNone || helper_ ? next : std::min(next, std::max(began_, retry_at_));
  }

  void BeginLook(int64_t now) {
    due_now_ = false;
    began_ = now;
    looking_ = true;
    if (!helper_ && (!settings_.gpus || !MayHaveGpus(settings_))) {
      state_ = ProbeState::kNone;
      detail_.clear();
      return Post({});
    }
    if (!helper_ && now >= retry_at_) StartHelper(now);
    if (helper_ && !asked_) {
      if (helper_->Ask()) {
        asked_ = now;
      } else {
        LoseHelper(now);
      }
    }
    const bool answer_may_come = asked_ && state_ != ProbeState::kHanging;
    if (!answer_may_come) Post({});
  }

  void StartHelper(int64_t now) {
    auto started = HelperProcess::Start(settings_.program, HelperVariables(settings_.library));
    if (started) {
      helper_.emplace(std::move(*started));
      fresh_ = true;
      return;
    }
    Log("the probe's helper cannot be started: " + settings_.program);
    state_ = ProbeState::kCrashed;
    Delay(now);
  }

  void HearHelper(int64_t now) {
    bool gone = false;
    while (helper_) {
      const auto line = helper_->Hear(&gone);
      if (gone) {
        // One that was not asked anything was ended by somebody: the next look starts another.
        const bool working = asked_.has_value();
        LoseHelper(now);
        if (!working) retry_at_ = now;
        if (working) Post({});
        return;
      }
      if (!line) return;
      if (auto report = ParseReportLine(*line)) {
        Answered(std::move(*report));
      } else {
        Log("the probe's helper gave an answer that cannot be read");
        LoseHelper(now);
        return Post({});
      }
    }
  }

  void Answered(DeviceReport report) {
    asked_.reset();
    fresh_ = false;
    delay_ = kFirstDelay;
    state_ = report.state;
    detail_ = report.detail;
    Post(std::move(report));
  }

  void LosePatience(int64_t now) {
    if (!asked_) return;
    const int64_t patience = settings_.patience.count();
    const int64_t waited = now - *asked_;
    if (waited >= patience && state_ != ProbeState::kHanging) {
      state_ = ProbeState::kHanging;
      detail_.clear();
      Post({});
    }
    if (waited < (fresh_ ? kFirstAnswer : 1) * patience) return;
    Log("the probe's helper did not answer and is ended");
    EndHelper();
    Delay(now);
  }

  void LoseHelper(int64_t now) {
    const bool was_hanging = state_ == ProbeState::kHanging;
    EndHelper();
    if (!was_hanging) state_ = ProbeState::kCrashed;
    detail_.clear();
    Delay(now);
  }

  void Delay(int64_t now) {
    retry_at_ = now + delay_;
    delay_ = std::min(delay_ * 2, kLongestDelay);
  }

  void EndHelper() {
    asked_.reset();
    if (!helper_) return;
    const int pid = helper_->pid();
    helper_.reset();
    if (!HelperProcess::End(pid)) abandoned_.push_back(pid);
  }

  void ReapAbandoned() {
    std::erase_if(abandoned_, [](int pid) { return HelperProcess::Reap(pid); });
  }

  // One report for each look, and one for each change in between.
  void Post(DeviceReport report) {
    looking_ = false;
    if (state_ == ProbeState::kGood) {
      const bool all_named = std::none_of(report.devices.begin(), report.devices.end(),
                                          [](const DeviceReading& one) { return one.device.id.empty(); });
      roll_.Complete(report, all_named ? std::vector<PciCard>() : Bus());
    } else if (state_ != ProbeState::kNone) {
      report.devices = roll_.Unreadable(Bus(), detail_);
    }
    report.at = FromNanos(WallNanos());
    report.state = state_;
    report.detail = detail_;
    report.asked = wish_now_.elsewhere;
    for (const std::string& device : wish_now_.elsewhere) {
      if (auto holder = FindHostHolder(device, settings_.instance, settings_.lease_folder))
        report.elsewhere.emplace_back(device, std::move(*holder));
    }
    report.memory = meter_.Measure(wish_now_.memory);
    report_(std::move(report));
    std::lock_guard lock(mutex_);
    reported_ = true;
    first_.notify_all();
  }

  // A big machine has hundreds of PCI devices: too much to read each second.
  const std::vector<PciCard>& Bus() {
    const int64_t now = MonotonicNanos();
    if (bus_read_at_ == 0 || now - bus_read_at_ >= kSeldom) {
      bus_read_at_ = now;
      bus_ = ListNvidiaCards(settings_.machine_root);
    }
    return bus_;
  }

  void Sleep() {
    int64_t until = DueAt();
    if (asked_) {
      const int64_t patience = settings_.patience.count();
      const bool told = state_ == ProbeState::kHanging;
      until = std::min(until, *asked_ + patience * (told && fresh_ ? kFirstAnswer : 1));
    }
    pollfd fds[] = {{wake_.get(), POLLIN, 0}, {helper_ ? helper_->socket() : -1, POLLIN, 0}};
    int timeout = -1;
    if (until != kNever)
      timeout =
          static_cast<int>(std::clamp<int64_t>((until - MonotonicNanos()) / 1'000'000 + 1, 0, 3'600'000));
    ::poll(fds, 2, timeout);
    uint64_t count;
    if (::read(wake_.get(), &count, sizeof count) < 0) return;  // nobody woke us
  }

  void Wake() {
    const uint64_t one = 1;
    if (::write(wake_.get(), &one, sizeof one) < 0) return;  // it is full: it wakes anyway
  }

  const DeviceWatchSettings settings_;
  const std::function<void(DeviceReport)> report_;

  std::mutex mutex_;
  std::condition_variable first_;
  WatchWish wish_;
  bool look_now_ = false, ending_ = false, reported_ = false;

  // The thread's own.
  WatchWish wish_now_;
  DeviceRoll roll_;
  AttemptMeter meter_;
  ProbeState state_ = ProbeState::kNone;
  std::string detail_;
  std::optional<HelperProcess> helper_;
  std::optional<int64_t> asked_;  // when, while the answer is not there
  bool fresh_ = false;            // it has not answered yet
  std::vector<int> abandoned_;    // helpers that do not die
  int64_t retry_at_ = 0, delay_ = kFirstDelay;
  bool due_now_ = true, looking_ = false;
  int64_t began_ = 0;
  std::vector<PciCard> bus_;
  int64_t bus_read_at_ = 0;

  UniqueFd wake_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<DeviceWatch> StartDeviceWatch(const DeviceWatchSettings& settings,
                                              std::function<void(DeviceReport)> report) {
  auto watch = std::make_unique<Watch>(settings, std::move(report));
  watch->AwaitFirst(settings.patience);
  return watch;
}

}  // namespace ty
