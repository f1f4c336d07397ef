"""What must hold whatever was killed (I1 to I8), judged from what was recorded, by code that shares nothing with the
product: the tasks' own testimony, the submits a client saw acknowledged, the yard's events and answers as JSON, /proc
and the cgroup folders.

  I1 an acknowledged task is never lost           I5 no device is given to two exclusive attempts
  I2 an attempt's command runs at most once       I6 the recorded end is the kernel's
  I3 no two live attempts of one task             I7 states move along the arrows only
  I4 no process outlives its attempt              I8 nothing outside an attempt is signalled
"""
import dataclasses
import glob
import os
import re

KINDS = ("lost", "double", "orphans", "wrong_exit", "overlaps", "disorder")


@dataclasses.dataclass
class History:
    """What one yard went through. `killed`: attempts whose supervisor was killed by us, `any_killed`: others may have
    been, at a fail point; `struck`: attempts whose processes were killed by us, `cancelled`: tasks that somebody
    cancelled."""

    acknowledged: dict  # id: {"uid": …, "key": token}
    tasks: dict         # id: the task as shown, or None
    names: list         # of every task the yard lists
    events: list
    witness: list       # lines
    killed: set
    any_killed: bool = False
    struck: set = dataclasses.field(default_factory=set)
    cancelled: set = dataclasses.field(default_factory=set)


@dataclasses.dataclass
class Verdict:
    faults: list = dataclasses.field(default_factory=list)  # (kind, sentence)
    outcome_lost: int = 0
    missed: int = 0  # processes that the containment level does not promise to find
    attempts: int = 0

    def fault(self, kind, sentence):
        assert kind in KINDS, kind
        self.faults.append((kind, sentence))


def judge(history):
    verdict = Verdict()
    testimony = read_witness(history, verdict)
    check_kept(history, verdict)
    for number, task in history.tasks.items():
        if task is not None:
            check_task(history, verdict, number, task, testimony)
    check_strangers(history, verdict, testimony)
    check_events(history, verdict)
    return verdict


def read_witness(history, verdict):
    """Of each attempt: its lines as (token, pid, start, words)."""
    testimony = {}
    for line in history.witness:
        words = line.split()
        if len(words) < 5:
            verdict.fault("disorder", f"a torn line of testimony: {line!r}")
            continue
        testimony.setdefault(words[0], []).append((words[1], words[2], words[3], words[4:]))
    return testimony


# ---- I1

def check_kept(history, verdict):
    for number, promised in history.acknowledged.items():
        task = history.tasks.get(number)
        if task is None:
            verdict.fault("lost", f"task {number} was acknowledged and is not there")
        elif promised["uid"] is not None and task["uid"] != promised["uid"]:
            verdict.fault("lost", f"task {number} was acknowledged as {promised['uid']} and is {task['uid']}")
        elif task["state"] != "ended":
            verdict.fault("lost", f"task {number} never ended: {task['state']}, held={task['held']}, "
                          f"{task['reason']}")
    # Submitted again after no answer came: still one task.
    for name in {name for name in history.names if history.names.count(name) > 1}:
        verdict.fault("double", f"{name} was queued {history.names.count(name)} times")


# ---- I2, I6

def check_task(history, verdict, number, task, testimony):
    uids = [attempt["uid"] for attempt in task["attempts"]]
    if len(set(uids)) != len(uids):
        verdict.fault("disorder", f"task {number} has an attempt twice")
    if [attempt["number"] for attempt in task["attempts"]] != list(range(1, len(uids) + 1)):
        verdict.fault("disorder", f"attempts of task {number} are not numbered 1, 2, …")
    for attempt in task["attempts"]:
        verdict.attempts += 1
        check_attempt(history, verdict, number, task, attempt, testimony.get(attempt["uid"], []))
    last = task["attempts"][-1]["outcome"] if task["attempts"] else None
    if task["state"] == "ended" and last and last["kind"] not in ("preempted",) and \
            (task["outcome"]["kind"], task["outcome"]["exit_code"], task["outcome"]["signal"]) != \
            (last["kind"], last["exit_code"], last["signal"]) and number not in history.cancelled:
        verdict.fault("wrong_exit", f"task {number} ended {task['outcome']}, its last attempt {last}")


