"""A yard on a small disk that fills up and empties again: what is new is refused with 507, reads work, running tasks go
on and end as they really did, a daemon starts on the full disk, and all heals by itself. Once for bytes, once for
inodes."""
import os
import random
import shutil
import tempfile

import disks
from yard import Gone, Refused, Yard, until

SIZE_MB = 320

# Writes to its log as it goes, whatever becomes of that, until its file is there; then ends with its code.
STUBBORN = ("n=0; while [ ! -e {go} ]; do n=$((n+1)); echo \"line $n, which takes some room\" 2>/dev/null; sleep 0.02; "
            "done; exit {code}")


class Trial:
    def __init__(self, folder, tally, seed, only_inodes):
        self.tally, self.only_inodes = tally, only_inodes
        self.random = random.Random(f"{seed} {only_inodes}")
        self.folder = folder
        home = os.path.join(folder, "s")
        disks.mount_memory(home, f"size={SIZE_MB}m" + (",nr_inodes=700" if only_inodes else ""))
        self.home = home
        self.filler = disks.Filler(home)
        self.yard = Yard(folder, home=home)
        self.codes = {}

    def run(self):
        if self.yard.start() is None:
            raise RuntimeError(f"the yard did not start: {self.yard.refusal}")
        runners = [self.submit_stubborn(f"r{i}") for i in range(2)]
        waiting = [self.submit_stubborn(f"w{i}", at_once=True) for i in range(2)]
        for task, _ in runners:
            if not until(lambda: self.yard.task(task)["state"] == "running"):
                raise RuntimeError(f"task {task} does not run")

        self.fill(ahead=True)
        self.expect_read_only(waiting[0][0])
        self.fill()
        self.expect_refusals(waiting[0][0])
        self.end(runners[0])
        self.fill()
        self.yard.kill()
        if self.yard.start() is None:
            self.tally.blame("deaf", f"no start on the full disk: {self.yard.refusal}")
            self.make_room()
            if self.yard.start() is None:
                raise RuntimeError("no start at all")
        else:
            self.expect_read_only(waiting[0][0])
        self.end(runners[1])
        if self.yard.task(waiting[0][0])["attempts"]:
            self.tally.blame("started", "a task was started on the full disk")

        self.make_room()
        if not until(lambda: self.yard.status()["read_only"] is None, 60):
            self.tally.blame("not_healed", f"there is room, and it says {self.yard.status()['read_only']}")
        for task in waiting:
            self.end(task)
        self.end(self.submit_stubborn("new", at_once=True))
        if not until(lambda: os.path.exists(os.path.join(self.home, "ballast"))):
            self.tally.blame("not_healed", "there is no ballast any more")
        self.expect_all_there()
        self.yard.down()

    # ---- The disk

    def fill(self, ahead=False):
        if self.only_inodes:
            os.makedirs(os.path.join(self.home, "many"), exist_ok=True)
            made = len(os.listdir(os.path.join(self.home, "many")))
            while os.statvfs(self.home).f_favail > (5 if ahead else 0):
                try:
                    open(os.path.join(self.home, "many", str(made)), "x").close()
                except OSError:
                    return
                made += 1
        else:
            self.filler.leave(self.random.randint(2, 12) << 20 if ahead else 0)

    def make_room(self):
        self.filler.remove()
        shutil.rmtree(os.path.join(self.home, "many"), ignore_errors=True)

    # ---- The tasks

    def submit_stubborn(self, name, at_once=False):
        """Ends when its file comes, or at once when it starts."""
        go = os.path.join(self.yard.work, name)
        code = self.random.randint(0, 40)
        if at_once:
            open(go, "w").close()
        task = self.yard.submit({"name": name, "command": ["/bin/sh", "-c", STUBBORN.format(go=go, code=code)]})
        self.tally.add("tasks")
        self.codes[task] = code
        return task, go

    def end(self, task):
        number, go = task
        open(go, "w").close()
        seen = self.yard.wait_ended(number, 90)
        if seen["state"] != "ended":
            return self.tally.blame("lost", f"task {number} does not end: {seen['state']}, {seen['reason']}")
        if seen["outcome"]["exit_code"] != self.codes[number]:
            self.tally.blame("wrong_exit", f"task {number} exits {self.codes[number]}, told is {seen['outcome']}")

    def expect_read_only(self, waiting):
        if not until(lambda: self.yard.status()["read_only"], 60):
            return self.tally.blame("not_refused", "the disk is nearly full, and the yard does not say so")
        def why():
            return self.yard.get(f"/api/v1/tasks/{waiting}/why")["reason"]["id"]

        # After a start it first says that what was running is being found again.
        if not until(lambda: why() == "why.read_only", 60):
            self.tally.blame("not_refused", f"why a task waits on the full disk: {why()}")

    def expect_refusals(self, waiting):
        asks = [("/api/v1/tasks", {"command": ["true"], "workdir": "/"}), ("/api/v1/tasks/hold", {"tasks": [waiting]}),
                ("/api/v1/tasks/priority", {"tasks": [waiting], "priority": "high"})]
        for path, body in asks:
            try:
                answer = self.yard.request("POST", path, body)
                self.tally.blame("not_refused", f"{path} on a full disk: {answer}")
            except Refused as refused:
                self.tally.add("refused")
                if refused.status != 507 or refused.problem["code"] != "unavailable":
                    self.tally.blame("not_refused", f"{path} on a full disk: {refused.status} {refused.problem}")
        for path in ("/api/v1/tasks", f"/api/v1/tasks/{waiting}", "/api/v1/events", "/api/v1/devices"):
            try:
                self.yard.get(path)
            except (Gone, Refused) as trouble:
                self.tally.blame("deaf", f"{path} on a full disk: {trouble}")
        told = self.yard.run("ls")
        if told.returncode != 0 or "nearly full" not in told.stderr + told.stdout and "is full" not in told.stderr:
            self.tally.blame("not_refused", f"ls does not say it: {told}")

    def expect_all_there(self):
        for number, promised in self.yard.acknowledged.items():
            try:
                if self.yard.task(number)["uid"] != promised["uid"]:
                    self.tally.blame("lost", f"task {number} is another one")
            except Refused:
                self.tally.blame("lost", f"task {number} is gone")

    def close(self):
        self.yard.kill()
        disks.kill_everything(self.folder)


def main(args):
    disks.own_mounts()
    tally = disks.Tally(args.seed, "tasks", "refused", "lost", "wrong_exit", "not_refused", "started", "deaf",
                        "not_healed")
    for only_inodes in (False, True):
        folder = tempfile.mkdtemp(prefix="chaos.")
        trial = Trial(folder, tally, args.seed, only_inodes)
        try:
            trial.run()
        except Gone as gone:
            tally.blame("deaf", f"the daemon is gone: {gone}")
        finally:
            trial.close()
            disks.unmount(trial.home)
            shutil.rmtree(folder, ignore_errors=True)
    return tally.close()
