#include "engine/local/local_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/fail_point.h"
#include "base/log.h"
#include "engine/local/leftovers.h"
#include "engine/local/spawn.h"
#include "msg/engine.h"
#include "posix/clocks.h"
#include "posix/files.h"
#include "posix/locks.h"
#include "posix/program.h"
#include "posix/sockets.h"
#include "wire/spec.h"

namespace ty {

namespace {

// What epoll hands back: a supervisor's key and which of its two descriptors; 0 is the wake-up.
uint64_t LinkTag(uint64_t key) {
  return key << 1;
}
uint64_t PidTag(uint64_t key) {
  return key << 1 | 1;
}

wire::Target ToWire(StopTarget target) {
  switch (target) {
    case StopTarget::kLeader:
      return wire::Target::kLeader;
    case StopTarget::kAll:
      return wire::Target::kAll;
    case StopTarget::kGroup:
      break;
  }
  return wire::Target::kGroup;
}

}  // namespace

Result<std::unique_ptr<Engine>> OpenLocalEngine(const LocalEngineSettings& settings,
                                                std::function<void(AttemptNews)> news) {
  const std::string attempts = settings.state_folder + "/attempts";
  if (auto made = MakeFolders(attempts); !made) {
    return Fail(Code::kUnavailable,
                msg::EngineStateFolder{.path = attempts, .error = ErrorText(made.error())});
  }
  if (::access(settings.shim_program.c_str(), X_OK) != 0) {
    return Fail(Code::kUnavailable,
                msg::EngineSupervisorMissing{.path = settings.shim_program, .error = ErrorText(errno)});
  }
  auto engine = std::make_unique<LocalEngine>(
      settings, BootId(), OpenCgroupRoot(settings.instance, ParseContainment(settings.containment)),
      std::move(news));
  if (auto opened = engine->Open(); !opened) return Forward(opened.error());
  return std::unique_ptr<Engine>(std::move(engine));
}

LocalEngine::LocalEngine(LocalEngineSettings settings, std::string boot, CgroupRoot root,
                         std::function<void(AttemptNews)> news)
    : settings_(std::move(settings)),
      attempts_(settings_.state_folder + "/attempts"),
      boot_(std::move(boot)),
      root_(std::move(root)),
      news_(std::move(news)) {}

Status LocalEngine::Open() {
  epoll_.Reset(::epoll_create1(EPOLL_CLOEXEC));
  wake_.Reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event event = {EPOLLIN, {.u64 = 0}};
  if (!epoll_ || !wake_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0) {
    return Fail(Code::kUnavailable, msg::EngineSpawn{.error = ErrorText(errno)});
  }
  OpenShimsCgroup();
  OpenOomCounter();
  thread_ = std::thread([this] { Run(); });
  return {};
}

void LocalEngine::OpenShimsCgroup() {
  const Cgroup shims = root_.Shims();
  if (!shims || !MakeFolders(shims.path, 0755)) return;
  if (auto folder = OpenFolder(shims.path)) shims_cgroup_ = std::move(*folder);
}

void LocalEngine::OpenOomCounter() {
  const auto handed_down = ReadFile(root_.folder + "/cgroup.subtree_control", 4096);
  const bool own = root_.kind == Containment::kCgroup2 && handed_down &&
                   (" " + *handed_down).find(" memory") != std::string::npos;
  if (own) return;
  oom_counter_ = FindOomCounter();
  if (auto opened = OpenAt(AT_FDCWD, oom_counter_.c_str(), O_RDONLY)) oom_counter_file_ = std::move(*opened);
}

LocalEngine::~LocalEngine() {
  background_.Close();
  Post([this] { closing_ = true; });
  if (thread_.joinable()) thread_.join();
  // Goes only if no supervisor and no task is left inside.
  if (root_.Shims().Remove() && !root_.folder.empty()) ::rmdir(root_.folder.c_str());
}

void LocalEngine::Launch(LaunchOrder order) {
  Post([this, order = std::move(order)] { DoLaunch(order); });
}

void LocalEngine::Stop(Ulid attempt, StopOrder order) {
  Post([this, attempt, order = std::move(order)]() mutable { DoStop(attempt, std::move(order)); });
}

void LocalEngine::Freeze(Ulid attempt, Duration deadline) {
  Post([this, attempt, deadline] { DoFreeze(attempt, deadline); });
}

void LocalEngine::Thaw(Ulid attempt) {
  Post([this, attempt] { DoThaw(attempt); });
}

void LocalEngine::Adopt(std::vector<Attempt> open, std::function<void(std::vector<std::string>)> done) {
  Post([this, open = std::move(open), done = std::move(done)]() mutable {
    DoAdopt(std::move(open), std::move(done));
  });
}

void LocalEngine::Acknowledge(Ulid attempt) {
  Post([this, attempt] {
    FAIL_POINT("acknowledge.begun");
    Folder(attempt).Acknowledge();
    FAIL_POINT("acknowledge.cleared");
    (void)root_.Attempt(attempt.Text()).Remove();
  });
}

void LocalEngine::Remove(Ulid attempt) {
  background_.Run([this, attempt] {
    const std::string folder = Folder(attempt).paths().folder;
    if (auto removed = RemoveTree(folder); !removed) {
      Log("The folder " + folder + " could not be removed: " + ErrorText(removed.error()));
    }
  });
}

void LocalEngine::Post(std::function<void()> act) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(act));
  }
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

