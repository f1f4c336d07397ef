#include "shim/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>

#include "base/fail_point.h"
#include "posix/clocks.h"
#include "posix/core_file.h"
#include "posix/files.h"
#include "posix/locks.h"
#include "posix/process.h"
#include "posix/sockets.h"
#include "wire/decision.h"

namespace ty {

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kLeftoverGrace = 5 * kSecond;  // contracts C16
constexpr int64_t kRanksGrace = 30 * kSecond;    // at most, for the other ranks once one has failed
constexpr size_t kSpecLimit = 64 << 20;
constexpr size_t kClientLimit = 16;

// What may be sent to us by a terminal, a logout or a shutdown must not end us before our task.
void IgnoreSignals() {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2, SIGTSTP,
                           SIGTTIN, SIGTTOU, SIGXFSZ}) {
    ::signal(signal, SIG_IGN);
  }
}

}  // namespace

Supervisor::Supervisor(std::string folder, UniqueFd link, int leases)
    : folder_path_(std::move(folder)), leases_(leases) {
  if (link) clients_.push_back(std::move(link));
}

int Supervisor::Run() {
  IgnoreSignals();
  ::umask(077);
  ::setsid();
  FAIL_POINT("shim.launch.begun");
  auto folder = OpenFolder(folder_path_);
  if (!folder) return Refuse("folder", folder.error());
  folder_ = std::move(*folder);
  if (::chdir("/") != 0) return Refuse("folder", errno);

  if (!TakeSlot()) return 0;  // somebody else is deciding about this attempt
  FAIL_POINT("shim.launch.locked");
  if (!ReadSpec()) return Refuse("spec", EBADMSG);
  if (spec_.uid != static_cast<int64_t>(::geteuid())) return Refuse("user", EPERM);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ProtectFromOom();
  FAIL_POINT("shim.launch.spec_read");
  OpenLogs();
  OpenControl();
  FAIL_POINT("shim.launch.undecided");
  if (!SayGo()) {
    const int why = errno;
    if (why != EEXIST) return Refuse("decision", why);
    // Called off, and perhaps tidied up already: nobody else takes away what we have just made.
    ::unlinkat(folder_.get(), "ctl.sock", 0);
    return 0;
  }

  FAIL_POINT("shim.launch.decided");
  Start();
  while (!gone_) Supervise();
  return Finish();
}

// The lock lives as long as we do, and only we hold it: the descriptor is closed at execve of the task.
bool Supervisor::TakeSlot() {
  auto slot = OpenAt(folder_.get(), "slot", O_RDWR);
  if (!slot) return false;
  slot_ = std::move(*slot);
  return TryLock(slot_.get()).value_or(false);
}

bool Supervisor::ReadSpec() {
  auto text = ReadFileAt(folder_.get(), "spec", kSpecLimit);
  if (!text) return false;
  auto spec = wire::DecodeSpec(*text);
  if (!spec) return false;
  spec_ = std::move(*spec);
  record_.attempt = spec_.attempt;
  record_.ranks.resize(spec_.ranks.size());
  leaders_.resize(std::max<size_t>(spec_.ranks.size(), 1));
  tree_ = Tree(Cgroup{ParseContainment(spec_.containment).value_or(Containment::kSubreaper), spec_.cgroup});
  return true;
}

void Supervisor::ProtectFromOom() {
  if (::geteuid() != 0) return;  // only root may ask to be spared
  auto score = OpenAt(AT_FDCWD, "/proc/self/oom_score_adj", O_RDWR);
  if (!score) return;
  auto before = ReadAllAt(score->get(), 32);
  if (before && WriteAllAt(score->get(), "-900", 0)) oom_score_ = std::move(*before);
}

void Supervisor::OpenLogs() {
  for (size_t rank = 0; rank < leaders_.size(); ++rank) {
    const std::string name = HasRanks() ? "log." + std::to_string(rank) : "log";
    auto log = OpenAt(folder_.get(), name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY, 0600);
    if (!log) {
      failed_step_ = "log";
      failed_errno_ = log.error();
      return;
    }
    rooms_.emplace_back(folder_.get(), log->get(), name, spec_.log_limit);
    logs_.push_back(std::move(*log));
  }
}

