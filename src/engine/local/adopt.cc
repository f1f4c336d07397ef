#include "engine/local/adopt.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/fail_point.h"
#include "engine/local/devices_told.h"
#include "engine/local/leftovers.h"
#include "posix/clocks.h"
#include "posix/files.h"
#include "posix/locks.h"
#include "posix/sockets.h"
#include "wire/control.h"

namespace ty {

namespace {

constexpr milliseconds kDecisionPatience(2000);  // contracts C2
constexpr int kAnswerPatienceMs = 3000;

// Free: ours now, as long as `slot` is open.
bool TakeLock(const UniqueFd& slot) {
  return slot && TryLock(slot.get()).value_or(false);
}

// Asks the supervisor how it is. No state: it did not answer, or not in time.
struct Call {
  UniqueFd link;
  std::optional<wire::News> state;
};
Call CallShim(const AttemptFolder& folder) {
  Call call;
  auto at = OpenFolder(folder.paths().folder);
  if (!at) return call;
  auto link = ConnectPackets(at->get(), "ctl.sock");
  if (!link || !PeerIsTrusted(link->get())) return call;
  call.link = std::move(*link);
  wire::Order order;
  order.verb = wire::Verb::kStatus;
  if (!SendPacket(call.link.get(), wire::EncodeOrder(order))) return call;
  const int64_t until = MonotonicNanos() + int64_t{kAnswerPatienceMs} * 1'000'000;
  for (;;) {
    const int64_t left_ms = (until - MonotonicNanos()) / 1'000'000;
    if (left_ms <= 0 || !WaitReadable(call.link.get(), static_cast<int>(left_ms))) return call;
    const auto packet = ReceivePacket(call.link.get());
    if (!packet || packet->empty()) {
      call.link.Reset();
      return call;
    }
    auto news = wire::DecodeNews(*packet);
    if (news && news->kind == wire::NewsKind::kState) {
      call.state = std::move(news);
      return call;
    }
  }
}

}  // namespace

std::optional<Finding> Judge(const AttemptFolder& folder, const Recorded& row,
                             const AdoptionSettings& settings, Background& background,
                             const std::function<void()>& unkillable) {
  const bool older_boot = !row.boot.empty() && row.boot != settings.boot;
  milliseconds waited(0);
  for (;;) {
    const UniqueFd slot = folder.OpenSlot();
    const wire::SlotReading reading = folder.ReadSlot();
    if (reading.newest && reading.newest->state == wire::SlotState::kExited) {
      return Finding{AttemptExited{ToExitRecord(*reading.newest)}, {}};
    }
    if (reading.newest && reading.newest->state == wire::SlotState::kLost) {
      return Finding{AttemptLost{older_boot ? AttemptLost::Why::kReboot : AttemptLost::Why::kShimDied}, {}};
    }
    const auto decision = folder.ReadDecision();
    if (decision && !decision->go) return Finding{AttemptNotStarted{}, {}};
    if (older_boot || (decision && !decision->boot.empty() && decision->boot != settings.boot)) {
      if (TakeLock(slot)) folder.MarkLost(slot.get());
      return Finding{AttemptLost{AttemptLost::Why::kReboot}, {}};
    }

    FAIL_POINT("adopt.looked");
    const bool free = !slot || TakeLock(slot);
    // Somebody may have taken the folder away, or parts of it: then only processes tell whether it ran.
    const bool traces = !slot || reading.newest || reading.damaged;
    const bool undecided = !decision && !(row.ran && traces) && Exists(folder.paths().folder);
    if (undecided && free) {
      FAIL_POINT("adopt.undecided");
      // Its end was taken in once, by a state newer than this row: the slot is made first and goes last.
      if (!slot && Exists(folder.paths().Spec()))
        return Finding{AttemptLost{AttemptLost::Why::kShimDied}, {}};
      // Its supervisor did not get as far as the lock: now it never will.
      if (folder.Void("adoption") || folder.Disarm()) return Finding{AttemptNotStarted{}, {}};
      if (!background.Pause(milliseconds(5))) return std::nullopt;
      continue;
    }
    if (undecided) {
      if (waited >= kDecisionPatience && folder.Void("adoption: no decision")) {
        return Finding{AttemptNotStarted{}, {}};
      }
      waited += milliseconds(5);
      if (!background.Pause(milliseconds(5))) return std::nullopt;
      continue;
    }
    if (free) {
      // It may have written its end between our look at the slot and its death.
      const wire::SlotReading last = folder.ReadSlot();
      if (last.newest && last.newest->state == wire::SlotState::kExited) continue;
      FAIL_POINT("adopt.dead");
      const Leftovers left = EndLeftovers(folder, settings.instance, background, unkillable);
      if (left == Leftovers::kGivenUp) return std::nullopt;
      // Before its folder was made.
      if (!decision && !row.ran && left == Leftovers::kNobody) return Finding{AttemptNotStarted{}, {}};
      FAIL_POINT("adopt.cleared");
      if (slot) folder.MarkLost(slot.get());
      FAIL_POINT("adopt.marked_lost");
      return Finding{AttemptLost{AttemptLost::Why::kShimDied}, {}};
    }
    Call call = CallShim(folder);
    FAIL_POINT("adopt.called");
    if (call.state) {
      AttemptRunning running;
      running.adopted = true;
      running.frozen = call.state->frozen;
      running.unkillable = call.state->unkillable;
      if (call.state->record) {
        running.started = FromNanos(call.state->record->began_ns);
        running.pid = static_cast<int>(call.state->record->pid);
      }
      return Finding{running, std::move(call.link)};
    }
    // Nobody at the door: either it has just gone, which the slot and the lock will tell, or it is stuck.
    if (!call.link && waited < kDecisionPatience) {
      waited += milliseconds(5);
      if (!background.Pause(milliseconds(5))) return std::nullopt;
      continue;
    }
    return Finding{AttemptStuck{}, std::move(call.link)};
  }
}

namespace {

// What a run that nobody knows says of itself.
StrayFound ReadStray(const AttemptFolder& folder, const std::optional<wire::Decision>& decision) {
  StrayFound found;
  if (decision) found.shim = static_cast<int>(decision->pid);
  const auto text = ReadFile(folder.paths().Spec(), 64 << 20);
  const std::optional<wire::ShimSpec> spec = text ? wire::DecodeSpec(*text) : std::nullopt;
  if (!spec) return found;
  found.task = TaskId{spec->task};
  found.number = spec->number;
  for (const std::string& word : spec->argv) found.command += (found.command.empty() ? "" : " ") + word;
  found.devices = DevicesTold(*spec, folder.paths());
  found.cpus = spec->cpus;
  return found;
}

}  // namespace

std::optional<Stray> LookForStray(const std::string& attempts, const Ulid& attempt) {
  const AttemptFolder folder(attempts, attempt);
  const UniqueFd slot = folder.OpenSlot();
  if (!slot) return std::nullopt;  // acknowledged long ago; log and files stay
  const wire::SlotReading reading = folder.ReadSlot();
  const auto decision = folder.ReadDecision();
  const bool ended = reading.newest && reading.newest->state != wire::SlotState::kRunning;
  if (ended || (decision && !decision->go)) {
    folder.Acknowledge();
    return std::nullopt;
  }
  Stray stray;
  if (TakeLock(slot)) {
    const std::string quarantine = attempts + "/.quarantine";
    ::mkdir(quarantine.c_str(), 0700);
    ::rename(folder.paths().folder.c_str(), (quarantine + "/" + attempt.Text()).c_str());
  } else {
    stray.runs = ReadStray(folder, decision);
    if (decision)
      stray.supervisor = {static_cast<int>(decision->pid), static_cast<uint64_t>(decision->start)};
  }
  return stray;
}

bool StillRuns(const AttemptFolder& folder, const Process& supervisor) {
  const auto stat = ReadProcessStat(supervisor.pid);
  if (stat && stat->start == supervisor.start && stat->state != 'Z' && stat->state != 'X') return true;
  const UniqueFd slot = folder.OpenSlot();
  return slot && !TakeLock(slot);
}

}  // namespace ty
