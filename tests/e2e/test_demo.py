"""The main job: the demo's facts recomputed from the yard's own events, as root and as a plain user."""
import json
import os
import re
import shutil
import signal
import subprocess
from datetime import datetime

import pytest

from yarding import BIN, PLAIN_USER, public_program, until

LIMIT = 240


def run_demo(folder, *words, prefix=(), program=BIN, language="C"):
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "TMPDIR": str(folder), "LANG": language}
    for last in (False, True):
        done = subprocess.run([*prefix, program, "demo", "--no-open", *words], cwd=folder, env=environment, text=True,
                              encoding="utf-8", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=LIMIT)
        if done.returncode == 0 or last:
            break
        # Its facts compare rates: a machine that is busy in one phase and idle in the next may hide them once.
        if left := re.search(r"TRAINYARD_HOME=(\S+)", done.stdout):
            subprocess.run([*prefix, program, "down", "--cancel"], env={**environment, "TRAINYARD_HOME": left.group(1)},
                           stdout=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout
    with open(os.path.join(folder, "demo-report.json")) as file:
        return done.stdout, json.load(file)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """What the demo said and reported, and the events of its yard, which then is taken down."""
    folder = tmp_path_factory.mktemp("demo")
    said, report = run_demo(folder)
    home = re.search(r"TRAINYARD_HOME=(\S+)", said).group(1)
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "TRAINYARD_HOME": home}
    try:
        told = subprocess.check_output([BIN, "events", "--json"], env=environment, text=True)
    finally:
        subprocess.run([BIN, "down"], env=environment, stdout=subprocess.DEVNULL, check=True)
    events = [json.loads(line) for line in told.splitlines()]
    return said, report, events


class Told:
    """The events read a second way: on a time line, where the program goes by their numbers."""

    def __init__(self, events):
        self.events = events
        self.ids = {e["data"]["name"][0]: e["task"] for e in events if e["kind"] == "task.submitted"}
        self.leases = []  # [task, device, granted, released, [(time, share)]]
        open_leases = {}
        for event in events:
            key = (event.get("task"), event["data"].get("device"))
            if event["kind"] == "lease.granted":
                open_leases[key] = [*key, self.time(event), None, []]
                self.leases.append(open_leases[key])
            if event["kind"] in ("lease.granted", "lease.changed"):
                open_leases[key][4].append((self.time(event), event["data"]["share_milli"]))
            if event["kind"] == "lease.released":
                open_leases.pop(key)[3] = self.time(event)
        assert not open_leases  # all is over

    def time(self, event):
        """Seconds from the first event; of two in one millisecond the number says which came first."""
        def at(one):
            return datetime.strptime(one["at"], "%Y-%m-%dT%H:%M:%S.%fZ").timestamp()
        return round(at(event) - at(self.events[0]), 3) + event["seq"] * 1e-8

    def of(self, letter, kind, attempt=None):
        return [e for e in self.events
                if e["kind"] == kind and e["task"] == self.ids[letter] and attempt in (None, e["attempt"])]

    def leases_of(self, letter):
        return [lease for lease in self.leases if lease[0] == self.ids[letter]]

    def rises(self, letter, start, end):
        """(time, done) of the marks between that go up."""
        points = []
        for event in self.of(letter, "progress.mark"):
            if start < self.time(event) < end and (not points or event["data"]["done"] > points[-1][1]):
                points.append((self.time(event), event["data"]["done"]))
        return points

    def rate(self, letter, start, end):
        (began, first), *_, (ended, last) = self.rises(letter, start, end)
        return (last - first) / (ended - began)

    def frozen(self, letter):
        """[(from, to)]; a task that ends in its sleep sleeps to its end."""
        spans = []
        for event in self.events:
            if event.get("task") != self.ids[letter]:
                continue
            if event["kind"] == "attempt.frozen":
                spans.append([self.time(event), None])
            elif event["kind"] in ("attempt.thawed", "attempt.ended") and spans and spans[-1][1] is None:
                spans[-1][1] = self.time(event)
        return spans

    def awake(self, letter):
        """[(from, to)] between start and end, but for the sleep."""
        now = self.time(self.of(letter, "attempt.started")[0])
        spans = []
        for start, end in self.frozen(letter):
            spans.append((now, start))
            now = end
        return [*spans, (now, self.time(self.of(letter, "attempt.ended")[0]))]