void LocalEngine::After(Duration delay, std::function<void()> act) {
  due_.emplace(MonotonicNanos() + delay.count(), std::move(act));
}

void LocalEngine::Run() {
  while (!closing_) {
    int timeout_ms = -1;
    if (!due_.empty()) {
      const int64_t left = due_.begin()->first - MonotonicNanos();
      timeout_ms = static_cast<int>(std::clamp<int64_t>((left + 999'999) / 1'000'000, 0, 60'000));
    }
    epoll_event events[64];
    const int count = ::epoll_wait(epoll_.get(), events, 64, timeout_ms);
    for (int i = 0; i < count; ++i) {
      const uint64_t tag = events[i].data.u64;
      if (tag == 0) continue;
      const auto it = shims_.find(tag >> 1);
      if (it == shims_.end()) continue;
      if (tag == LinkTag(it->first)) {
        OnLink(it->second);
      } else {
        OnDeath(it->second);
      }
    }
    RunDue();
  }
}

void LocalEngine::RunDue() {
  uint64_t woken = 0;
  (void)!::read(wake_.get(), &woken, sizeof woken);
  std::vector<std::function<void()>> acts;
  {
    const std::lock_guard lock(mutex_);
    acts.swap(posted_);
  }
  for (auto& act : acts) act();
  const int64_t now = MonotonicNanos();
  while (!due_.empty() && due_.begin()->first <= now) {
    auto act = std::move(due_.begin()->second);
    due_.erase(due_.begin());
    act();
  }
}

LocalEngine::Shim* LocalEngine::Find(const Ulid& attempt) {
  const auto it = keys_.find(attempt);
  return it == keys_.end() ? nullptr : &shims_.at(it->second);
}

LocalEngine::Shim& LocalEngine::Add(const Ulid& attempt) {
  const uint64_t key = next_key_++;
  keys_[attempt] = key;
  Shim& shim = shims_[key];
  shim.attempt = attempt;
  shim.key = key;
  return shim;
}

void LocalEngine::Watch(Shim& shim) {
  epoll_event event = {EPOLLIN, {.u64 = LinkTag(shim.key)}};
  if (shim.link) ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, shim.link.get(), &event);
  event.data.u64 = PidTag(shim.key);
  if (shim.pidfd) ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, shim.pidfd.get(), &event);
}

// Closing alone does not take a descriptor out of epoll while a copy lives, and a supervisor being born has
// copies of all of ours until its execve is through.
void LocalEngine::Unwatch(UniqueFd& fd) {
  if (!fd) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd.get(), nullptr);
  fd.Reset();
}

void LocalEngine::Forget(Shim& shim) {
  Unwatch(shim.link);
  Unwatch(shim.pidfd);
  keys_.erase(shim.attempt);
  shims_.erase(shim.key);
}

void LocalEngine::Report(const Ulid& attempt, decltype(AttemptNews::what) what) {
  news_(AttemptNews{attempt, std::move(what)});
}

