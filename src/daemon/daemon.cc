#include "daemon/daemon.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/json.hpp>
#include <future>
#include <thread>

#include "base/fail_point.h"
#include "base/log.h"
#include "base/paths.h"
#include "cli/doctor.h"
#include "cli/survival.h"
#include "daemon/errands.h"
#include "daemon/host.h"
#include "http/server.h"
#include "ingest/ingest.h"
#include "msg/daemon.h"
#include "msg/store.h"
#include "os/clock.h"
#include "os/device_watch.h"
#include "os/host_leases.h"
#include "os/probe.h"
#include "posix/cgroups.h"
#include "posix/files.h"
#include "posix/process.h"
#include "series/series.h"
#include "store/traces.h"
#include "words/words.h"
#include "yard/yard.h"

namespace ty {

namespace {

constexpr int kStoreFailed = 70;

// Tells whoever started us how it went: one line of JSON on ready_fd, words for a person in the foreground.
class Herald {
 public:
  explicit Herald(const DaemonOptions& options) : options_(options) {}

  void Ready(const std::string& url) { Send({{"pid", getpid()}, {"url", url}}); }
  int Refuse(const Error& error) {
    const Language language = ChooseLanguage(options_.language, "", "", "");
    const std::string text = Render(error.message, language);
    boost::json::value message = ToJson(error.message);
    message.as_object()["text"] = text;
    if (options_.foreground && options_.ready_fd < 0) {
      (void)WriteAll(2, "trainyard: " + text + "\n");
    } else {
      Log("not started: " + Render(error.message, Language::kEnglish));
    }
    Send({{"error", std::move(message)}});
    return 1;
  }

 private:
  void Send(const boost::json::object& line) {
    if (options_.ready_fd < 0 || sent_) return;
    sent_ = true;
    (void)WriteAll(options_.ready_fd, boost::json::serialize(line) + "\n");
    close(options_.ready_fd);
  }

  const DaemonOptions& options_;
  bool sent_ = false;
};

// The daemon's own limits and habits, before it makes its first thread.
void PrepareProcess() {
  umask(077);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  // Each thread would otherwise get a heap of its own, which an idle daemon pays for.
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_TRIM_THRESHOLD, 1 << 20);
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = std::min<rlim_t>(files.rlim_max, 65536);
    setrlimit(RLIMIT_NOFILE, &files);
  }
}

// Loads what is open and names the instance at the very first start.
Result<OpenState> Load(Store& store) {
  std::promise<Result<OpenState>> loaded;
  store.Read([&](Rows& rows) { loaded.set_value(rows.LoadOpen()); });
  return loaded.get_future().get();
}

constexpr std::chrono::seconds kFirstCommitPatience(10);

// The yard's name. A copy of a state folder is another yard: it gets a name of its own, so that the two do
// not take each other's devices and cgroups for theirs, and it is refused while tasks of the original run.
Result<std::string> InstanceOf(Store& store, const OpenState& state, Time now, const std::string& home) {
  const std::string folder = FolderIdentity(home);
  std::string name, known;
  for (const auto& [key, value] : state.settings) {
    if (key == "instance") name = value;
    if (key == "folder") known = value;
  }
  if (!name.empty() && known == folder) return name;
  if (!known.empty() && known != folder) {
    if (const auto task = RunsElsewhere(state))
      return Conflict(msg::DaemonCopy{.folder = home, .task = std::to_string(task->value)});
    name.clear();
  }
  if (name.empty()) {
    name = Ulid::Make(now).Text().substr(16);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  }
  Batch batch;
  batch.changes.push_back(SettingChanged{"instance", name});
  batch.changes.push_back(SettingChanged{"folder", folder});
  auto kept = std::make_shared<std::promise<Receipt>>();
  auto answer = kept->get_future();
  store.Commit(std::move(batch), [kept](Receipt receipt) { kept->set_value(std::move(receipt)); });
  // On a full disk a batch waits for room; a yard without a name cannot.
  if (answer.wait_for(kFirstCommitPatience) != std::future_status::ready)
    return Fail(Code::kUnavailable, msg::StoreStuck{.folder = home});
  Receipt receipt = answer.get();
  if (!receipt.committed) return Forward(receipt.committed.error());
  return name;
}

