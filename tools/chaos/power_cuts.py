"""The power fails N times, on ext4 and on xfs by turns: the file system is shut down with nothing flushed, everything of
the yard is killed, and the machine comes up with another boot id. Every acknowledged task is there again, nothing ran
twice, nothing ran that is not known, and what ran is told lost or with the code it really ended with; once all has
ended, no process is left. The tasks' own testimony lies on another disk."""
import os
import random
import shutil
import tempfile
import threading
import time
import uuid

import disks
import invariants
from yard import Gone, Refused, Yard, until

SIZE = 512 << 20
BULK = 20


class Machine:
    """One yard on one disk, through many power cuts."""

    def __init__(self, folder, kind, seed, tally, lock):
        self.folder, self.kind, self.tally, self.lock = folder, kind, tally, lock
        self.random = random.Random(f"{seed} {kind}")
        self.disk = disks.Disk(os.path.join(folder, "image"), os.path.join(folder, "m"), kind, SIZE)
        self.witness = os.path.join(folder, "witness")
        open(self.witness, "w").close()
        self.disk.mount()
        self.yard = Yard(folder, home=os.path.join(self.disk.folder, "s"))
        self.submitted = 0
        self.codes = {}  # by the task's name: what it ends with
        self.cancelled = False  # whether we have asked any to end since the last cut
        self.seen = set()  # attempts whose testimony was looked at

    def blame(self, name, sentence):
        with self.lock:
            self.tally.blame(name, f"{self.kind}: {sentence}")

    def spec(self):
        """Some end at once, some are on when the power fails, some fail."""
        self.submitted += 1
        last, code = self.random.choice([("true", 0), ("true", 0), ("exit 3", 3), ("sleep 0.05", 0), ("sleep 30; exit 4", 4)])
        self.codes[f"p{self.submitted}"] = code
        return {"name": f"p{self.submitted}", "retry": {"max": 0},
                "command": ["/bin/sh", "-c", f"echo $TRAINYARD_ID >> {self.witness}; {last}"]}

    def keep_busy(self, over):
        while not over.is_set():
            try:
                if self.random.random() < 0.2:
                    self.yard.submit_bulk([self.spec() for _ in range(BULK)], key=uuid.uuid4().hex)
                else:
                    self.yard.submit(self.spec(), key=uuid.uuid4().hex)
            except (Gone, Refused):
                return  # the power is off
            time.sleep(self.random.uniform(0, 0.02))

    def power_up(self):
        if self.yard.start(env={"TRAINYARD_BOOT_ID": str(uuid.uuid4())}) is None:
            raise RuntimeError(f"{self.kind}: the yard did not start: {self.yard.refusal}")

    def cut(self):
        over = threading.Event()
        busy = threading.Thread(target=self.keep_busy, args=(over,))
        busy.start()
        time.sleep(self.random.uniform(0.05, 0.8))
        self.disk.cut()
        self.yard.kill()
        disks.kill_everything(self.folder)
        over.set()
        busy.join()
        self.disk.unmount()
        self.disk.mount()
        self.power_up()
        self.judge()

    def judge_end(self, task):
        end, code = task["outcome"], self.codes[task["name"]]
        if end is None or end["kind"] == "lost" or (end["kind"] == "cancelled" and self.cancelled):
            return
        if end["kind"] != ("failed" if code else "succeeded") or end["exit_code"] != code:
            self.blame("wrong_exit", f"task {task['id']} ends with {code}; told is {end}")

    def leftovers(self):
        """Processes of tasks; all of those have ended."""
        path = self.folder.encode() + b"/"
        return [pid for pid, _, variables in invariants.processes()
                if any(one.startswith(b"TRAINYARD_ID=") for one in variables) and
                any(b"=" + path in one for one in variables)]

    def judge(self):
        tasks = {task["id"]: task for task in self.yard.tasks()}
        for number, promised in self.yard.acknowledged.items():
            task = tasks.get(number)
            if task is None:
                try:
                    self.blame("unlisted", f"task {number} is there and in no list: {self.yard.task(number)['state']}")
                except Refused:
                    self.blame("lost", f"task {number} was acknowledged and is gone")
            elif promised["uid"] not in (None, task["uid"]):
                self.blame("lost", f"task {number} is another one")
            if task is not None:
                self.judge_end(task)
        with open(self.witness) as file:
            ran = file.read().split()
        for attempt in {one for one in ran if ran.count(one) > 1}:
            self.blame("double", f"attempt {attempt} ran {ran.count(attempt)} times")
        fresh = set(ran) - self.seen
        known = {}
        for number in tasks if fresh else ():
            for attempt in self.yard.task(number)["attempts"]:
                known[attempt["uid"]] = attempt
        for attempt in fresh:
            if attempt not in known:
                self.blame("unknown", f"attempt {attempt} ran and nobody knows of it")
            elif known[attempt]["outcome"] and known[attempt]["outcome"]["kind"] == "lost":
                with self.lock:
                    self.tally.add("outcome_lost")
        self.seen = set(ran)

    def tidy(self):
        """What has ended goes, so that the next round has little to look at; what is on or held is cancelled."""
        try:
            open_ones = [task["id"] for task in self.yard.tasks() if task["state"] != "ended"]
            self.cancelled = True
            if open_ones:
                self.yard.cancel(*open_ones)
            left = self.yard.wait_all_ended(60)
        except (Gone, Refused) as trouble:
            return self.blame("stuck", f"nothing can be cancelled: {trouble}")
        for number in left:
            self.blame("stuck", f"task {number} never ended: {self.yard.task(number)['state']}")
        self.judge()
        until(lambda: not self.leftovers())
        for pid in self.leftovers():
            self.blame("orphans", f"process {pid} is left of a task, though all have ended")
        ended = list(self.yard.acknowledged)
        with self.lock:
            self.tally.add("acknowledged", len(ended))
        if ended:
            self.yard.request("POST", "/api/v1/tasks/remove", {"tasks": ended})
        self.yard.acknowledged.clear()
        self.cancelled = False

    def run(self, cuts, keep_for):
        self.power_up()
        for i in range(cuts):
            self.cut()
            with self.lock:
                self.tally.add("cuts")
            if i % keep_for == keep_for - 1 or i == cuts - 1:
                self.tidy()

    def close(self):
        self.yard.kill()
        disks.kill_everything(self.folder)
        self.disk.unmount()


def main(args):
    disks.own_mounts()
    tally = disks.Tally(args.seed, "cuts", "acknowledged", "lost", "double", "orphans", "wrong_exit", "unlisted",
                        "unknown", "stuck", "outcome_lost")
    lock = threading.Lock()

    def one(kind, cuts):
        folder = tempfile.mkdtemp(prefix="chaos.")
        machine = None
        try:
            machine = Machine(folder, kind, args.seed, tally, lock)
            machine.run(cuts, keep_for=4)
        except (Gone, Refused, RuntimeError) as trouble:
            with lock:
                tally.blame("stuck", f"{kind}: {trouble!r}")
        finally:
            if machine:
                machine.close()
            shutil.rmtree(folder, ignore_errors=True)

    kinds = {"ext4": args.count - args.count // 2, "xfs": args.count // 2}
    with tempfile.TemporaryDirectory(prefix="chaos.") as folder:
        disks.probe(folder, *kinds)
    threads = [threading.Thread(target=one, args=item) for item in kinds.items() if item[1] > 0]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tally.close()