void LocalEngine::End(Shim& shim, decltype(AttemptNews::what) what) {
  if (shim.ended) return;
  shim.ended = true;
  Report(shim.attempt, std::move(what));
}

namespace {

// argv[0] becomes the absolute path too: a venv's python finds its home by it (contracts C7).
void ResolveProgram(std::vector<std::string>& argv, const std::vector<std::string>& environment,
                    const std::string& workdir) {
  if (argv.front().find('/') != std::string::npos) return;
  for (const std::string& variable : environment) {
    if (!variable.starts_with("PATH=")) continue;
    const std::string found = FindProgram(argv.front(), std::string_view(variable).substr(5), workdir);
    if (!found.empty()) argv.front() = found;
    return;
  }
}

}  // namespace

std::string LocalEngine::SpecFor(const LaunchOrder& order) const {
  wire::ShimSpec spec;
  spec.attempt = order.attempt.Text();
  spec.task = order.task.value;
  spec.number = order.number;
  spec.uid = static_cast<int64_t>(::geteuid());
  spec.boot = boot_;
  spec.argv = order.argv;
  ResolveProgram(spec.argv, order.environment, order.workdir);
  spec.workdir = order.workdir;
  spec.umask = order.umask;
  spec.environment = order.environment;
  spec.cpus = order.cpus;
  spec.devices = order.devices;
  for (const LaunchOrder::Rank& rank : order.ranks) spec.ranks.push_back({rank.environment, rank.cpus});
  // The marker by which what outlives its supervisor is found.
  const auto is_marker = [](const std::string& variable) { return variable.starts_with("TRAINYARD_ID="); };
  std::erase_if(spec.environment, is_marker);
  for (wire::ShimSpec::Rank& rank : spec.ranks) std::erase_if(rank.environment, is_marker);
  spec.environment.push_back("TRAINYARD_ID=" + spec.attempt);
  if (order.time_limit) spec.time_limit_ms = ToMillis(*order.time_limit);
  if (order.idle_limit) spec.idle_limit_ms = ToMillis(*order.idle_limit);
  spec.log_limit = order.log_limit;
  spec.stop_signal = order.stop_signal;
  spec.stop_target = ToWire(order.stop_target);
  spec.unkillable_ms = ToMillis(order.unkillable_after);
  spec.grace_ms = ToMillis(order.grace);
  spec.containment = Containment();
  spec.cgroup = root_.Attempt(spec.attempt).path;
  if (oom_counter_file_) {
    spec.oom_counter = oom_counter_;
    spec.oom_kills_before = OomKillsIn(oom_counter_file_.get()).value_or(0);
  }
  return wire::EncodeSpec(spec);
}

void LocalEngine::DoLaunch(const LaunchOrder& order) {
  const AttemptFolder folder = Folder(order.attempt);
  if (order.ranks.size() > wire::kMostRanks) {
    return Report(order.attempt,
                  AttemptRefused{Error{Code::kInvalid,
                                       msg::EngineRanks{.most = static_cast<int64_t>(wire::kMostRanks),
                                                        .want = static_cast<int64_t>(order.ranks.size())},
                                       "ranks"}});
  }
  FAIL_POINT("launch.begun");
  if (auto made = folder.Make(order, SpecFor(order)); !made)
    return Report(order.attempt, AttemptRefused{made.error()});
  std::vector<int> leases;
  for (const auto& lease : order.leases) leases.push_back(lease->get());
  const auto spawn = [&] {
    return SpawnShim(settings_.shim_program, folder.paths().folder, shims_cgroup_ ? shims_cgroup_.get() : -1,
                     leases);
  };
  FAIL_POINT("launch.folder_made");
  auto spawned = spawn();
  // Somebody tidied our empty cgroup away.
  if (!spawned && (spawned.error() == ENOENT || spawned.error() == ENODEV)) {
    OpenShimsCgroup();
    spawned = spawn();
  }
  if (!spawned) {
    (void)RemoveTree(folder.paths().folder);
    return Report(order.attempt, AttemptRefused{Error{CodeOfFailure(spawned.error()),
                                                      msg::EngineSpawn{.error = ErrorText(spawned.error())},
                                                      {}}});
  }
  FAIL_POINT("launch.spawned");
  Shim& shim = Add(order.attempt);
  shim.pid = spawned->process.pid;
  shim.pidfd = std::move(spawned->process.pidfd);
  shim.link = std::move(spawned->link);
  Watch(shim);
}