// SIGTERM and SIGINT end the daemon as `down` does, but leave no mark: tasks go on.
class Signals {
 public:
  explicit Signals(Inbox& inbox) {
    sigemptyset(&set_);
    for (int number : {SIGTERM, SIGINT, SIGUSR2}) sigaddset(&set_, number);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    thread_ = std::thread([this, &inbox] {
      int number = 0;
      while (sigwait(&set_, &number) == 0) {
        if (number == SIGUSR2 && over_) return;
        Log("signal " + std::to_string(number) + ": ending; running tasks go on");
        inbox.Close();
      }
    });
  }
  ~Signals() {
    over_ = true;
    pthread_kill(thread_.native_handle(), SIGUSR2);
    thread_.join();
  }

 private:
  sigset_t set_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

// The folder under our feet may be moved or deleted; then every promise is off, and the daemon says so and
// ends.
bool HomeIsThere(const std::string& home, const struct stat& first) {
  struct stat now {};
  return stat(home.c_str(), &now) == 0 && now.st_ino == first.st_ino && now.st_dev == first.st_dev;
}

// `down --cancel` waits for what it stopped: grace period, KILL and the shim's patience with what does not
// die.
constexpr Duration kStopPatience = minutes(2);

int RunLoop(Yard& yard, Inbox& inbox, Clock& clock, const std::string& home,
            const std::atomic<bool>& end_when_idle) {
  struct stat first {};
  stat(home.c_str(), &first);
  Time looked = clock.Now();
  std::optional<Time> end_by;
  Duration ahead{};
  while (!inbox.closed()) {
    Time now = clock.Now();
    if (clock.Ahead() != ahead) inbox.Post(ClockSet{ahead = clock.Ahead()});
    yard.Turn(now);
    if (yard.broken()) {
      Log("the store failed, ending so that the next start takes its word: " +
          Render(yard.broken()->message, Language::kEnglish));
      return kStoreFailed;
    }
    if (end_when_idle) {
      if (!end_by) end_by = now + kStopPatience;
      if (yard.Running().empty() || now > *end_by) break;
    }
    Duration patience = seconds(5);
    if (std::optional<Time> next = yard.next_wakeup())
      patience = std::clamp(Duration(*next - now), Duration{}, patience);
    inbox.Wait(patience);
    now = clock.Now();
    if (now - looked > seconds(5)) {
      looked = now;
      if (!HomeIsThere(home, first)) {
        Log("the state folder " + home + " was moved or deleted: ending");
        return 1;
      }
      // `up --at-boot` and loginctl change it while we run.
      const Survival survival = SurvivalOf(home);
      if (survival.logout != yard.settings().survives_logout ||
          survival.reboot != yard.settings().survives_reboot)
        inbox.Post(HostChanged{survival.logout, survival.reboot});
    }
  }
  yard.Close(clock.Now());
  return 0;
}

DeviceWatchSettings WatchSettings(const DeviceChoice& choice, const std::string& instance) {
  DeviceWatchSettings settings;
  settings.program = ProgramFolder() + "/trainyard";
  if (const char* library = getenv("TRAINYARD_NVML")) settings.library = library;
  settings.instance = instance;
  settings.gpus = choice.kind != DeviceChoice::Kind::kCpu;
  settings.only = choice.gpus;
  return settings;
}

}  // namespace

