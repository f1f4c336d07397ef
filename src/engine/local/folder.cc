#include "engine/local/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail_point.h"
#include "base/log.h"
#include "msg/engine.h"
#include "posix/files.h"

namespace ty {

std::string ErrorText(int error) {
  char buffer[128];
  return ::strerror_r(error, buffer, sizeof buffer);  // GNU's: thread-safe
}

Code CodeOfFailure(int error) {
  for (int passing : {EAGAIN, ENOMEM, EMFILE, ENFILE, ENOSPC, EDQUOT})
    if (error == passing) return Code::kUnavailable;
  return Code::kInternal;
}

Status AttemptFolder::Make(const LaunchOrder& order, const std::string& spec) const {
  if (!order.out_folder.empty()) {
    if (auto made = MakeFolders(order.out_folder); !made) {
      return Fail(CodeOfFailure(made.error()),
                  msg::EngineOutFolder{.path = order.out_folder, .error = ErrorText(made.error())});
    }
  }
  const std::string& folder = paths_.folder;
  auto fail = [&](int error) {
    return Fail(CodeOfFailure(error), msg::EngineFolder{.path = folder, .error = ErrorText(error)});
  };
  // An attempt is launched once: its folder must be new.
  if (::mkdir(folder.c_str(), 0700) != 0) {
    // Somebody may have taken away the folder they all lie in.
    if (errno != ENOENT || !MakeFolders(folder.substr(0, folder.rfind('/')))) return fail(errno);
    if (::mkdir(folder.c_str(), 0700) != 0) return fail(errno);
  }
  auto fill = [&]() -> SysStatus {
    FAIL_POINT("launch.folder_empty");
    auto opened = OpenFolder(folder);
    if (!opened) return FailErrno(opened.error());
    const int at = opened->get();
    if (::mkdirat(at, "files", 0700) != 0) return FailErrno();
    static const std::string kZeros(wire::kSlotSize, '\0');
    if (auto done = WriteNewFileAt(at, "slot", kZeros); !done) return done;
    FAIL_POINT("launch.slot_made");
    if (auto done = WriteNewFileAt(at, "head.json", order.head); !done) return done;
    FAIL_POINT("launch.head_made");
    return WriteNewFileAt(at, "spec", spec);
  };
  if (auto filled = fill(); !filled) {
    (void)RemoveTree(folder);
    return fail(filled.error());
  }
  return {};
}

std::optional<wire::Decision> AttemptFolder::ReadDecision() const {
  auto text = ReadLinkAt(AT_FDCWD, paths_.Decision().c_str());
  if (!text) return std::nullopt;
  wire::Decision unreadable;
  unreadable.go = true;
  return wire::DecodeDecision(*text).value_or(unreadable);
}

bool AttemptFolder::Void(const std::string& reason) const {
  wire::Decision decision;
  decision.reason = reason;
  if (::symlink(wire::EncodeDecision(decision).c_str(), paths_.Decision().c_str()) == 0) return true;
  const auto made = ReadDecision();
  return made && !made->go;
}

bool AttemptFolder::Disarm() const {
  return !ReadDecision() && (::unlink(paths_.Spec().c_str()) == 0 || errno == ENOENT);
}

UniqueFd AttemptFolder::OpenSlot() const {
  auto slot = OpenAt(AT_FDCWD, paths_.Slot().c_str(), O_RDWR | O_NOFOLLOW);
  return slot ? std::move(*slot) : UniqueFd();
}

wire::SlotReading AttemptFolder::ReadSlot() const {
  const auto content = ReadFile(paths_.Slot(), 2 * wire::kSlotSize);
  wire::SlotReading reading = wire::ReadSlot(content.value_or(""));
  // A record of another attempt is as good as none.
  if (reading.newest && reading.newest->attempt != attempt_.Text()) {
    reading.newest.reset();
    reading.damaged = true;
  }
  return reading;
}

void AttemptFolder::MarkLost(int slot) const {
  const wire::SlotReading reading = ReadSlot();
  wire::SlotRecord record = reading.newest.value_or(wire::SlotRecord{});
  if (reading.damaged && !reading.newest) {
    Log("The slot of run " + attempt_.Text() + " cannot be read; it is kept as slot.damaged");
    const auto content = ReadFile(paths_.Slot(), 1 << 20);
    (void)WriteFileAt(AT_FDCWD, (paths_.folder + "/slot.damaged").c_str(), content.value_or(""));
    (void)!::ftruncate(slot, 0);
    (void)WriteAllAt(slot, std::string(wire::kSlotSize, '\0'), 0);
  }
  record.attempt = attempt_.Text();
  record.state = wire::SlotState::kLost;
  ++record.sequence;
  (void)WriteAllAt(slot, wire::EncodeSlotHalf(record), wire::SlotOffset(record.sequence));
}

void AttemptFolder::Acknowledge() const {
  ::unlink(paths_.Control().c_str());
  // VOID stays until `rm`: a shim that is slow to begin may still hold the slot open, and would find nothing
  // against its GO. That did happen: a task ran after it had been cancelled.
  if (const auto decision = ReadDecision(); !decision || decision->go) ::unlink(paths_.Decision().c_str());
  FAIL_POINT("acknowledge.slot_left");
  // Last: as long as it is there, the next start finds the folder and goes on here.
  ::unlink(paths_.Slot().c_str());
}

ExitRecord ToExitRecord(const wire::SlotRecord& record) {
  ExitRecord exit;
  exit.kind = record.exec_errno != 0 ? ExitRecord::Kind::kExecFailed : ExitRecord::Kind::kExited;
  exit.exit_code = record.exit_code;
  exit.signal = record.signal;
  exit.core_dumped = record.core_dumped;
  exit.core_file = record.core_file;
  exit.exec_errno = record.exec_errno;
  exit.exec_step = record.exec_step;
  switch (record.stopped_by) {
    case wire::StoppedBy::kNobody:
      exit.stopped_by = ExitRecord::StoppedBy::kNobody;
      break;
    case wire::StoppedBy::kOrder:
      exit.stopped_by = ExitRecord::StoppedBy::kOrder;
      break;
    case wire::StoppedBy::kTimeLimit:
      exit.stopped_by = ExitRecord::StoppedBy::kTimeLimit;
      break;
    case wire::StoppedBy::kIdleLimit:
      exit.stopped_by = ExitRecord::StoppedBy::kIdleLimit;
      break;
  }
  exit.killed_by_shim = record.killed;
  exit.oom_kills = record.oom_kills;
  exit.oom_kills_nearby = record.oom_kills_nearby;
  exit.oom_counted = record.oom_counted;
  exit.started = FromNanos(record.began_ns);
  exit.ended = FromNanos(record.ended_ns);
  exit.cpu_ms = record.cpu_ms;
  for (const wire::RankEnd& end : record.ranks) exit.ranks.push_back({end.exit_code, end.signal});
  exit.failed_rank = record.failed_rank;
  return exit;
}

}  // namespace ty
