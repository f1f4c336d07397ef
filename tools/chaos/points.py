"""A kill at every fail point that the sources name, with several seeds. The seed settles the tasks, at which passing
the point acts, and who is killed there:

  itself   the process that passes it         both   daemon and supervisors; it is halted there until they are dead
  other    halted there, the other side is killed: of the daemon the supervisors, of a supervisor the daemon; it goes on
  task     halted there, the task's processes are killed, then it goes on
"""
import collections
import functools
import glob
import os
import random
import re
import signal
import sys
import tempfile
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

from fire import Fire
from invariants import KINDS
from yard import ROOT, Gone, Refused, until

MODES = ("itself", "both", "other", "task")
HIT_PATIENCE = 150
# Where a daemon has to die before, so that its heir comes to the point.
PRELUDES = {"adopt.undecided": "launch.folder_made=kill"}


@functools.cache
def names():
    """Every point of the sources, in order; a name given twice stands twice."""
    found = []
    for path in sorted(glob.glob(os.path.join(ROOT, "src/**/*.cc"), recursive=True)):
        if path.endswith("_test.cc"):
            continue
        with open(path) as file:
            found += re.findall(r'\bFAIL_POINT\("([^"]+)"\)', file.read())
    return found


def mode_of(point, seed, seeds, draw):
    """With three seeds: itself, both, then by turns the other side or the task, so that all points together see all.
    With one the points share the modes out among them, from run to run (`draw`) in another way."""
    if seeds == 1:
        return MODES[(names().index(point) + draw) % len(MODES)]
    if seed % 3 < 2 or seeds < 3:
        return MODES[seed % 3 % 2]
    return MODES[2 + sum(map(ord, point)) % 2]


class Strike:
    """One point, one seed."""

    def __init__(self, root, point, seed, args):
        self.point, self.mode = point, mode_of(point, seed, args.seeds, args.seed)
        self.random = random.Random(f"{args.seed} {point} {seed}")
        self.fire = Fire(os.path.join(root, f"{point}.{seed}"), f"{args.seed}.{point}.{seed}", args.containment)
        self.hits = os.path.join(self.fire.folder, "hits")
        self.of_shim = point.startswith("shim.")
        self.freezing = "freeze" in point
        self.turns = self.freezing or self.random.random() < 0.15  # they take seconds
        self.over = threading.Event()
        self.freer = threading.Thread(target=self.let_go)
        self.reached = False

    def run(self):
        fire, yard = self.fire, self.fire.yard
        fire.open()
        # Something to adopt: what runs, what has ended unseen, and what lost its supervisor.
        adopting = self.point.startswith("adopt.")
        shapes = ("sleeper", "sleeper") if adopting else ("nap", "sleeper")
        first = [self.submit(shape) for shape in shapes]
        until(lambda: all(yard.task(number)["state"] in ("running", "ended") for number in first), 20)
        if self.point in PRELUDES:
            yard.kill()
            yard.start(env={"TRAINYARD_FAIL": PRELUDES[self.point]})
            fire.cancel(first[0])
            threading.Thread(target=self.submit, args=("quick",)).start()
            until(lambda: not yard.alive(), 30)
        if adopting or self.random.random() < 0.3:
            found = sorted(fire.supervisors().items())
            yard.kill()
            if found:
                fire.kill_supervisor(*found[self.random.randrange(len(found))])
        self.arm()
        over = threading.Event()
        client = threading.Thread(target=self.client, args=(over,))
        client.start()
        try:
            self.reached = bool(until(self.struck, HIT_PATIENCE))
            self.strike()
        finally:
            over.set()
            if not yard.alive():
                fire.start()  # without the point
            client.join()
        if self.mode != "itself" and self.of_shim:
            self.freer.start()
        yard.kill()
        fire.start()
        fire.settle()
        self.reached = self.reached or self.struck()
        return fire.judge(any_killed=True)

    def arm(self):
        act = "kill" if self.mode == "itself" else "stop"
        times = self.random.choice((1, 1, 1, 2, 3))
        if self.of_shim or self.point.startswith(("adopt.", "submit.bulk", "commit.rest")):
            times = 1  # few supervisors pass the same point often
        setting = f"{self.point}={act}@{times},log={self.hits}"
        yard = self.fire.yard
        yard.kill()
        # It may act before the daemon is ready; then there is nothing to wait for.
        starter = threading.Thread(target=yard.start, kwargs={"env": {"TRAINYARD_FAIL": setting}})
        starter.start()
        until(lambda: not starter.is_alive() or self.struck(), 30)
        self.starter = starter

    def struck(self):
        return os.path.exists(self.hits) and os.path.getsize(self.hits) > 0

    def hit_pids(self):
        if not self.struck():
            return []
        with open(self.hits) as file:
            return [int(line.split()[1]) for line in file]

    def strike(self):
        """The point was passed: whoever is to die dies."""
        fire, yard = self.fire, self.fire.yard
        if self.mode == "itself":
            if not self.of_shim and self.reached:
                yard.end_of_daemon()
        elif self.mode == "both" or (self.mode == "other" and self.of_shim):
            yard.kill()
        if self.mode == "both" or (self.mode == "other" and not self.of_shim):
            for pid, attempt in sorted(fire.supervisors().items()):
                fire.kill_supervisor(pid, attempt)
        if self.mode == "task":
            for attempt in sorted(set(fire.supervisors().values())):
                fire.strike(attempt, all_of_them=self.random.random() < 0.5)
        if self.mode != "itself" and not self.of_shim and yard.alive():
            yard.daemon.send_signal(signal.SIGCONT)
        self.starter.join(60)
        if self.mode == "itself" and self.of_shim:
            time.sleep(self.random.random() * 0.1)

    def let_go(self):
        """Supervisors that are halted at the point go on, also those that come to it only now."""
        freed = set()
        while not self.over.is_set():
            for pid in set(self.hit_pids()) - freed:
                freed.add(pid)
                self.fire.send(pid, self.fire.folder, signal.SIGCONT)
            self.over.wait(0.05)

    def close(self, keep):
        self.over.set()
        if self.freer.is_alive():
            self.freer.join()
        self.fire.close(keep)

    def submit(self, shape):
        token, _, spec = self.fire.shapes.make(shape)
        return self.fire.submit(token, spec)

    def client(self, over):
        """Goes through what a point may wait for: submits, quick ends, stops, turns."""
        fire = self.fire
        self.bulk()
        # The two share what the first sleeper leaves, as long as it is left alone.
        turns = ("turns", "turns") if self.turns else ()
        for shape in (*turns, "quick", "sleeper", "deaf", "quick", "nap", "noexec", "again", "forker", "dependent"):
            number = self.submit(shape)
            if shape in ("sleeper", "deaf", "forker") and number is not None and not over.is_set():
                if self.random.random() < 0.7:
                    self.until_running(number, over)
                fire.cancel(number)
        more = 0
        while not over.is_set():
            if not self.freezing and not self.struck() and more < 20:
                more += 1
                self.submit("quick")
                number = self.submit(("deaf", "sleeper")[more % 2])
                self.until_running(number, over)
                fire.cancel(number)
            try:
                for task in fire.open_tasks() if not self.freezing or self.struck() else ():
                    if fire.to_be_cancelled(task) and task["state"] == "running":
                        fire.cancel(task["id"])
            except (Gone, Refused):
                pass
            time.sleep(0.05)

    def bulk(self):
        drawn = [self.fire.shapes.make("quick") for _ in range(3)]
        specs = [spec for _, _, spec in drawn]
        for _ in range(200):
            try:
                first, _ = self.fire.yard.submit_bulk(specs, key=f"bulk-{self.fire.seed}")
                for number, (token, _, _) in enumerate(drawn, first):
                    self.fire.yard.acknowledged[number]["key"] = token
                return
            except Gone:
                time.sleep(0.01)
        self.fire.troubles.append("bulk: never acknowledged")

    def until_running(self, number, over):
        end = time.monotonic() + 5
        while time.monotonic() < end and not over.is_set():
            try:
                if self.fire.yard.task(number)["state"] in ("running", "ended"):
                    return
            except (Gone, Refused):
                pass
            time.sleep(0.01)


