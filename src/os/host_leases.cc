// docs/formats/host-lease.md describes folder and files for others who want to play along. Everything in that
// folder may have been put there by anybody: nothing is followed, nothing is trusted but locks and owners.
#include "os/host_leases.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <sstream>

#include "base/log.h"
#include "base/text.h"
#include "os/users.h"
#include "posix/clocks.h"
#include "posix/files.h"

namespace ty {

namespace {

constexpr size_t kNoteLimit = 4096;
constexpr size_t kNameLimit = 200;
constexpr size_t kLocksLimit = 1 << 20;
constexpr int kTries = 3;  // when a file is replaced while we look at it

// A name of a file, whatever the driver or another program calls the device.
std::string FileName(std::string_view id) {
  std::string name(id.substr(0, kNameLimit));
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    if (!plain) c = '_';
  }
  return name;
}

std::string NotePrefix(const std::string& device) {
  return FileName(device) + ".by.";
}

bool IsOpenToAll(const struct stat& info) {
  return S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0 && (info.st_mode & 0777) == 0777;
}

// A name nobody else has, for what is made ready before it gets its own.
std::string FreshName(const std::string& name) {
  return name + "." + Ulid::Make(FromNanos(WallNanos())).Text() + ".new";
}

// A folder that everybody finds open from its first moment on: between mkdir and chmod another yard would
// take it for somebody's private one.
void MakeShared(const std::string& path) {
  if (Exists(path)) return;
  const std::string fresh = FreshName(path);
  if (::mkdir(fresh.c_str(), 0700) != 0) return;
  constexpr unsigned kNoReplace = 1;
  if (::chmod(fresh.c_str(), 01777) != 0 ||
      ::syscall(SYS_renameat2, AT_FDCWD, fresh.c_str(), AT_FDCWD, path.c_str(), kNoReplace) != 0)
    ::rmdir(fresh.c_str());
}

// Nothing when it is not a folder that everybody shares safely.
UniqueFd OpenShared(const std::string& path) {
  MakeShared(path);
  UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info;
  if (folder && (::fstat(folder.get(), &info) != 0 || !IsOpenToAll(info))) folder.Reset();
  return folder;
}

// Every yard must come to the same answer, whoever runs it.
UniqueFd OpenFolderOfHost(const std::string& named) {
  if (!named.empty()) return OpenShared(named);
  struct stat info;
  if (::lstat("/run/lock", &info) == 0 && IsOpenToAll(info)) {
    if (UniqueFd folder = OpenShared("/run/lock/trainyard")) return folder;
  }
  return OpenShared("/dev/shm/trainyard");
}

enum class Lock : uint8_t { kGot, kTaken, kUnusable };

struct LockedFile {
  Lock state = Lock::kUnusable;
  UniqueFd fd;
};

// An empty file that everybody can open from its first moment on.
void MakeLockFile(int folder, const std::string& name) {
  const std::string fresh = FreshName(name);
  const UniqueFd fd(::openat(folder, fresh.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd) return;
  ::fchmod(fd.get(), 0644);  // past the umask
  ::linkat(folder, fresh.c_str(), folder, name.c_str(), 0);
  ::unlinkat(folder, fresh.c_str(), 0);
}

// Opens the lock file of that name, made if it is not there, and locks it at once or not at all.
LockedFile OpenAndLock(int folder, const std::string& name, int how, bool make) {
  for (int i = 0; i < kTries; ++i) {
    LockedFile file;
    constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    file.fd.Reset(::openat(folder, name.c_str(), kFlags));
    if (!file.fd && errno == ENOENT && make) {
      MakeLockFile(folder, name);
      file.fd.Reset(::openat(folder, name.c_str(), kFlags));
    }
    struct stat opened, named;
    if (!file.fd || ::fstat(file.fd.get(), &opened) != 0 || !S_ISREG(opened.st_mode)) return {};
    int locked;
    do {
      locked = ::flock(file.fd.get(), how | LOCK_NB);
    } while (locked != 0 && errno == EINTR);
    // A lock on a file that was removed meanwhile is worth nothing.
    if (::fstatat(folder, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0 || named.st_ino != opened.st_ino ||
        named.st_dev != opened.st_dev)
      continue;
    file.state = locked == 0 ? Lock::kGot : Lock::kTaken;
    return file;
  }
  return {};
}

// Whoever made a file that cannot be used keeps the device from all others: say who.
HostHolder OwnerOf(int folder, const std::string& name, std::string (*name_of)(uid_t)) {
  HostHolder holder;
  struct stat info;
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) holder.user = name_of(info.st_uid);
  return holder;
}

// What a note says; its owner is who wrote it, whatever the text claims.
std::optional<HostHolder> ReadNote(int folder, const std::string& file, struct stat* info,
                                   std::string (*name_of)(uid_t)) {
  const UniqueFd fd(
      ::openat(folder, file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd || ::fstat(fd.get(), info) != 0 || !S_ISREG(info->st_mode)) return std::nullopt;
  HostHolder holder;
  holder.user = name_of(info->st_uid);
  const auto text = ReadAllAt(fd.get(), kNoteLimit);
  if (!text) return holder;
  boost::json::error_code error;
  const boost::json::value value = boost::json::parse(*text, error);
  if (error || !value.is_object()) return holder;
  const boost::json::object& note = value.get_object();
  if (const auto* task = note.if_contains("task");
      task != nullptr && task->is_int64() && task->get_int64() > 0)
    holder.task = task->get_int64();
  if (const auto* name = note.if_contains("name"); name != nullptr && name->is_string())
    holder.task_name = Printable(std::string_view(name->get_string()).substr(0, kNameLimit));
  if (const auto* since = note.if_contains("since"); since != nullptr && since->is_string())
    holder.since = ParseIso(std::string_view(since->get_string()));
  return holder;
}

// The note written last is of whoever took the lock last, for it is written under the gate by the one who got
// it. Of two of the same moment, somebody else's.
HostHolder FindHolder(int folder, const std::string& device, const std::string& instance,
                      std::string (*name_of)(uid_t)) {
  HostHolder newest;
  std::pair<int64_t, bool> best = {-1, false};
  const int64_t now = WallNanos();
  const auto files = ListFolder("/proc/self/fd/" + std::to_string(folder));
  if (!files) return newest;
  const std::string prefix = NotePrefix(device);
  for (const std::string& file : *files) {
    if (!file.starts_with(prefix) || file.find('.', prefix.size()) != std::string::npos) continue;
    struct stat info;
    auto holder = ReadNote(folder, file, &info, name_of);
    if (!holder) continue;
    holder->instance = file.substr(prefix.size());
    const int64_t written = info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
    const std::pair<int64_t, bool> rank = {std::min(written, now), holder->instance != instance};
    if (rank <= best) continue;
    best = rank;
    newest = std::move(*holder);
  }
  return newest;
}

// Processes that took a lock on the file, from the kernel's list, as
//   7: FLOCK  ADVISORY  WRITE 3817 00:2b:91 0 EOF
// Those that wait for it, marked "->", do not have it.
std::vector<int> FlockersOf(const std::string& locks, const struct stat& file) {
  std::vector<int> pids;
  std::istringstream lines(locks);
  for (std::string line; std::getline(lines, line);) {
    int pid = 0;
    unsigned major_id = 0, minor_id = 0;
    unsigned long inode = 0;
    if (::sscanf(line.c_str(), "%*d: FLOCK %*s %*s %d %x:%x:%lu", &pid, &major_id, &minor_id, &inode) != 4)
      continue;
    if (pid > 0 && inode == file.st_ino && major_id == major(file.st_dev) && minor_id == minor(file.st_dev))
      pids.push_back(pid);
  }
  return pids;
}

void WriteNote(int folder, const std::string& file, const HostNote& note) {
  const boost::json::object text = {{"task", note.task.value},
                                    {"name", note.task_name.substr(0, kNameLimit)},
                                    {"since", FormatIso(note.since)}};
  const std::string fresh = file + ".new";
  ::unlinkat(folder, fresh.c_str(), 0);
  const SysStatus written = WriteNewFileAt(folder, fresh.c_str(), boost::json::serialize(text) + "\n", 0644);
  struct stat info;
  const bool ours = written && ::fstatat(folder, fresh.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (ours) ::fchmodat(folder, fresh.c_str(), 0644, 0);
  // Somebody squatting on the name costs us the note, not the device: the lock is what counts.
  if (!ours || ::renameat(folder, fresh.c_str(), folder, file.c_str()) != 0)
    Log("a note beside the host lock could not be written: " + file);
}

class FlockLeases final : public HostLeases {
 public:
  FlockLeases(const std::string& instance, std::string named)
      : instance_(FileName(instance)), named_(std::move(named)) {}

  HostClaim Claim(const std::string& device, bool shared, bool ours, const HostNote& note) override {
    // Opened each time: somebody may have cleared it away, and made it again, since the last.
    const UniqueFd folder = OpenFolderOfHost(named_);
    if (!folder) return Alone();
    HostClaim claim;
    const std::string name = FileName(device);
    const LockedFile gate = OpenAndLock(folder.get(), name + ".gate", LOCK_EX, true);
    if (gate.state == Lock::kTaken) {
      claim.again = true;
      return claim;
    }
    if (gate.state == Lock::kUnusable) {
      claim.holder = OwnerOf(folder.get(), name + ".gate", UserNameAtHand);
      return claim;
    }
    // A share of a device on which we have leases joins them. The first share proves that nobody has it and
    // then opens it to our others; the gate keeps others out in between.
    const bool joins = shared && ours;
    LockedFile file = OpenAndLock(folder.get(), name, joins ? LOCK_SH : LOCK_EX, true);
    if (file.state == Lock::kGot && shared && !joins && ::flock(file.fd.get(), LOCK_SH | LOCK_NB) != 0)
      file.state = Lock::kTaken;
    if (file.state != Lock::kGot) {
      claim.holder = file.state == Lock::kTaken ? FindHolder(folder.get(), device, instance_, UserNameAtHand)
                                                : OwnerOf(folder.get(), name, UserNameAtHand);
      return claim;
    }
    claim.lock = std::make_shared<const UniqueFd>(std::move(file.fd));
    WriteNote(folder.get(), NotePrefix(device) + instance_, note);
    return claim;
  }

  bool Leave(const std::string& device) override {
    const UniqueFd folder = OpenFolderOfHost(named_);
    if (!folder) return true;
    const std::string name = FileName(device);
    const LockedFile gate = OpenAndLock(folder.get(), name + ".gate", LOCK_EX, false);
    if (gate.state == Lock::kTaken) return false;
    const LockedFile file = OpenAndLock(folder.get(), name, LOCK_EX, false);
    if (file.state == Lock::kTaken) return false;
    ::unlinkat(folder.get(), (NotePrefix(device) + instance_).c_str(), 0);
    return true;
  }

  // Whoever made the file need not be who has it locked, so the kernel is asked.
  HostHolder WhoHasGate(const std::string& device) override {
    HostHolder holder;
    const UniqueFd folder = OpenFolderOfHost(named_);
    struct stat gate;
    if (!folder ||
        ::fstatat(folder.get(), (FileName(device) + ".gate").c_str(), &gate, AT_SYMLINK_NOFOLLOW) != 0)
      return holder;
    const auto locks = ReadFile("/proc/locks", kLocksLimit);
    struct stat process;
    for (const int pid : locks ? FlockersOf(*locks, gate) : std::vector<int>()) {
      if (::stat(("/proc/" + std::to_string(pid)).c_str(), &process) == 0)
        holder.user = UserNameAtHand(process.st_uid);
    }
    return holder;
  }

 private:
  // Where no folder can be shared there is nobody to share with.
  HostClaim Alone() {
    if (!std::exchange(said_alone_, true))
      Log("neither /run/lock nor /dev/shm can hold locks for all users: GPUs are not kept apart between "
          "yards");
    HostClaim claim;
    claim.lock = std::make_shared<const UniqueFd>(UniqueFd(::memfd_create("host-lease", MFD_CLOEXEC)));
    return claim;
  }

  const std::string instance_, named_;
  bool said_alone_ = false;
};

}  // namespace

std::unique_ptr<HostLeases> OpenHostLeases(const std::string& instance, const std::string& folder) {
  return std::make_unique<FlockLeases>(instance, folder);
}

std::optional<HostHolder> FindHostHolder(const std::string& device, const std::string& instance,
                                         const std::string& folder) {
  const UniqueFd shared = OpenFolderOfHost(folder);
  if (!shared) return std::nullopt;
  const std::string name = FileName(device);
  // Without its files the device was never claimed. While its gate is taken somebody is just deciding.
  struct stat info;
  if (::fstatat(shared.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  const LockedFile gate = OpenAndLock(shared.get(), name + ".gate", LOCK_EX, true);
  if (gate.state == Lock::kTaken) return std::nullopt;
  if (gate.state == Lock::kUnusable) return OwnerOf(shared.get(), name + ".gate", UserNameOf);
  const LockedFile file = OpenAndLock(shared.get(), name, LOCK_EX, false);
  if (file.state == Lock::kGot) return std::nullopt;
  if (file.state == Lock::kUnusable) return OwnerOf(shared.get(), name, UserNameOf);
  return FindHolder(shared.get(), device, FileName(instance), UserNameOf);
}

}  // namespace ty
