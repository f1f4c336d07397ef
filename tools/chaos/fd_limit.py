"""A daemon with 64 descriptors, 200 clients that hold their connections, and more tasks than it has descriptors for;
then one that can make no process any more. Nothing crashes or spins; what cannot start waits, and starts later."""
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from clock import cpu_ticks
from yard import BIN, Gone, Refused, Yard, until

FILES, CLIENTS, TASKS = 64, 200, 60
NOBODY = 65534


class Trial:
    def __init__(self, folder):
        self.folder = folder
        self.yards = []
        self.counts = dict.fromkeys(("clients", "tasks", "crashed", "lost", "busy", "deaf", "wrong_end"), 0)

    def blame(self, what, sentence):
        self.counts[what] += 1
        print(f"{what}: {sentence}", file=sys.stderr, flush=True)

    def look_busy(self, yard, when):
        ticks, slept = cpu_ticks(yard.daemon.pid), time.monotonic()
        time.sleep(2)
        used = (cpu_ticks(yard.daemon.pid) - ticks) / os.sysconf("SC_CLK_TCK")
        if used > 0.5 * (time.monotonic() - slept):
            self.blame("busy", f"{when} the daemon used {used:.1f} s of CPU in 2 s")

    def submit(self, yard, spec):
        """A client that tries again, as ours does."""
        while True:
            try:
                return yard.submit(spec, key=os.urandom(8).hex())
            except (Gone, Refused) as trouble:
                if not yard.alive():
                    raise
                if isinstance(trouble, Refused) and trouble.status < 500:
                    raise
                time.sleep(0.05)

    def end(self, yard, tasks):
        for task in tasks:
            seen = yard.wait_ended(task, 240)
            if seen["state"] != "ended":
                self.blame("lost", f"task {task} never ended: {seen['state']}")
            elif seen["outcome"]["kind"] != "succeeded":
                self.blame("wrong_end", f"task {task}: {seen['outcome']}")

    def start(self, yard):
        if yard.start() is None:
            raise RuntimeError(f"the yard did not start: {yard.refusal}")
        self.yards.append(yard)
        return yard

    def few_files(self):
        yard = self.start(Yard(os.path.join(self.folder, "files"), devices="cpu:32",
                               prefix=["prlimit", f"--nofile={FILES}:{FILES}"]))
        crowd = []
        for _ in range(CLIENTS):
            line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            line.settimeout(1)
            try:
                line.connect(os.path.join(yard.home, "sock"))
            except OSError:  # the queue of those who knock is full too
                line.close()
                continue
            line.send(b"GET /api/v1/status HTTP/1.1\r\n")  # half a request, and then nothing
            crowd.append(line)
        self.counts["clients"] = len(crowd)
        self.look_busy(yard, "with a crowd at the door")
        if not yard.alive():
            return self.blame("crashed", f"the daemon ended with {yard.daemon.returncode}")
        for line in crowd:
            line.close()
        try:
            tasks = [self.submit(yard, {"command": ["/bin/sh", "-c", "sleep 0.5"]}) for _ in range(TASKS)]
        except Gone as gone:
            return self.blame("deaf", f"when the crowd was gone: {gone}")
        self.counts["tasks"] += len(tasks)
        self.look_busy(yard, "with more tasks than descriptors")
        self.end(yard, tasks)
        if not yard.alive():
            return self.blame("crashed", "the daemon did not outlive it")
        yard.down()

    def no_processes(self):
        """Another user's, for root has no limit."""
        if os.geteuid() != 0:
            return
        folder = os.path.join(self.folder, "processes")
        os.makedirs(folder)
        program = self.for_everybody(folder)
        prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        yard = Yard(folder, devices="cpu:4", program=program, prefix=prefix)
        for path in (folder, yard.work):
            os.chown(path, NOBODY, NOBODY)
        self.start(yard)
        limit = [*prefix, "prlimit", f"--pid={yard.daemon.pid}"]
        _, most = resource.getrlimit(resource.RLIMIT_NPROC)
        subprocess.check_call([*limit, "--nproc=1:"])
        tasks = [self.submit(yard, {"command": ["/bin/true"], "workdir": "/"}) for _ in range(8)]
        self.counts["tasks"] += len(tasks)
        tried = until(lambda: [task for task in tasks if yard.task(task)["attempts"]], 60)
        if not tried:
            self.blame("deaf", "nothing was tried")
        self.look_busy(yard, "without processes")
        for task in tasks:
            seen = yard.task(task)
            if seen["state"] == "ended" or seen["held"]:
                self.blame("wrong_end", f"task {task} did not stay queued: {seen['state']}, {seen['reason']}")
        subprocess.check_call([*limit, f"--nproc={most if most >= 0 else 'unlimited'}:"])
        self.end(yard, tasks)
        yard.down()

    def for_everybody(self, folder):
        """The program where every user may run it."""
        build = os.path.dirname(os.path.dirname(BIN))
        os.mkdir(folder + "/bin")
        for name in ("trainyard", "trainyard-shim"):
            shutil.copy(f"{build}/bin/{name}", f"{folder}/bin/{name}")
        shutil.copytree(f"{build}/share", folder + "/share", ignore=shutil.ignore_patterns("__pycache__"))
        subprocess.check_call(["chmod", "-R", "a+rX", self.folder])
        return folder + "/bin/trainyard"


def main(args):
    folder = tempfile.mkdtemp(prefix="chaos.")
    trial = Trial(folder)
    began = time.monotonic()
    try:
        for part in (trial.few_files, trial.no_processes):
            try:
                part()
            except (Gone, Refused) as trouble:
                trial.blame("crashed", repr(trouble))
    finally:
        for yard in trial.yards:
            yard.kill()
        bad = any(count for what, count in trial.counts.items() if what not in ("clients", "tasks"))
        if args.keep and bad:
            print(f"kept: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(" ".join(f"{what}={count}" for what, count in trial.counts.items())
          + f" seconds={time.monotonic() - began:.0f} seed={args.seed}", flush=True)
    return 1 if bad else 0
