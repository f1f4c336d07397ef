"""A disk that fails. First each single write and sync of the state file in turn, by a library in the daemon's way: the
daemon goes on, or it ends with 70, never tries a failed sync again, and the next one has every acknowledged task and
every end. Then a disk that really loses pages: a file system in a sparse file whose own disk is full, where the first
fsync gives EIO and the second says that all is well."""
import concurrent.futures
import os
import random
import shutil
import subprocess
import tempfile
import threading
import time

import disks
from yard import Gone, Refused, Yard

HERE = os.path.dirname(os.path.abspath(__file__))
STORE_FAILED = 70


def library(folder):
    path = os.path.join(folder, "failing_disk.so")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        disks.cannot("there is no C compiler")
    subprocess.check_call([compiler, "-shared", "-fPIC", "-O1", "-o", path, os.path.join(HERE, "failing_disk.c"),
                           "-ldl"])
    return path


class Scenario:
    """A short life of a yard: a submit, a bulk, an end that is waited for, a cancel, a rest."""

    def __init__(self, tally, lock, at_home=None):
        self.tally, self.lock = tally, lock
        self.folder = tempfile.mkdtemp(prefix="chaos.")
        self.yard = Yard(self.folder, home=at_home)
        self.log = os.path.join(self.folder, "calls")
        self.codes = {}

    def blame(self, name, sentence):
        with self.lock:
            self.tally.blame(name, sentence)

    def live(self):
        """As far as it comes."""
        try:
            first = self.yard.submit({"command": ["/bin/sh", "-c", "exit 3"], "retry": {"max": 0}}, key="one")
            self.codes[first] = 3
            low, high = self.yard.submit_bulk([{"command": ["/bin/true"]} for _ in range(4)], key="bulk")
            self.codes.update(dict.fromkeys(range(low, high + 1), 0))
            held = self.yard.submit({"command": ["/bin/true"], "hold": True}, key="held")
            self.yard.wait_ended(first, 60)
            self.yard.cancel(held)
            self.codes[held] = None
            for number in range(low, high + 1):
                self.yard.wait_ended(number, 60)
            time.sleep(1.5)  # it rests: checkpoint, and the log is grown
        except (Gone, Refused):
            pass

    def run(self, preload, at):
        env = {"LD_PRELOAD": preload, "FAIL_PREFIX": os.path.join(self.yard.home, "yard.db"), "FAIL_LOG": self.log,
               "FAIL_AT": str(at)}
        started = self.yard.start(env=env)
        if started is not None:
            self.live()
            code = self.yard.daemon.poll()
            if code not in (None, STORE_FAILED):
                self.blame("crashed", f"call {at}: the daemon ended with {code}")
            if code is None:
                code = self.yard.down()
        calls = self.calls()
        # Before the daemon is ready nothing was promised, and SQLite may take back what it began.
        for line in calls if started is not None else ():
            # A truncation takes back what the failed call began; it rests on nothing.
            if line.startswith(("after sync", "after write")):
                self.blame("tried_again", f"call {at}: {line} though its sync had failed")
                break
        failed = [line for line in calls if line.startswith("failed ")]
        with self.lock:
            self.tally.add("failures", len(failed))
        if self.yard.start() is None:
            return self.blame("deaf", f"call {at} ({failed}): the next start was refused: {self.yard.refusal}")
        self.judge(f"call {at} ({failed})")
        self.yard.down()

    def calls(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log) as file:
            return file.read().splitlines()

    def judge(self, when):
        for task in self.yard.tasks():
            if task["held"] and task["state"] != "ended":
                self.yard.cancel(task["id"])
        for number in self.yard.wait_all_ended(60):
            self.blame("lost", f"{when}: task {number} does not end")
        for number, promised in self.yard.acknowledged.items():
            try:
                task = self.yard.task(number)
            except Refused:
                self.blame("lost", f"{when}: task {number} is gone")
                continue
            if promised["uid"] not in (None, task["uid"]):
                self.blame("lost", f"{when}: task {number} is another one")
            code = self.codes.get(number)
            if code is not None and task["outcome"] and task["outcome"]["exit_code"] != code:
                self.blame("wrong_exit", f"{when}: task {number} exits {code}, told is {task['outcome']}")
        with self.lock:
            self.tally.add("acknowledged", len(self.yard.acknowledged))

    def close(self):
        self.yard.kill()
        disks.kill_everything(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)


def each_call(args, tally, lock, preload):
    """Call after call, from the first to the last that an undisturbed life makes."""
    def one(at):
        scenario = Scenario(tally, lock)
        try:
            scenario.run(preload, at)
            return len(scenario.calls())
        except Gone as gone:
            scenario.blame("deaf", f"call {at}: {gone}")
        finally:
            scenario.close()

    whole = one(0)
    plan = list(range(1, whole + 1))
    # The growing of the log is hundreds of alike writes; some of them stand for all.
    if len(plan) > 120:
        plan = plan[:60] + sorted(random.Random(args.seed).sample(plan[60:], 60))
    with concurrent.futures.ThreadPoolExecutor(args.at_once) as pool:
        list(pool.map(one, plan))


def lost_pages(args, tally, lock):
    """The trick of the sparse file: what the file system above thinks is written has no room below."""
    choice = random.Random(f"{args.seed} pages")
    folder = tempfile.mkdtemp(prefix="chaos.")
    memory = os.path.join(folder, "memory")
    disks.mount_memory(memory, "size=160m")
    disk = disks.Disk(os.path.join(memory, "image"), os.path.join(folder, "m"), "ext4", 512 << 20)
    disk.mount()
    scenario = Scenario(tally, lock, at_home=os.path.join(disk.folder, "s"))
    filler = disks.Filler(memory)
    yard = scenario.yard
    try:
        if yard.start() is None:
            raise RuntimeError(f"the yard did not start: {yard.refusal}")
        for _ in range(choice.randint(5, 20)):
            yard.submit({"command": ["/bin/true"]}, key=os.urandom(8).hex())
        filler.leave(0)
        big = "x" * 50_000
        for _ in range(2000):
            try:
                yard.submit({"command": ["/bin/true", big], "hold": True}, key=os.urandom(8).hex())
            except (Gone, Refused):
                break
        else:
            scenario.blame("deaf", "the disk never failed")
        if yard.alive():
            try:
                yard.daemon.wait(60)
            except subprocess.TimeoutExpired:
                pass
        code = yard.daemon.poll()
        if code not in (None, STORE_FAILED):
            scenario.blame("crashed", f"lost pages: the daemon ended with {code}")
        yard.kill()
        disks.kill_everything(scenario.folder)
        filler.remove()
        disk.unmount()  # the file system has had enough; its journal is gone over at the next mount
        disk.mount()
        if yard.start() is None:
            return scenario.blame("deaf", f"lost pages: the next start was refused: {yard.refusal}")
        yard.request("POST", "/api/v1/tasks/cancel", {"all": True})
        scenario.judge("lost pages")
        tally.add("failures")
    except Gone as gone:
        scenario.blame("deaf", f"lost pages: {gone}")
    finally:
        scenario.close()
        disk.unmount()
        disks.unmount(memory)
        shutil.rmtree(folder, ignore_errors=True)


def main(args):
    disks.own_mounts()
    tally = disks.Tally(args.seed, "failures", "acknowledged", "lost", "wrong_exit", "tried_again", "crashed", "deaf")
    lock = threading.Lock()
    with tempfile.TemporaryDirectory(prefix="chaos.") as folder:
        disks.probe(folder, "ext4")
        each_call(args, tally, lock, library(folder))
    lost_pages(args, tally, lock)
    return tally.close()