def check_attempt(history, verdict, number, task, attempt, lines):
    uid, outcome = attempt["uid"], attempt["outcome"]
    here = f"attempt {number}.{attempt['number']} ({uid}, {task['name']})"
    if any(token != history.acknowledged[number]["key"] for token, _, _, _ in lines
           if history.acknowledged.get(number, {}).get("key")):
        verdict.fault("double", f"{here} ran the command of another task")
    runs = [line for line in lines if line[3][0] == "ran"]
    if len(runs) > 1 or len({(pid, start) for _, pid, start, _ in lines}) > 1:
        verdict.fault("double", f"{here} ran {len(runs)} times: {lines}")
    for line in lines:
        if line[3][0] == "overlap":
            verdict.fault("overlaps", f"{here} found its device in use: {line}")
    if outcome is None:
        return  # not over; that is said elsewhere
    said = next((line[3] for line in lines if line[3][0] in ("exit", "signal")), None)
    code, signal, kind = outcome["exit_code"], outcome["signal"], outcome["kind"]
    # Who kills a supervisor by its command line may hit the task, which has the same one until its execve.
    meddled = uid in history.struck or uid in history.killed or number in history.cancelled
    if kind == "lost":
        verdict.outcome_lost += 1
        if not history.any_killed and uid not in history.killed:
            verdict.fault("wrong_exit", f"{here} is called lost though nobody killed its supervisor")
        return
    if kind == "preempted" and code is None and signal is None:
        if runs:
            verdict.fault("double", f"{here} is said never to have started and has run")
        return
    if outcome["class"] == "exec_failed":
        if runs:
            verdict.fault("wrong_exit", f"{here} is said not to have been executed and has run")
        return
    if kind == "cancelled" and code is None and signal is None and number in history.cancelled:
        if runs and not history.any_killed and uid not in history.killed:
            verdict.fault("wrong_exit", f"{here} was stopped and its end is not recorded: {outcome}, said {said}")
        verdict.outcome_lost += bool(runs)
        return  # called off before it began, or nobody was left to see its end
    if not runs and not meddled:
        verdict.fault("wrong_exit", f"{here} ended as {outcome} and never ran")
    elif code is not None and (said is None or said != ["exit", str(code)]):
        verdict.fault("wrong_exit", f"{here} is recorded with exit code {code} and said {said}")
    elif signal is not None and not meddled and said != ["signal", str(signal)]:
        verdict.fault("wrong_exit", f"{here} is recorded with signal {signal} and said {said}")
    elif code is None and signal is None:
        verdict.fault("wrong_exit", f"{here} has neither exit code nor signal: {outcome}, said {said}")
    if kind == "succeeded" and code != 0:
        verdict.fault("wrong_exit", f"{here} is called a success with {outcome}")
    if kind == "cancelled" and number not in history.cancelled:
        verdict.fault("wrong_exit", f"{here} is called cancelled and nobody did")


def check_strangers(history, verdict, testimony):
    known = {attempt["uid"] for task in history.tasks.values() if task for attempt in task["attempts"]}
    for uid, lines in testimony.items():
        if uid not in known:
            verdict.fault("double", f"attempt {uid} ran and the yard does not know it: {lines}")


# ---- I3, I5, I7: the log of events, one pass

class Story:
    """Where a task stands, by its events."""

    def __init__(self):
        self.submitted = self.ended = False
        self.attempt, self.live, self.started, self.frozen = 0, False, False, False


def check_events(history, verdict):
    stories, shares, last = {}, {}, 0
    for event in history.events:
        if event["seq"] <= last:
            verdict.fault("disorder", f"event {event['seq']} follows {last}")
        last = event["seq"]
        kind, task = event["kind"], event.get("task")
        if task is None:
            continue
        story = stories.setdefault(task, Story())
        if kind.startswith("lease."):
            move_lease(verdict, shares, event)
        else:
            move(verdict, story, event)
    for number in history.acknowledged:
        story = stories.get(number)
        if story is None or not story.submitted:
            verdict.fault("lost", f"no event tells of the submit of task {number}")
        elif not story.ended or story.live:
            verdict.fault("disorder", f"the events of task {number} do not end: live={story.live}")
    for device, holders in shares.items():
        if holders:
            verdict.fault("disorder", f"{device} is still leased: {holders}")


