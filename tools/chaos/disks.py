"""Disks of our own: small ones in memory, and file systems in a file that can be cut off. All of it in a mount
namespace of this program's, so that nothing is left mounted whatever happens. Where that cannot be had, the run says so
and ends with 77."""
import fcntl
import os
import shutil
import signal
import struct
import subprocess
import sys
import time

import invariants

CANNOT = 77
SHUTDOWN = 0x8004587D  # EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN: one number
NO_FLUSH = 2           # neither data nor journal reaches the disk any more: a power cut


def cannot(why):
    print(f"skipped: {why}", flush=True)
    sys.exit(CANNOT)


def own_mounts():
    """This program again, with mounts that nobody else sees."""
    if os.environ.get("CHAOS_OWN_MOUNTS"):
        return
    if os.geteuid() != 0:
        cannot("mounting needs root")
    probe = subprocess.run(["unshare", "-m", "--propagation", "private", "mount", "-t", "tmpfs", "none", "/mnt"],
                           capture_output=True)
    if probe.returncode != 0:
        cannot("this machine lets us mount nothing: " + probe.stderr.decode(errors="replace").strip())
    os.environ["CHAOS_OWN_MOUNTS"] = "1"
    os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable, "-B",
                          os.path.dirname(os.path.abspath(__file__)), *sys.argv[1:]])


def call(*words):
    done = subprocess.run(words, capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.decode(errors='replace').strip()}")


def mount_memory(folder, options):
    os.makedirs(folder, mode=0o700, exist_ok=True)
    call("mount", "-t", "tmpfs", "-o", f"mode=700,{options}", "none", folder)


def unmount(folder):
    for _ in range(100):
        if subprocess.run(["umount", folder], capture_output=True).returncode == 0:
            return
        time.sleep(0.05)
    call("umount", "-l", folder)


class Disk:
    """A file system in a file, mounted at `folder`."""

    def __init__(self, image, folder, kind, size):
        self.image, self.folder, self.kind = image, folder, kind
        if not shutil.which(f"mkfs.{kind}"):
            cannot(f"there is no mkfs.{kind}")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(image, "wb") as file:
            file.truncate(size)
        call(f"mkfs.{kind}", "-q", *(["-F"] if kind == "ext4" else []), image)

    def mount(self):
        try:
            call("mount", "-t", self.kind, "-o", "loop", self.image, self.folder)
        except RuntimeError as why:
            cannot(str(why))

    def unmount(self):
        unmount(self.folder)

    def cut(self):
        """What is not on the disk by now never gets there."""
        fd = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, SHUTDOWN, struct.pack("I", NO_FLUSH))
        finally:
            os.close(fd)


def probe(folder, *kinds):
    """Ends the run where one of these cannot be made and mounted here."""
    for kind in kinds:
        image = os.path.join(folder, "probe")
        disk = Disk(image, os.path.join(folder, "p"), kind, 320 << 20)
        disk.mount()
        disk.unmount()
        os.unlink(image)


class Filler:
    """A file that takes what room there is, down to so many bytes."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "filler")
        self.block = b"x" * 65536

    def leave(self, left):
        with open(self.path, "ab", buffering=0) as file:
            size = len(self.block)
            while size >= 512:
                disk = os.statvfs(self.path)
                free = disk.f_bavail * disk.f_frsize - left
                if free <= 0:
                    return
                try:
                    file.write(self.block[:min(size, free)])
                except OSError:
                    size //= 2

    def remove(self):
        if os.path.exists(self.path):
            os.unlink(self.path)


def kill_everything(folder):
    """Every process of the yard in `folder`, as a cut of the power would. Rounds, for they may fork."""
    path = str(folder).encode() + b"/"
    for _ in range(500):
        found = [pid for pid, words, variables in invariants.processes() if pid != os.getpid() and
                 (any(word.startswith(path) for word in words) or any(b"=" + path in one for one in variables))]
        if not found:
            return
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)


class Tally:
    def __init__(self, seed, *names):
        self.seed, self.began = seed, time.monotonic()
        self.counts = dict.fromkeys(names, 0)
        self.bad = False

    def add(self, name, count=1):
        self.counts[name] += count

    def blame(self, name, sentence):
        self.counts[name] += 1
        self.bad = True
        print(f"{name}: {sentence}", file=sys.stderr, flush=True)

    def close(self):
        print(" ".join(f"{name}={count}" for name, count in self.counts.items())
              + f" seconds={time.monotonic() - self.began:.0f} seed={self.seed}", flush=True)
        return 1 if self.bad else 0