void LocalEngine::DoStop(const Ulid& attempt, StopOrder order) {
  if (const auto it = adopting_.find(attempt); it != adopting_.end()) {
    it->second = std::move(order);
    return;
  }
  Shim* shim = Find(attempt);
  if (shim == nullptr || shim->ended) return;  // its end was told, or is none of ours
  FAIL_POINT("stop.deciding");
  // Nothing has run as long as nobody said GO; whoever decides first has decided.
  if (!shim->running && Folder(attempt).Void(order.reason)) return End(*shim, AttemptNotStarted{});
  FAIL_POINT("stop.not_void");
  shim->stop = std::move(order);
  HandOverStop(*shim);
}

void LocalEngine::HandOverStop(Shim& shim) {
  if (!shim.stop || shim.ended) return;
  wire::Order order;
  order.verb = wire::Verb::kStop;
  order.reason = shim.stop->reason;
  order.signal = shim.stop->signal;
  order.target = ToWire(shim.stop->target);
  order.grace_ms = ToMillis(shim.stop->grace);
  if (shim.link && SendPacket(shim.link.get(), wire::EncodeOrder(order))) {
    shim.stop.reset();
    FAIL_POINT("stop.handed_over");
    return;
  }
  // Its socket is full or not there: it is stuck, or about to tell its end.
  After(milliseconds(200), [this, attempt = shim.attempt] {
    if (Shim* again = Find(attempt)) HandOverStop(*again);
  });
}

void LocalEngine::DoFreeze(const Ulid& attempt, Duration deadline) {
  // Whoever wants it frozen hears that it is not; a supervisor that cannot be reached is not asked later,
  // when the turn may be another's.
  Shim* shim = Find(attempt);
  if (shim == nullptr || shim->ended || !shim->link)
    return Report(attempt, AttemptFreezeRefused{.error = ENOTCONN});
  wire::Order order;
  order.verb = wire::Verb::kFreeze;
  order.deadline_ms = ToMillis(deadline);
  if (auto sent = SendPacket(shim->link.get(), wire::EncodeOrder(order)); !sent) {
    return Report(attempt, AttemptFreezeRefused{.error = sent.error()});
  }
  shim->freezing = !shim->frozen;
  FAIL_POINT("freeze.ordered");
}

// One that cannot be handed over is not needed: the deadline thaws.
void LocalEngine::DoThaw(const Ulid& attempt) {
  const Shim* shim = Find(attempt);
  if (shim == nullptr || shim->ended || !shim->link) return;
  wire::Order order;
  FAIL_POINT("freeze.thaw_ordered");
  order.verb = wire::Verb::kThaw;
  (void)SendPacket(shim->link.get(), wire::EncodeOrder(order));
}

void LocalEngine::SetFrozen(Shim& shim, bool frozen) {
  shim.freezing = false;
  if (shim.frozen == frozen || shim.ended) return;
  FAIL_POINT("freeze.heard");
  shim.frozen = frozen;
  if (frozen) {
    Report(shim.attempt, AttemptFrozen{});
  } else {
    Report(shim.attempt, AttemptThawed{});
  }
}

void LocalEngine::SetUnkillable(Shim& shim) {
  if (shim.unkillable || shim.ended) return;
  shim.unkillable = true;
  Report(shim.attempt, AttemptUnkillable{});
}

void LocalEngine::OnLink(Shim& shim) {
  for (;;) {
    auto packet = ReceivePacket(shim.link.get());
    if (!packet && packet.error() == EAGAIN) return;
    if (!packet || packet->empty()) break;
    if (const auto news = wire::DecodeNews(*packet)) OnNews(shim, *news);
  }
  // The other end is closed: it is going. What it left tells the rest, once it is gone.
  Unwatch(shim.link);
  // Should it have frozen and we have not heard it, its state will tell when we call again.
  if (std::exchange(shim.freezing, false) && !shim.ended)
    Report(shim.attempt, AttemptFreezeRefused{.error = ENOTCONN});
  if (shim.pid == 0) {
    if (shim.ended) return Forget(shim);
    return Settle(shim.attempt);
  }
  if (!shim.pidfd) return OnDeath(shim);
  // Should it live on, it only hung up on us: call again.
  if (shim.ended) return;
  After(milliseconds(200), [this, attempt = shim.attempt] {
    if (const Shim* again = Find(attempt); again != nullptr && !again->link) Settle(attempt);
  });
}