void Supervisor::OpenControl() {
  auto listener = ListenPackets(folder_.get(), "ctl.sock");
  if (listener) {
    listener_ = std::move(*listener);
  } else {
    failed_step_ = "control socket";
    failed_errno_ = listener.error();
  }
}

bool Supervisor::SayGo() {
  wire::Decision decision;
  decision.go = true;
  decision.boot = spec_.boot;
  decision.pid = ::getpid();
  decision.start = static_cast<int64_t>(ProcessStartTime(::getpid()).value_or(0));
  return ::symlinkat(wire::EncodeDecision(decision).c_str(), folder_.get(), "decision") == 0;
}

int Supervisor::Refuse(const char* step, int error) {
  wire::News news;
  news.kind = wire::NewsKind::kRefused;
  news.error = error;
  news.step = step;
  Tell(news);
  return 1;
}

void Supervisor::Start() {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child, nullptr);
  child_signal_.Reset(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));

  std::vector<int> logs;
  for (const UniqueFd& log : logs_) logs.push_back(log.get());
  index_.Open(folder_.get(), logs);
  record_.began_ns = WallNanos();
  boot_began_ = BootNanos();
  thawed_began_ = thawed_output_ = MonotonicNanos();
  StartFailure failure{failed_errno_, failed_step_};
  if (failure.error == 0) failure = StartLeaders();
  if (failure.error != 0) {
    record_.exec_errno = failure.error;
    record_.exec_step = failure.step;
    if (leading_ > 0) return Kill(MonotonicNanos());  // without all of its ranks it never began
    (void)tree_.leaf().Remove();
    gone_ = true;
    return;
  }
  FAIL_POINT("shim.launch.forked");
  // What only the start needed; a recorded shell can be large.
  std::vector<std::string>().swap(spec_.environment);
  std::vector<std::string>().swap(spec_.argv);
  std::vector<wire::ShimSpec::Rank>().swap(spec_.ranks);
  FAIL_POINT("shim.run.unrecorded");
  WriteRecord();
  FAIL_POINT("shim.run.recorded");
  wire::News news;
  news.kind = wire::NewsKind::kStarted;
  news.record = record_;
  Tell(news);
  FAIL_POINT("shim.run.told");
}

StartFailure Supervisor::StartLeaders() {
  Birthplace birthplace(spec_, oom_score_, leases_);
  if (const StartFailure failure = birthplace.Prepare(); failure.error != 0) return failure;
  FAIL_POINT("shim.launch.cgroup_made");
  if (leaders_.size() > 1) ends_.Reset(::epoll_create1(EPOLL_CLOEXEC));
  for (size_t rank = 0; rank < leaders_.size(); ++rank) {
    auto started = birthplace.Start(rank, logs_[rank].get());
    if (!started) {
      if (HasRanks()) record_.failed_rank = static_cast<int>(rank);
      return started.error();
    }
    Leader& leader = leaders_[rank];
    leader.pid = started->pid;
    ++leading_;
    const auto start = static_cast<int64_t>(ProcessStartTime(leader.pid).value_or(0));
    if (rank == 0) {
      record_.pid = leader.pid;
      record_.start = start;
    } else {
      record_.others.push_back({leader.pid, start});
    }
    epoll_event event = {EPOLLIN, {.u64 = rank}};
    if (ends_ && started->pidfd &&
        ::epoll_ctl(ends_.get(), EPOLL_CTL_ADD, started->pidfd.get(), &event) == 0) {
      leader.pidfd = std::move(started->pidfd);
    }
  }
  return {};
}

void Supervisor::Supervise() {
  Wait(MonotonicNanos());
  if (!gone_) HandleTimers(MonotonicNanos());
}