def test_each_fact_of_the_report_follows_from_the_events_alone(demo):
    _, report, events = demo
    assert [event["seq"] for event in events] == sorted({event["seq"] for event in events})
    told = Told(events)
    facts = {}

    # A had its device to itself.
    facts["a_exclusive"] = bool(told.leases_of("A"))
    for _, device, start, end, shares in told.leases_of("A"):
        others = [lease for lease in told.leases if lease[0] != told.ids["A"] and lease[1] == device]
        facts["a_exclusive"] &= all(other[3] <= start or end <= other[2] for other in others)
        facts["a_exclusive"] &= {share for _, share in shares} == {1000}

    # A restarted from its checkpoint.
    outcome = told.of("A", "attempt.ended", 1)[0]["data"]["outcome"]
    saved = told.of("A", "checkpoint.saved", 1)[-1]["data"]
    facts["a_restarted_from_checkpoint"] = (
        {e["attempt"] for e in events if e.get("task") == told.ids["A"] and e["attempt"]} == {1, 2}
        and (outcome["kind"], outcome["class"]) == ("failed", "data_loading")
        and told.of("A", "attempt.started", 2)[0]["data"]["resume"] == saved["path"]
        and told.of("A", "progress.mark", 2)[0]["data"]["done"] >= saved["step"] > 0)

    # B and C on one device, in turns.
    (b,), (c,) = told.leases_of("B"), told.leases_of("C")
    start, end = max(b[2], c[2]), min(b[3], c[3])
    facts["b_c_shared"] = (b[1] == c[1] and end - start >= 5
                           and all(len(told.rises(letter, start, end)) >= 2 for letter in "BC"))
    naps = {letter: [span for span in told.frozen(letter) if start < span[0] and span[1] < end] for letter in "BC"}
    together = [min(one[1], other[1], end) - max(one[0], other[0], start)
                for one in told.awake("B") for other in told.awake("C")]
    facts["b_c_took_turns"] = all(len(spans) >= 2 for spans in naps.values()) and max(together) <= 0.5
    # The wall clock has turned with the floor: each ran for a good part of the time and for no more than that.
    for letter in "BC":
        ran = sum(max(0, min(to, end) - max(since, start)) for since, to in told.awake(letter))
        assert 0.3 < ran / (end - start) < 0.7

    # C alone.
    facts["c_alone_after_b"] = (
        c[3] > b[3]
        and not [lease for lease in told.leases if lease[1] == c[1] and lease[0] != c[0] and lease[3] > b[3]]
        and c[4][-1][1] == 1000 and c[4][-1][0] >= b[3] and {share for at, share in c[4] if at < b[3]} == {500}
        and len(told.rises("C", b[3], c[3])) >= 2)
    facts["c_rate_up_after_b"] = pytest.approx(told.rate("C", b[3], c[3]) / told.rate("C", start, end), rel=0.01)

    assert report["version"] == 1
    values = {name: fact["value"] for name, fact in report["facts"].items()}
    assert values == facts
    assert values.pop("c_rate_up_after_b") >= 1.3
    assert all(value is True for value in values.values())


def test_the_report_names_the_events_it_rests_on_and_how_the_trainings_went(demo):
    _, report, events = demo
    kinds = {event["seq"]: event["kind"] for event in events}
    rests_on = {name: {kinds[seq] for seq in fact["events"]} for name, fact in report["facts"].items()}
    assert rests_on == {
        "a_exclusive": {"lease.granted", "lease.released"},
        "a_restarted_from_checkpoint": {"checkpoint.saved", "attempt.ended", "attempt.started", "progress.mark"},
        "b_c_shared": {"lease.granted", "lease.released", "progress.mark"},
        "b_c_took_turns": {"attempt.frozen", "attempt.thawed"},
        "c_alone_after_b": {"lease.released", "lease.changed", "progress.mark"},
        "c_rate_up_after_b": {"progress.mark"},
    }
    assert [task["attempts"] for task in report["tasks"]] == [2, 1, 1]
    for task in report["tasks"]:
        assert task["outcome"]["kind"] == "succeeded" and task["last_loss"] < task["first_loss"]


def test_the_table_says_whose_turn_it_is(demo):
    said, _, _ = demo
    assert re.search(r"^B-digits-mlp +(has its turn|awaits its turn) +\S+ +50%, in turns", said, re.MULTILINE)
    assert re.search(r"^C-char-transformer +running +\S+ +100% ", said, re.MULTILINE)
    assert len(re.findall("^✓ ", said, re.MULTILINE)) == 6


def test_broken_off_it_stops_its_trainings_and_leaves_nothing(tmp_path):
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)}
    demo = subprocess.Popen([BIN, "demo", "--once", "--no-open"], cwd=tmp_path, env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    (home,) = until(lambda: list(tmp_path.glob("trainyard-demo-*/tasks/*/metrics.jsonl")) and
                    list(tmp_path.glob("trainyard-demo-*")))
    demo.send_signal(signal.SIGINT)
    said, _ = demo.communicate(timeout=LIMIT)
    assert demo.returncode == 130
    assert said.endswith("The demo was interrupted; its trainings have been stopped.\n")
    assert not home.exists()
    # The daemon may be on its way out, but nobody stays.
    until(lambda: not [pid for pid in os.listdir("/proc") if pid.isdigit() and str(home).encode() in variables_of(pid)])


def variables_of(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""


@pytest.mark.skipif(os.getuid() != 0 or shutil.which("setpriv") is None, reason="needs root to become another user")
def test_a_plain_user_sees_the_same_demo_in_chinese_and_nothing_is_left_of_it(tmp_path):
    folder = tmp_path / "plain"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    said, report = run_demo(folder, "--once", prefix=PLAIN_USER, program=public_program(tmp_path),
                            language="zh_CN.UTF-8")
    assert all(fact["value"] for fact in report["facts"].values())
    assert "✓ B 和 C 轮流运行：一个运行时，另一个冻结" in said
    assert re.search(r"^C-char-transformer +(轮到它|等待轮到) +\S+ +50%，轮流", said, re.MULTILINE)
    assert [name for name in os.listdir(folder) if name.startswith("trainyard-demo")] == []