void LocalEngine::OnNews(Shim& shim, const wire::News& news) {
  switch (news.kind) {
    case wire::NewsKind::kStarted:
    case wire::NewsKind::kState:
      if (shim.running || shim.ended || !news.record) return;
      FAIL_POINT("run.heard");
      shim.running = true;
      shim.stuck = false;
      shim.frozen = news.frozen;
      shim.unkillable = news.unkillable;
      Report(shim.attempt,
             AttemptRunning{FromNanos(news.record->began_ns), static_cast<int>(news.record->pid),
                            shim.pid == 0, news.frozen, news.unkillable});
      return;
    case wire::NewsKind::kExited:
      FAIL_POINT("exit.heard");
      if (news.record) End(shim, AttemptExited{ToExitRecord(*news.record)});
      return;
    case wire::NewsKind::kUnkillable:
      return SetUnkillable(shim);
    case wire::NewsKind::kRefused:
      shim.refusal = Error{CodeOfFailure(news.error),
                           msg::EngineRefused{.step = news.step, .error = ErrorText(news.error)},
                           {}};
      return;
    case wire::NewsKind::kFrozen:
      return SetFrozen(shim, true);
    case wire::NewsKind::kThawed:
      return SetFrozen(shim, false);
    case wire::NewsKind::kError:
      if (news.step != "FREEZE" || shim.ended) return;
      shim.freezing = false;
      return Report(shim.attempt, AttemptFreezeRefused{.error = news.error});
    case wire::NewsKind::kUnknown:
    case wire::NewsKind::kDone:
      return;
  }
}