void Supervisor::Wait(int64_t now) {
  pollfd waiting[3 + kClientLimit];
  nfds_t count = 0;
  waiting[count++] = {child_signal_.get(), POLLIN, 0};
  waiting[count++] = {listener_.get(), POLLIN, 0};
  waiting[count++] = {index_.WatchFd(now), POLLIN, 0};  // a negative one is passed over
  for (const UniqueFd& client : clients_) waiting[count++] = {client.get(), POLLIN, 0};

  const int64_t until = NextTimer(now);
  timespec timeout = {};
  if (until != kNever) {
    const int64_t left = std::max<int64_t>(until - now, 0);
    timeout = {static_cast<time_t>(left / kSecond), static_cast<long>(left % kSecond)};
  }
  if (::ppoll(waiting, count, until == kNever ? nullptr : &timeout, nullptr) <= 0) return;

  // Ends before orders: an order that comes with the natural end must not look like its cause.
  if (waiting[0].revents != 0) {
    signalfd_siginfo told[8];
    while (::read(child_signal_.get(), told, sizeof told) > 0) {
    }
    ReapChildren();
  }
  if (waiting[2].revents != 0) LookAtLogs(MonotonicNanos());
  for (size_t i = clients_.size(); i-- > 0;) {
    if (waiting[3 + i].revents != 0) ServeClient(i);
  }
  if (waiting[1].revents != 0) {
    if (auto client = AcceptPackets(listener_.get()); client && PeerIsTrusted(client->get())) {
      if (clients_.size() >= kClientLimit) clients_.erase(clients_.begin());
      clients_.push_back(std::move(*client));
    }
  }
}

void Supervisor::ReapChildren() {
  for (;;) {
    if (ends_) ReapByTime();
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) childless_ = true;
    if (pid <= 0) break;
    Reaped(pid, status);
  }
  // As a subreaper we inherit every orphan: no child left means no descendant left.
  if (childless_) {
    CountOomKills();
    gone_ = tree_.Gone();
  }
}

// Where the leaf's memory is not counted by itself, the memory around us still tells whether anybody was
// killed for want of it while we ran. Asked whatever the end: a child's kill shows as an exit code of its
// parent, if at all.
void Supervisor::CountOomKills() {
  const std::optional<int> own = tree_.leaf().OomKills();
  const std::optional<int> around =
      own || spec_.oom_counter.empty() ? std::nullopt : OomKillsIn(spec_.oom_counter);
  record_.oom_counted = own || around;
  record_.oom_kills = own.value_or(0);
  record_.oom_kills_nearby = around ? std::max(*around - spec_.oom_kills_before, 0) : 0;
}

// Of two ranks that end in the same moment the kernel's wait gives the one that was started first; epoll
// gives the one that ended first. When one rank fails the others often do within milliseconds, for no reason
// of their own.
void Supervisor::ReapByTime() {
  epoll_event ended[32];
  int count = 0;
  while ((count = ::epoll_wait(ends_.get(), ended, 32, 0)) > 0) {
    for (int i = 0; i < count; ++i) {
      Leader& leader = leaders_[ended[i].data.u64];
      leader.pidfd.Reset();
      int status = 0;
      const pid_t pid = leader.pid;
      if (pid != 0 && ::waitpid(pid, &status, WNOHANG) == pid) Reaped(pid, status);
    }
  }
}

void Supervisor::Reaped(pid_t pid, int status) {
  for (size_t rank = 0; rank < leaders_.size(); ++rank) {
    if (leaders_[rank].pid == pid) return EndLeader(rank, pid, status);
  }
}

