"""One yard under fire: somebody submits and cancels, somebody kills, and in the end the books are compared."""
import glob
import os
import random
import shutil
import signal
import subprocess
import threading
import time

import invariants
import shapes
from yard import Gone, Refused, Yard, until

OPEN_AT_MOST = 10  # tasks that have not ended
MARKER = b"TRAINYARD_ID="


class Fire:
    """`seed` settles the tasks and the plan of kills. Folders are short: a socket's path has little room."""

    def __init__(self, folder, seed, containment=None):
        self.folder, self.seed = folder, seed
        self.random = random.Random(f"{seed} plan")
        env = {"TRAINYARD_CONTAINMENT": containment} if containment else {}
        self.yard = Yard(folder, env=env)
        self.bystanders = []
        self.killed, self.struck, self.cancelled = set(), set(), set()
        self.tokens = {}  # of each acknowledged task
        self.kills = 0
        self.instance = None
        self.troubles = []

    # ---- Set up

    def open(self):
        if self.yard.start() is None:
            raise RuntimeError(f"the yard did not start: {self.yard.refusal}")
        status = self.yard.status()
        self.instance, self.level = status["instance"], status["containment"]
        slots = [device["cpus"] for device in status["devices"]]
        apart = len({tuple(cpus) for cpus in slots}) == len(slots)
        shapes.prepare(self.yard.work, slots)
        self.shapes = shapes.Shapes(random.Random(f"{self.seed} tasks"), self.yard.work, f"t{self.seed}", apart)
        # Strangers that nobody may touch: one plain, one that carries a marker like ours.
        for env in ({}, {"TRAINYARD_ID": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}):
            self.bystanders.append(subprocess.Popen(["/bin/sleep", "3600"], env={"PATH": "/bin", **env},
                                                    stdin=subprocess.DEVNULL, start_new_session=True))

    def close(self, keep):
        self.yard.kill()
        for bystander in self.bystanders:
            bystander.kill()
            bystander.wait()
        for pid, _ in invariants.leftovers(self.folder, ()):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.remove_cgroups()
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    def remove_cgroups(self):
        """What a daemon that is killed leaves: folders without anybody inside."""
        for root in invariants.cgroup_roots(self.instance) if self.instance else ():
            for folder in (*glob.glob(f"{root}/*/"), root):
                try:
                    os.rmdir(folder)
                except OSError:
                    pass  # somebody is still dying; an empty folder hurts nobody

    # ---- The client

    def submit(self, token, spec, patience=60):
        """Until it is acknowledged: after no answer the same again, under the same key."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            try:
                number = self.yard.submit(spec, token)
                self.tokens[number] = token
                return number
            except Gone:
                time.sleep(0.003)
            except Refused as refused:
                if refused.problem.get("code") != "unavailable":
                    # What it was to wait for has ended meanwhile, in a way that can never be waited for.
                    self.troubles.append(f"{token}: {refused}")
                    return None
                time.sleep(0.01)
        self.troubles.append(f"{token}: never acknowledged")
        return None

    def open_tasks(self):
        return self.yard.get("/api/v1/tasks?state=open&limit=1000")["items"]

    def keep_busy(self, over):
        """Submits and cancels until `over` is set."""
        choice = random.Random(f"{self.seed} client")
        while not over.is_set():
            try:
                tasks = self.open_tasks()
            except (Gone, Refused):
                time.sleep(0.003)
                continue
            for task in tasks:
                if self.to_be_cancelled(task) and choice.random() < (0.3 if task["state"] == "running" else 0.02):
                    self.cancel(task["id"])
            known = [task["id"] for task in tasks]
            for _ in range(min(OPEN_AT_MOST - len(tasks), choice.randint(1, 4))):
                token, shape, spec = self.shapes.draw(known)
                number = self.submit(token, spec)
                if number is not None and choice.random() < 0.04:
                    self.cancel(number)  # at once, while it starts
            time.sleep(choice.uniform(0, 0.03))

    def to_be_cancelled(self, task):
        return task["name"].split("-")[0] in shapes.CANCELLED

    def cancel(self, number):
        self.cancelled.add(number)  # before it is asked: no answer does not mean that it was not heard
        try:
            self.yard.cancel(number)
        except (Gone, Refused):
            pass

    # ---- The killer

    def supervisors(self):
        """{pid: attempt} of this yard's."""
        found = {}
        begin = os.path.join(self.yard.home, "attempts").encode() + b"/"
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            if len(words) > 2 and words[0].endswith(b"trainyard-shim") and words[1].startswith(begin):
                found[int(name)] = words[1][len(begin):].decode()
        return found

    def kill_supervisor(self, pid, attempt):
        self.killed.add(attempt)
        self.send(pid, attempt)

    def send(self, pid, attempt, number=signal.SIGKILL):
        """To this process and no other: its number may have gone to somebody else."""
        try:
            fd = os.pidfd_open(pid)
        except OSError:
            return
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                line = file.read()
            with open(f"/proc/{pid}/environ", "rb") as file:
                line += file.read()
            if attempt.encode() in line:
                signal.pidfd_send_signal(fd, number)
        except OSError:
            pass
        finally:
            os.close(fd)

    def processes_of(self, attempt):
        marker = MARKER + attempt.encode()
        return [pid for pid, _, variables in invariants.processes() if marker in variables]

    def strike(self, attempt, all_of_them=False):
        """kill -9 of a task's processes, the supervisor left alone."""
        pids = sorted(self.processes_of(attempt))
        self.struck.add(attempt)
        for pid in pids if all_of_them else pids[:1]:
            self.send(pid, attempt)

    def kill_something(self):
        """One kill of the plan; what it hits depends on what is there."""
        dice, pick, pause = self.random.random(), self.random.random(), self.random.random()
        found = sorted(self.supervisors().items(), key=lambda item: item[1])
        one = found[int(pick * len(found))] if found else None
        daemon = dice < 0.5 or dice >= 0.8 or one is None
        if 0.5 <= dice < 0.72 and one:
            self.kill_supervisor(*one)
        elif 0.72 <= dice < 0.8 and one:
            self.strike(one[1], all_of_them=pause < 0.3)
        elif 0.8 <= dice < 0.92 and one:
            if pause < 0.5:
                self.kill_supervisor(*one)
        elif dice >= 0.92:
            for each in found:
                self.kill_supervisor(*each)
        if daemon:
            self.yard.daemon.kill()
            if 0.8 <= dice < 0.92 and one and pause >= 0.5:
                self.kill_supervisor(*one)  # the daemon first, then the supervisor
            self.yard.end_of_daemon()
        self.kills += 1
        return daemon

    def start(self, again=None):
        """Starts the daemon, and kills it that soon if `again` says so."""
        if self.yard.start(kill_after=again) is None and (again is None or self.yard.refusal):
            raise RuntimeError(f"the yard did not start again: {self.yard.refusal}, {self.last_words()}")

    def last_words(self):
        with open(os.path.join(self.folder, "daemon.log"), errors="replace") as file:
            return file.read()[-2000:]

    def rage(self, kills):
        """So many kills while the client keeps the yard busy."""
        over = threading.Event()
        client = threading.Thread(target=self.keep_busy, args=(over,))
        client.start()
        try:
            while self.kills < kills:
                time.sleep(self.random.choice((0, 0.01, 0.03, 0.06, 0.15)) * self.random.random())
                if self.random.random() < 0.05:
                    time.sleep(0.5)  # let things settle now and then
                if self.kill_something():
                    while self.random.random() < 0.15 and self.kills < kills:
                        self.start(again=self.random.uniform(0, 0.03))
                        self.yard.kill()
                        self.kills += 1
                    self.start()
        finally:
            over.set()
            client.join()

    # ---- The books

    def settle(self, seconds=180):
        """Waits until all have ended; those that would not are cancelled."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            tasks = self.open_tasks()
            if not tasks:
                return
            for task in tasks:
                if self.to_be_cancelled(task) and task["state"] in ("running", "waiting"):
                    self.cancel(task["id"])
            time.sleep(0.05)

    def judge(self, any_killed=False):
        """After settle. `any_killed`: any supervisor may have been killed."""
        yard = self.yard
        tasks = {}
        for number in yard.acknowledged:
            try:
                tasks[number] = yard.task(number)
            except Refused:
                tasks[number] = None
        listed = yard.tasks()
        for task in listed:  # acknowledged or not: it is there
            if task["id"] not in tasks:
                tasks[task["id"]] = yard.task(task["id"])
        with open(os.path.join(yard.work, "witness")) as file:
            witness = file.read().splitlines()
        verdict = invariants.judge(invariants.History(
            acknowledged=yard.acknowledged, tasks=tasks, names=[task["name"] for task in listed],
            events=yard.events(), witness=witness, killed=self.killed, any_killed=any_killed,
            struck=self.struck, cancelled=self.cancelled))
        self.judge_processes(verdict, tasks)
        self.judge_files(verdict, tasks)
        self.judge_once_more(verdict, tasks)
        for trouble in self.troubles:
            verdict.fault("lost" if "never acknowledged" in trouble else "disorder", trouble)
        return verdict

    def judge_processes(self, verdict, tasks):
        uids = [attempt["uid"] for task in tasks.values() if task for attempt in task["attempts"]]

        def left():
            return invariants.leftovers(self.folder, uids, but=(self.yard.daemon.pid,))

        until(lambda: not left(), 20)
        for pid, command in left():
            # The honest promise of this level: who cleared the marker and left the session of a supervisor that was
            # killed may be missed.
            cleared = not any(MARKER in variable for found, _, variables in invariants.processes() if found == pid
                              for variable in variables)
            if self.level == "subreaper" and cleared and self.killed:
                verdict.missed += 1
                continue
            verdict.fault("orphans", f"process {pid} is still there: {command}")
        until(lambda: not invariants.cgroups(self.instance), 10)
        for folder in invariants.cgroups(self.instance):
            verdict.fault("orphans", f"{folder} is still there")
        for bystander in self.bystanders:
            if bystander.poll() is not None:
                verdict.fault("disorder", f"a stranger was ended by {-bystander.returncode}")

    def judge_files(self, verdict, tasks):
        attempts = os.path.join(self.yard.home, "attempts")
        quarantine = os.path.join(attempts, ".quarantine")
        for name in os.listdir(quarantine) if os.path.isdir(quarantine) else ():
            verdict.fault("disorder", f"attempt {name} had no row")

        def unacknowledged():
            return [name for name in os.listdir(attempts)
                    if any(os.path.lexists(os.path.join(attempts, name, file)) for file in ("slot", "ctl.sock"))]

        until(lambda: not unacknowledged(), 10)
        for name in unacknowledged():
            verdict.fault("disorder", f"the folder of attempt {name} was never cleared")

    def judge_once_more(self, verdict, tasks):
        """What has ended has ended: a last kill and start change nothing."""
        self.yard.kill()
        self.start()
        for number, before in tasks.items():
            try:
                now = self.yard.task(number)
            except Refused:
                now = None
            if before and (now is None or (now["state"], now["outcome"]) != (before["state"], before["outcome"])):
                verdict.fault("lost", f"task {number} was {before['outcome']} and is now "
                              f"{now and (now['state'], now['outcome'])}")