void LocalEngine::OnDeath(Shim& shim) {
  while (::waitpid(shim.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  Unwatch(shim.pidfd);
  shim.pid = 0;
  // Its last words may still be in the socket; reading them to the end comes back to Settle.
  if (shim.link) return OnLink(shim);
  if (shim.ended) return Forget(shim);
  Settle(shim.attempt);
}

// The supervisor is gone, or its connection is, and it did not tell the end: the folder does.
void LocalEngine::Settle(const Ulid& attempt) {
  Shim* shim = Find(attempt);
  if (shim == nullptr || shim->settling) return;
  shim->settling = true;
  const AttemptFolder folder = Folder(attempt);
  background_.Run([this, folder, row = Recorded{boot_, shim->running || shim->stuck}] {
    const auto unkillable = [this, &folder] {
      Post([this, attempt = folder.attempt()] { Report(attempt, AttemptUnkillable{}); });
    };
    auto finding = Judge(folder, row, {boot_, settings_.instance}, background_, unkillable);
    if (!finding) return;
    auto shared = std::make_shared<Finding>(std::move(*finding));
    Post([this, attempt = folder.attempt(), shared] { TakeOver(attempt, std::move(*shared)); });
  });
}

void LocalEngine::DoAdopt(std::vector<Attempt> open, std::function<void(std::vector<std::string>)> done) {
  auto adoption = std::make_shared<Adoption>();
  adoption->done = std::move(done);
  adoption->left = open.size() + 1;
  for (const Attempt& attempt : open) adopting_.emplace(attempt.uid, std::nullopt);

  // Listed now: what is launched after this must not look like a stray.
  std::vector<Ulid> others;
  for (const std::string& name : ListFolder(attempts_).value_or(std::vector<std::string>{})) {
    const auto ulid = Ulid::Parse(name);
    if (ulid && !adopting_.contains(*ulid) && Find(*ulid) == nullptr) others.push_back(*ulid);
  }
  background_.Run([this, adoption, others = std::move(others)] {
    std::vector<std::string> strays;
    for (const Ulid& attempt : others) {
      const std::optional<Stray> stray = LookForStray(attempts_, attempt);
      if (!stray) continue;
      strays.push_back(attempt.Text());
      if (!stray->runs) continue;
      Post([this, attempt, stray = *stray] {
        Report(attempt, *stray.runs);
        WatchStray(attempt, stray.supervisor);
      });
    }
    SweepCgroups();
    Post([this, adoption, strays = std::move(strays)]() mutable {
      adoption->strays = std::move(strays);
      AdoptionStep(adoption);
    });
  });
  for (const Attempt& attempt : open) {
    const AttemptFolder folder = Folder(attempt.uid);
    const bool ran = attempt.started || attempt.state == AttemptState::kRunning;
    background_.Run([this, adoption, folder, row = Recorded{attempt.boot, ran}] {
      // One that cannot be ended must not keep the others from being scheduled.
      bool told = false;
      const auto unkillable = [&] {
        told = true;
        Post([this, adoption, attempt = folder.attempt()] {
          Report(attempt, AttemptUnkillable{});
          AdoptionStep(adoption);
        });
      };
      auto finding = Judge(folder, row, {boot_, settings_.instance}, background_, unkillable);
      if (!finding) return;
      auto shared = std::make_shared<Finding>(std::move(*finding));
      Post([this, adoption, attempt = folder.attempt(), shared, told] {
        TakeOver(attempt, std::move(*shared));
        if (!told) AdoptionStep(adoption);
      });
    });
  }
}

void LocalEngine::AdoptionStep(const std::shared_ptr<Adoption>& adoption) {
  if (--adoption->left == 0) adoption->done(std::move(adoption->strays));
}

void LocalEngine::WatchStray(const Ulid& attempt, const Process& supervisor) {
  After(seconds(1), [this, attempt, supervisor] {
    if (StillRuns(Folder(attempt), supervisor)) return WatchStray(attempt, supervisor);
    Report(attempt, StrayGone{});
  });
}

// Cgroups of attempts that were acknowledged or removed; one with a process inside stays, the kernel sees to
// that.
void LocalEngine::SweepCgroups() {
  for (const CgroupRoot& root : KnownCgroupRoots(settings_.instance)) {
    for (const std::string& name : ListFolder(root.folder).value_or(std::vector<std::string>{})) {
      const auto ulid = name.starts_with("a-") ? Ulid::Parse(name.substr(2)) : std::nullopt;
      if (ulid && !Exists(Folder(*ulid).paths().Slot())) (void)root.Attempt(ulid->Text()).Remove();
    }
  }
}

void LocalEngine::TakeOver(const Ulid& attempt, Finding finding) {
  std::optional<StopOrder> stop;
  if (const auto it = adopting_.find(attempt); it != adopting_.end()) {
    stop = std::move(it->second);
    adopting_.erase(it);
  }
  FAIL_POINT("adopt.taken_over");
  Shim* known = Find(attempt);
  Shim& shim = known != nullptr ? *known : Add(attempt);
  const bool was_running = shim.running;
  shim.settling = false;
  if (stop) shim.stop = std::move(stop);

  if (const auto* running = std::get_if<AttemptRunning>(&finding.what)) {
    shim.running = true;
    shim.stuck = false;
    Unwatch(shim.link);
    shim.link = std::move(finding.link);
    Watch(shim);
    if (!was_running) {
      shim.frozen = running->frozen;
      shim.unkillable = running->unkillable;
      Report(attempt, *running);
    } else {  // what it told while there was no connection
      SetFrozen(shim, running->frozen);
      if (running->unkillable) SetUnkillable(shim);
    }
    HandOverStop(shim);
    return;
  }
  if (std::holds_alternative<AttemptStuck>(finding.what)) {
    if (!shim.stuck) Report(attempt, AttemptStuck{});
    shim.stuck = true;
    Unwatch(shim.link);
    shim.link = std::move(finding.link);
    Watch(shim);
    HandOverStop(shim);
    // Without a connection only another look can tell when it comes back or goes.
    if (!shim.link) After(seconds(1), [this, attempt] { Settle(attempt); });
    return;
  }
  std::visit(
      [&](auto& what) {
        using What = std::decay_t<decltype(what)>;
        // It said why before it left, and nothing ran.
        if (std::is_same_v<What, AttemptNotStarted> && shim.refusal)
          return End(shim, AttemptRefused{*shim.refusal});
        End(shim, std::move(what));
      },
      finding.what);
  Forget(shim);
}

}  // namespace ty