void Supervisor::EndLeader(size_t rank, pid_t pid, int status) {
  leaders_[rank] = {};
  --leading_;
  wire::RankEnd end;
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  if (HasRanks()) record_.ranks[rank] = end;
  if (record_.exec_errno != 0) return;  // it was killed because another could not be started

  const int64_t now = MonotonicNanos();
  FAIL_POINT("shim.exit.reaped");
  const bool failed = end.exit_code != 0, first = !record_.signal && record_.exit_code.value_or(0) == 0;
  if (first) {
    record_.exit_code = end.exit_code;
    record_.signal = end.signal;
    record_.core_dumped = WIFSIGNALED(status) && WCOREDUMP(status);
    if (record_.core_dumped) record_.core_file = FindCoreFile(pid, spec_.workdir, record_.began_ns);
  }
  if (failed && first && HasRanks() && stage_ == Stage::kRunning) {
    record_.failed_rank = static_cast<int>(rank);
    if (leading_ > 0) return StopOtherRanks(now);
  }
  if (leading_ > 0) return;
  if (stage_ == Stage::kRunning) {
    ladder_at_ = now + kLeftoverGrace;
  } else if (stage_ != Stage::kKilled) {
    // We asked it to stop and it did: whoever it left behind is asked at once.
    stage_ = Stage::kAsked;
    ladder_at_ = now;
  }
}

// Not a stop that anybody ordered: no stop file, and the outcome stays that of the rank that failed.
void Supervisor::StopOtherRanks(int64_t now) {
  Thaw();
  Signal(wire::Target::kGroup, SIGTERM);
  Signal(wire::Target::kGroup, SIGCONT);
  stage_ = Stage::kTerminated;
  const int64_t grace = std::clamp<int64_t>(spec_.grace_ms, 0, kRanksGrace / kMillisecond) * kMillisecond;
  kill_grace_ = std::min(grace, kLeftoverGrace);
  ladder_at_ = now + grace;
}

void Supervisor::ServeClient(size_t index) {
  const int fd = clients_[index].get();
  for (;;) {
    const auto packet = ReceivePacket(fd);
    if (!packet && packet.error() == EAGAIN) return;
    if (!packet || packet->empty()) break;
    wire::News answer;
    answer.kind = wire::NewsKind::kDone;
    if (const auto order = wire::DecodeOrder(*packet)) {
      CarryOut(*order, answer);
    } else {
      answer.kind = wire::NewsKind::kError;
      answer.step = "packet";
    }
    if (!SendPacket(fd, wire::EncodeNews(answer))) break;
  }
  clients_.erase(clients_.begin() + static_cast<ptrdiff_t>(index));
}

void Supervisor::CarryOut(const wire::Order& order, wire::News& answer) {
  switch (order.verb) {
    case wire::Verb::kPing:
    case wire::Verb::kStatus:
      answer.kind = wire::NewsKind::kState;
      answer.record = record_;
      answer.frozen = frozen_at_ != 0;
      answer.unkillable = unkillable_;
      return;
    case wire::Verb::kStop:
      Stop(wire::StoppedBy::kOrder, order.reason, {order.signal, order.target, order.grace_ms});
      return;
    case wire::Verb::kSignal:
      Signal(wire::Target::kGroup, order.signal);
      return;
    case wire::Verb::kFreeze:
      answer.error = Freeze(order.deadline_ms);
      break;
    case wire::Verb::kThaw:
      Thaw();
      return;
    case wire::Verb::kKill:
      if (stage_ == Stage::kRunning && leading_ > 0) record_.stopped_by = wire::StoppedBy::kOrder;
      Kill(MonotonicNanos());
      return;
    case wire::Verb::kUnknown:
      answer.error = ENOSYS;
      break;
  }
  if (answer.error != 0) {
    answer.kind = wire::NewsKind::kError;
    answer.step = order.verb == wire::Verb::kFreeze ? "FREEZE" : "verb";
  }
}

int64_t Supervisor::ThawedClock(int64_t now) const {
  return (frozen_at_ != 0 ? frozen_at_ : now) - frozen_before_;
}

int64_t Supervisor::NextTimer(int64_t now) const {
  int64_t next = std::min({ladder_at_, thaw_at_, index_.NextLook(now)});
  // A tree without our children that is not empty yet: only asking again tells.
  if (childless_) next = std::min(next, now + 20 * kMillisecond);
  if (stage_ == Stage::kRunning && leading_ > 0 && frozen_at_ == 0) {
    if (spec_.time_limit_ms)
      next = std::min(next, thawed_began_ + frozen_before_ + *spec_.time_limit_ms * kMillisecond);
    if (spec_.idle_limit_ms)
      next = std::min(next, thawed_output_ + frozen_before_ + *spec_.idle_limit_ms * kMillisecond);
  }
  return next;
}