int RunDaemon(const DaemonOptions& options) {
  Herald herald(options);
  PrepareProcess();
  if (!ArmFailPoints(getenv("TRAINYARD_FAIL")))
    return herald.Refuse({Code::kInvalid, msg::DaemonFailPoints{.text = getenv("TRAINYARD_FAIL")}, {}});
  const StatePaths paths{options.home};
  if (Status home = PrepareHome(options.home); !home) return herald.Refuse(home.error());
  Result<HomeLock> lock = LockHome(options.home);
  if (!lock) return herald.Refuse(lock.error());
  Result<DeviceChoice> choice = DeviceChoice::Parse(options.devices);
  if (!choice) return herald.Refuse(choice.error());

  SystemClock clock;
  Inbox inbox;
  Signals signals(inbox);  // before any other thread, so that each inherits the mask
  StoreSettings storing{.folder = options.home,
                        .tell = [&inbox](StoreHealth health) { inbox.Post(std::move(health)); }};
  Result<std::unique_ptr<Store>> store = OpenSqliteStore(std::move(storing));
  if (!store) return herald.Refuse(store.error());
  Result<OpenState> state = Load(**store);
  if (!state) return herald.Refuse(state.error());
  // A number is given once, also when an older copy of the state was put back: tasks/<N> is somebody's.
  state->last_task = std::max(state->last_task, LastTaskFolder(options.home));
  Result<std::string> instance = InstanceOf(**store, *state, clock.Now(), options.home);
  if (!instance) return herald.Refuse(instance.error());

  YardSettings settings;
  settings.home = options.home;
  settings.boot = BootId();
  settings.instance = *instance;
  settings.owner = UserName();
  settings.python_folder = ShareFolder() + "/python";
  settings.basics = BasicVariables();
  const Survival survival = SurvivalOf(options.home);
  settings.survives_logout = survival.logout;
  settings.survives_reboot = survival.reboot;
  settings.started = clock.Now();

  LocalEngineSettings local;
  local.state_folder = options.home;
  local.shim_program = ProgramFolder() + "/trainyard-shim";
  local.instance = *instance;
  // For tests and for whoever looks for a fault: a lower level than the best that works here.
  if (const char* level = getenv("TRAINYARD_CONTAINMENT")) {
    if (!ParseContainment(level))
      return herald.Refuse({Code::kInvalid, msg::DaemonContainment{.text = level}, {}});
    local.containment = level;
  }
  if (access(local.shim_program.c_str(), X_OK) != 0) {
    const Message why = errno == EACCES ? Message(msg::DaemonShimDenied{.path = local.shim_program})
                                        : Message(msg::DaemonNoShim{.path = local.shim_program});
    return herald.Refuse(Error{Code::kUnavailable, why, {}});
  }
  Result<std::unique_ptr<Engine>> engine =
      OpenLocalEngine(local, [&inbox](AttemptNews&& news) { inbox.Post(std::move(news)); });
  if (!engine) return herald.Refuse(engine.error());
  std::unique_ptr<SeriesStore> series = OpenSeriesStore(options.home);
  std::unique_ptr<Ingest> ingest =
      MakeIngest([&inbox](Observation seen) { inbox.Post(std::move(seen)); }, series.get());
  ErrandThread errands;
  // The watch waits for the driver's first answer, but not for ever; the Yard takes it in with its first
  // turn.
  const DeviceWatchSettings watching = WatchSettings(*choice, *instance);
  Machine machine = MakeCpuProbe(*choice)->Find();
  settings.devices_chosen = choice->kind == DeviceChoice::Kind::kCpu;
  settings.expect_gpus = watching.gpus && (choice->kind == DeviceChoice::Kind::kGpu || MayHaveGpus(watching));
  if (choice->kind == DeviceChoice::Kind::kGpu) machine.devices.clear();
  machine.complete = !settings.expect_gpus;
  std::unique_ptr<DeviceWatch> watch =
      StartDeviceWatch(watching, [&inbox](DeviceReport report) { inbox.Post(std::move(report)); });
  std::unique_ptr<HostLeases> host;
  if (settings.expect_gpus) host = OpenHostLeases(*instance);
  Yard yard(
      settings, std::move(machine), **store, **engine, *ingest, inbox,
      [&errands](Errand errand) { errands.Run(std::move(errand)); }, watch.get(), host.get());

  ServerSettings serving;
  serving.home = options.home;
  serving.listen = options.listen;
  serving.owner = settings.owner;
  serving.instance = settings.instance;
  serving.version = TRAINYARD_VERSION;
  std::atomic<bool> end_when_idle = false;
  serving.on_down = [&inbox, &end_when_idle](bool cancelled) {
    if (!cancelled) return inbox.Close();
    end_when_idle = true;
    inbox.Post(Ask{[](const Yard&) {}});  // wakes the loop
  };
  serving.web_folder = options.web_folder;
  serving.basics = settings.basics;
  // Asked for seldom, and slow: a thread that is there from the first question on.
  std::unique_ptr<ErrandThread> doctor;
  serving.doctor = [&doctor, &options](Language language, std::function<void(std::string)> then) {
    if (!doctor) doctor = std::make_unique<ErrandThread>();
    doctor->Run([&options, language, then = std::move(then)] {
      then(FindingsJson(options.home, options.config, language));
    });
  };
  Result<std::unique_ptr<Server>> server = Server::Start(serving, inbox, **store, *series);
  if (!server) return herald.Refuse(server.error());
  SignLock(*lock, (*server)->url());
  yard.Open(std::move(*state), clock.Now());
  herald.Ready((*server)->url());
  Log("started, pid " + std::to_string(getpid()) + ", " + (*server)->url());

  const int code = RunLoop(yard, inbox, clock, options.home, end_when_idle);
  // Backwards: nobody may post to what is gone. What was handed to the store is finished by its destructor.
  (*server)->Stop();
  doctor.reset();
  watch.reset();
  engine->reset();
  ingest.reset();
  store->reset();
  Log("ended with " + std::to_string(code));
  return code;
}

}  // namespace ty