def one_point(root, point, seed, args):
    strike = Strike(root, point, seed, args)
    bad = True
    try:
        verdict = strike.run()
        bad = bool(verdict.faults)
        return strike, verdict, None
    except Exception:  # told as a fault of its own; the other points go on
        return strike, None, traceback.format_exc()
    finally:
        strike.close(keep=args.keep and bad)


def main(args):
    began = time.monotonic()
    root = tempfile.mkdtemp(prefix="chaos.")
    points = [name for name in names() if not args.only or args.only in name]
    runs = [(point, seed) for seed in range(args.seeds) for point in points]
    counts, missed = collections.Counter(), collections.Counter()
    with ThreadPoolExecutor(args.at_once) as pool:
        started = [pool.submit(one_point, root, point, seed, args) for point, seed in runs]
        for (point, seed), run in zip(runs, started):
            strike, verdict, broken = run.result()
            where = f"{point} ({strike.mode}, run {seed})"
            if broken:
                counts["broken"] += 1
                print(f"{where}: the run itself failed\n{broken}", file=sys.stderr, flush=True)
                continue
            missed[point] += not strike.reached
            counts["kills"] += strike.reached
            counts["outcome_lost"] += verdict.outcome_lost
            for kind, sentence in verdict.faults:
                counts[kind] += 1
                print(f"{where}: {kind}: {sentence}", file=sys.stderr, flush=True)
    try:
        os.rmdir(root)
    except OSError:
        print(f"kept: {root}", file=sys.stderr)
    never = [point for point in points if missed[point] == args.seeds]
    for point in never:
        print(f"{point} was never reached", file=sys.stderr)
    wrong = {kind: counts[kind] for kind in KINDS}
    line = " ".join(f"{kind}={count}" for kind, count in wrong.items())
    broken = f" broken={counts['broken']}" if counts["broken"] else ""
    print(f"points={len(points)} kills={counts['kills']} {line} outcome_lost={counts['outcome_lost']} "
          f"never_reached={len(never)} seconds={time.monotonic() - began:.0f}{broken} seed={args.seed}", flush=True)
    return 1 if any(wrong.values()) or never or broken else 0