def move(verdict, story, event):
    kind, where = event["kind"], f"event {event['seq']} {event['kind']} of {event.get('task')}.{event.get('attempt')}"

    def hold(condition):
        if not condition:
            verdict.fault("disorder", f"{where}: from {vars(story)}")

    if kind == "task.submitted":
        hold(not story.submitted)
        story.submitted = True
        return
    hold(story.submitted and not story.ended)
    if kind == "attempt.planned":
        if story.live:
            verdict.fault("double", f"{where}: attempt {story.attempt} is not over")
        hold(event["attempt"] == story.attempt + 1)
        story.attempt, story.live, story.started, story.frozen = event["attempt"], True, False, False
    elif kind == "attempt.started":
        hold(story.live and not story.started and event["attempt"] == story.attempt)
        story.started = True
    elif kind in ("attempt.ended", "attempt.lost"):
        hold(story.live and event["attempt"] == story.attempt)
        story.live = False
    elif kind in ("attempt.stopping", "attempt.frozen", "attempt.thawed"):
        hold(story.live and event["attempt"] == story.attempt)
    elif kind == "task.ended":
        hold(not story.live)
        story.ended = True


def move_lease(verdict, shares, event):
    device, holder, data = event["data"]["device"], (event["task"], event["attempt"]), event["data"]
    holders = shares.setdefault(device, {})
    if event["kind"] == "lease.released":
        if holders.pop(holder, None) is None:
            verdict.fault("disorder", f"event {event['seq']} releases what {holder} has not")
        return
    if event["kind"] == "lease.granted" and holder in holders:
        verdict.fault("disorder", f"event {event['seq']} grants {device} to {holder} again")
    holders[holder] = (data["share_milli"], data["mode"])
    if len(holders) > 1 and any(mode == "whole" for _, mode in holders.values()):
        verdict.fault("overlaps", f"event {event['seq']}: {device} has {holders}")


def sum_of_shares(events):
    """The largest sum of granted shares that a device ever had after a settled moment; for curious eyes."""
    held, most = {}, 0
    for event in events:
        if not event["kind"].startswith("lease."):
            continue
        key = (event["data"]["device"], event["task"], event["attempt"])
        if event["kind"] == "lease.released":
            held.pop(key, None)
        else:
            held[key] = event["data"]["share_milli"]
        most = max(most, sum(value for (device, _, _), value in held.items() if device == key[0]))
    return most


# ---- I4: /proc and cgroups

def processes():
    """(pid, command line, variables) of all that may be read and are no zombies."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                if file.read().rsplit(b") ", 1)[1][:1] in b"ZX":
                    continue
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{name}/environ", "rb") as file:
                variables = file.read().split(b"\0")
        except OSError:
            continue
        found.append((int(name), words, variables))
    return found


def leftovers(folder, uids, but=()):
    """Processes of the yard in `folder` that are still there: by the marker of one of its attempts, or by a path of its
    folder on their command line. `but`: PIDs that may be."""
    markers = {b"TRAINYARD_ID=" + uid.encode() for uid in uids}
    path = str(folder).encode() + b"/"
    found = []
    for pid, words, variables in processes():
        if pid in but or pid == os.getpid():
            continue
        if markers.intersection(variables) or any(word.startswith(path) for word in words):
            found.append((pid, b" ".join(words).decode(errors="replace").strip()))
    return found


def cgroup_roots(instance):
    """Folders of this yard in any hierarchy."""
    with open("/proc/self/mounts") as file:
        mounts = [line.split()[1] for line in file if re.match(r"\S+ \S+ cgroup", line)]
    return sorted({folder for mount in mounts
                   for folder in glob.glob(f"{mount}/**/trainyard-{instance}", recursive=True)})


def cgroups(instance):
    """Folders that attempts of this yard still have."""
    return [folder for root in cgroup_roots(instance) for folder in sorted(glob.glob(f"{root}/a-*"))]