void Supervisor::LookAtLogs(int64_t now) {
  const int64_t before = index_.last_growth();
  index_.Look(now);
  if (index_.last_growth() == before) return;
  thawed_output_ = ThawedClock(now);
  index_.SetPace(MakeRoom(now));
}

int64_t Supervisor::MakeRoom(int64_t now) {
  int64_t pace = kSecond;
  for (size_t rank = 0; rank < rooms_.size(); ++rank) {
    pace = std::min(pace, rooms_[rank].Look(index_.SizeOf(rank), now));
  }
  return pace;
}

void Supervisor::HandleTimers(int64_t now) {
  if (index_.NextLook(now) <= now) LookAtLogs(now);
  if (thaw_at_ <= now) Thaw();
  CheckLimits(now);
  if (ladder_at_ <= now) ClimbLadder(now);
  if (childless_) ReapChildren();
}

void Supervisor::CheckLimits(int64_t now) {
  if (stage_ != Stage::kRunning || leading_ == 0 || frozen_at_ != 0) return;
  const int64_t clock = ThawedClock(now);
  auto silent_too_long = [&] {
    return spec_.idle_limit_ms && clock - thawed_output_ >= *spec_.idle_limit_ms * kMillisecond;
  };
  if (spec_.time_limit_ms && clock - thawed_began_ >= *spec_.time_limit_ms * kMillisecond) {
    Stop(wire::StoppedBy::kTimeLimit, "time limit", AskingAtLimits());
  } else if (silent_too_long()) {
    LookAtLogs(now);  // it may have spoken while we looked away
    if (!silent_too_long()) return;
    Stop(wire::StoppedBy::kIdleLimit, "idle limit", AskingAtLimits());
  }
}

// The ladder: stop file and signal, grace, TERM, KILL. A second order may only hurry it.
void Supervisor::Stop(wire::StoppedBy who, std::string_view reason, const Asking& asking) {
  const int64_t now = MonotonicNanos();
  const int64_t grace = std::clamp<int64_t>(asking.grace_ms, 0, 7 * 24 * 3'600'000LL) * kMillisecond;
  if (stage_ == Stage::kKilled) return;
  if (stage_ != Stage::kRunning || leading_ == 0) {
    ladder_at_ = std::min(ladder_at_, now + grace);
    leftover_grace_ = std::min(leftover_grace_, grace);
    return;
  }
  record_.stopped_by = who;
  FAIL_POINT("shim.stop.asked");
  WriteStopFile(reason);
  FAIL_POINT("shim.stop.file_made");
  Thaw();
  target_ = asking.target;
  Signal(target_, asking.signal);
  Signal(target_, SIGCONT);
  stage_ = asking.signal == SIGTERM ? Stage::kTerminated : Stage::kAsked;
  kill_grace_ = std::min(grace, kLeftoverGrace);
  ladder_at_ = now + grace;
}

// Complete as soon as it can be seen.
void Supervisor::WriteStopFile(std::string_view reason) {
  if (WriteFileAt(folder_.get(), ".stop", std::string(reason) + "\n")) {
    ::renameat(folder_.get(), ".stop", folder_.get(), "stop");
  }
}

// A group's number is its leader's and nobody else's as long as we have not reaped that.
void Supervisor::Signal(wire::Target target, int signal) {
  if (signal <= 0) return;
  if (target == wire::Target::kAll) return tree_.Signal(signal);
  for (const Leader& leader : leaders_) {
    if (leader.pid == 0) continue;
    if (target == wire::Target::kLeader || ::kill(-leader.pid, signal) != 0) ::kill(leader.pid, signal);
  }
}

