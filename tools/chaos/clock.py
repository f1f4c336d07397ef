"""The wall clock of the daemon jumps by a day, a year, backwards, to 1970, while tasks wait, run, take turns and are
retried. Tasks and their supervisors keep the true one."""
import os
import random
import shutil
import struct
import sys
import tempfile
import time
from datetime import datetime, timedelta, timezone

from yard import BIN, Gone, Yard, until

DAY, YEAR = 86400, 365 * 86400
LIBRARY = os.path.join(os.path.dirname(os.path.dirname(BIN)), "impostors", "libjumping-clock.so")
SOON = 60  # whatever is due in seconds has come by then, however slow the machine


class Clock:
    def __init__(self, folder):
        self.path = os.path.join(folder, "ahead")
        self.ahead = 0
        self.env = {"LD_PRELOAD": LIBRARY, "JUMPING_CLOCK": self.path}
        with open(self.path, "wb") as file:
            file.write(struct.pack("<q", 0))

    def set(self, ahead):
        """In place: programs have the file mapped."""
        self.ahead = ahead
        with open(self.path, "r+b") as file:
            file.write(struct.pack("<q", int(ahead * 1e9)))

    def wall(self):
        return time.time() + self.ahead


def iso(seconds):
    return (datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return int(words[11]) + int(words[12])


class Trial:
    """One daemon and one jump after the other."""

    def __init__(self, folder, seed):
        self.random = random.Random(seed)
        self.clock = Clock(folder)
        self.yard = Yard(folder, devices="cpu:4", env=self.clock.env)
        self.counts = dict.fromkeys(("jumps", "crashed", "early", "stuck", "wrong_limit", "backwards", "busy"), 0)

    def blame(self, what, sentence):
        self.counts[what] += 1
        print(f"after a jump of {self.clock.ahead} s: {what}: {sentence}", file=sys.stderr, flush=True)

    def sh(self, script, **spec):
        return self.yard.submit({"command": ["/bin/sh", "-c", script], "resources": {"gpus": 0}, **spec})

    def one_jump(self, ahead):
        yard, clock = self.yard, self.clock
        name = f"j{self.counts['jumps']}"
        marker = os.path.join(yard.work, name)
        # Running or under way when it jumps:
        limited = self.sh("sleep 600", limits={"time": "3s"})
        retried = self.sh(f"echo >> {marker}; exit 1", retry={"max": 1, "on": "any", "delay": "2s"})
        beginning = clock.wall() + 1800
        later = self.sh("true", begin=iso(beginning))
        sharers = [yard.submit({"command": ["/bin/sh", "-c", "sleep 600"],
                                "resources": {"gpus": 1, "share": "0.5:turns:1s"}}) for _ in range(2)]
        until(lambda: yard.task(limited)["state"] == "running")
        until(lambda: all(yard.task(task)["state"] == "running" for task in sharers))
        began = time.monotonic()
        clock.set(ahead)
        self.counts["jumps"] += 1
        yard.status()  # whoever speaks to it makes it look at the clock

        # A delay of seconds lasts seconds.
        if yard.wait_ended(retried, SOON)["state"] != "ended":
            self.blame("stuck", f"task {retried} waits for its retry")
        elif os.path.getsize(marker) != 2:
            self.blame("stuck", f"task {retried} was not tried again")
        seen = yard.wait_ended(limited, SOON)
        if seen["state"] != "ended" or seen["outcome"]["kind"] != "timeout":
            self.blame("wrong_limit", f"task {limited} outlived its limit")
        elif time.monotonic() - began > SOON:
            self.blame("wrong_limit", f"the limit of task {limited} came late")
        # Beginnings follow the wall.
        if clock.wall() >= beginning:
            if yard.wait_ended(later, SOON)["state"] != "ended":
                self.blame("stuck", f"task {later} waits though its beginning is over")
        elif yard.task(later)["attempts"]:
            self.blame("early", f"task {later} began before its time")
        # Those that share still take turns.
        seq = yard.events()[-1]["seq"]
        frozen = until(lambda: {event["task"] for event in yard.events()
                                if event["seq"] > seq and event["kind"] == "attempt.frozen"} >= set(sharers), SOON)
        if not frozen:
            self.blame("stuck", f"tasks {sharers} take no turns any more")
        ticks, slept = cpu_ticks(yard.daemon.pid), time.monotonic()
        time.sleep(1)
        used = (cpu_ticks(yard.daemon.pid) - ticks) / os.sysconf("SC_CLK_TCK")
        if used > 0.5 * (time.monotonic() - slept):
            self.blame("busy", f"the daemon used {used:.1f} s of CPU in a second")
        yard.cancel(later, *sharers)
        for task in (later, *sharers):
            yard.wait_ended(task, SOON)

    def judge(self):
        for task in self.yard.tasks():
            shown = self.yard.task(task["id"])
            for attempt in shown["attempts"]:
                if attempt["started_at"] and attempt["ended_at"] and attempt["ended_at"] < attempt["started_at"]:
                    self.blame("backwards", f"run {attempt['number']} of task {task['id']} ended before it began")

    def run(self):
        if self.yard.start() is None:
            raise RuntimeError(f"the yard did not start: {self.yard.refusal}")
        jumps = [DAY, 0, -DAY, YEAR, -YEAR, 0, -int(time.time()) + 60, 0]
        jumps += [self.random.choice((-1, 1)) * self.random.randrange(10 * YEAR) for _ in range(2)] + [0]
        survivor = self.sh("sleep 600")
        try:
            for ahead in jumps:
                self.one_jump(ahead)
                if self.random.random() < 0.3:  # and a new daemon under the new clock
                    self.yard.kill()
                    if self.yard.start() is None:
                        raise Gone(f"it did not start again: {self.yard.refusal}")
            if self.yard.task(survivor)["state"] != "running":
                self.blame("crashed", "the task that ran through all of it does not run any more")
            self.yard.cancel(survivor)
            self.yard.wait_ended(survivor, SOON)
        except Gone as gone:
            self.blame("crashed", str(gone))
        else:
            self.judge()


def main(args):
    if not os.path.exists(LIBRARY):
        print(f"there is no {LIBRARY}: build the target jumping_clock", file=sys.stderr)
        return 77
    folder = tempfile.mkdtemp(prefix="chaos.")
    trial = Trial(folder, args.seed)
    began = time.monotonic()
    try:
        trial.run()
    finally:
        if trial.yard.alive():
            trial.yard.run("down", "--cancel")
        trial.yard.kill()
        bad = any(count for what, count in trial.counts.items() if what != "jumps")
        if args.keep and bad:
            print(f"kept: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(" ".join(f"{what}={count}" for what, count in trial.counts.items())
          + f" seconds={time.monotonic() - began:.0f} seed={args.seed}", flush=True)
    return 1 if bad else 0