void Supervisor::ClimbLadder(int64_t now) {
  switch (stage_) {
    case Stage::kRunning:  // the leader is gone and left children
      kill_grace_ = leftover_grace_;
      [[fallthrough]];
    case Stage::kAsked:
      Thaw();
      for (const int signal : {SIGTERM, SIGCONT}) Signal(leading_ > 0 ? target_ : wire::Target::kAll, signal);
      stage_ = Stage::kTerminated;
      ladder_at_ = now + kill_grace_;
      return;
    case Stage::kTerminated:
    case Stage::kKilled:
      Kill(now);
      return;
  }
}

void Supervisor::Kill(int64_t now) {
  const bool again = stage_ == Stage::kKilled;
  if (!again) {
    Thaw();
    stage_ = Stage::kKilled;
    record_.killed = true;
    killed_at_ = now;
    kill_pause_ = 20 * kMillisecond;
  }
  FAIL_POINT("shim.stop.killing");
  tree_.Kill(again);
  FAIL_POINT("shim.stop.killed");
  kill_pause_ = std::min(kill_pause_ * 2, kSecond);
  ladder_at_ = now + kill_pause_;
  if (unkillable_ || now < killed_at_ + spec_.unkillable_ms * kMillisecond) return;
  unkillable_ = true;
  wire::News news;
  news.kind = wire::NewsKind::kUnkillable;
  Tell(news);
}

int Supervisor::Freeze(int64_t deadline_ms) {
  if (deadline_ms <= 0) return EINVAL;
  if (stage_ != Stage::kRunning || leading_ == 0) return EBUSY;
  const int64_t now = MonotonicNanos();
  // Far enough for anybody, and no overflow.
  const int64_t deadline = now + std::min<int64_t>(deadline_ms, 7 * 24 * 3'600'000LL) * kMillisecond;
  if (frozen_at_ != 0) {  // longer or shorter than said before; nothing else changes
    thaw_at_ = deadline;
    return 0;
  }
  FAIL_POINT("shim.freeze.asked");
  if (auto frozen = tree_.Freeze(true); !frozen) return frozen.error();
  FAIL_POINT("shim.freeze.frozen");
  frozen_at_ = now;
  thaw_at_ = deadline;
  wire::News news;
  news.kind = wire::NewsKind::kFrozen;
  Tell(news);
  return 0;
}

void Supervisor::Thaw() {
  if (frozen_at_ == 0) return;
  FAIL_POINT("shim.freeze.thawing");
  (void)tree_.Freeze(false);
  FAIL_POINT("shim.freeze.thawed");
  frozen_before_ += MonotonicNanos() - frozen_at_;
  frozen_at_ = 0;
  thaw_at_ = kNever;
  wire::News news;
  news.kind = wire::NewsKind::kThawed;
  Tell(news);
}

// A listener that does not listen is dropped later; what it missed is in the slot.
void Supervisor::Tell(const wire::News& news) {
  const std::string packet = wire::EncodeNews(news);
  for (const UniqueFd& client : clients_) (void)SendPacket(client.get(), packet);
}

void Supervisor::WriteRecord() {
  ++record_.sequence;
  (void)WriteAllAt(slot_.get(), wire::EncodeSlotHalf(record_), wire::SlotOffset(record_.sequence));
}

int Supervisor::Finish() {
  FAIL_POINT("shim.exit.tree_gone");
  index_.Finish();
  (void)MakeRoom(MonotonicNanos());
  rusage used;
  if (::getrusage(RUSAGE_CHILDREN, &used) == 0) {
    record_.cpu_ms = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
                     (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
  }
  record_.state = wire::SlotState::kExited;
  record_.ended_ns = record_.began_ns + (BootNanos() - boot_began_);
  WriteRecord();
  FAIL_POINT("shim.exit.recorded");
  // The tree is gone: whoever hears so may take the cards at once.
  for (int lease = 0; lease < leases_; ++lease) ::close(wire::kFirstLease + lease);
  wire::News news;
  news.kind = wire::NewsKind::kExited;
  news.record = record_;
  Tell(news);
  FAIL_POINT("shim.exit.told");
  // Told first: the daemon's commit and this sync overlap.
  ::fdatasync(slot_.get());
  FAIL_POINT("shim.exit.synced");
  return 0;
}

}  // namespace ty
