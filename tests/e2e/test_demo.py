"""The main job: the demo's facts recomputed from the yard's own events, as root and as a plain user."""
import json
import os
import re
import shutil
import subprocess

import pytest

from yarding import BIN, PLAIN_USER, public_program

LIMIT = 240


def run_demo(folder, *words, prefix=(), program=BIN):
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "TMPDIR": str(folder)}
    done = subprocess.run([*prefix, program, "demo", "--no-open", *words], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT)
    assert done.returncode == 0, done.stdout
    with open(os.path.join(folder, "demo-report.json")) as file:
        return done.stdout, json.load(file)


def test_the_facts_of_the_report_follow_from_the_events_alone(tmp_path):
    said, report = run_demo(tmp_path)
    home = re.search(r"TRAINYARD_HOME=(\S+)", said).group(1)
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "TRAINYARD_HOME": home}
    try:
        told = subprocess.check_output([BIN, "events", "--json"], env=environment, text=True)
    finally:
        subprocess.run([BIN, "down"], env=environment, stdout=subprocess.DEVNULL, check=True)
    events = [json.loads(line) for line in told.splitlines()]
    assert [event["seq"] for event in events] == sorted({event["seq"] for event in events})
    ids = {event["data"]["name"][0]: event["task"] for event in events if event["kind"] == "task.submitted"}

    def of(letter, kind, attempt=None):
        return [e for e in events if e["kind"] == kind and e["task"] == ids[letter] and attempt in (None, e["attempt"])]

    # A restarted from its checkpoint.
    assert {e["attempt"] for e in events if e.get("task") == ids["A"] and e["attempt"]} == {1, 2}
    outcome = of("A", "attempt.ended", 1)[0]["data"]["outcome"]
    assert (outcome["kind"], outcome["class"]) == ("failed", "data_loading")
    saved = of("A", "checkpoint.saved", 1)[-1]["data"]
    assert of("A", "attempt.started", 2)[0]["data"]["resume"] == saved["path"]
    assert of("A", "progress.mark", 2)[0]["data"]["done"] >= saved["step"] > 0
    # A had its device to itself.
    spans = []
    for granted in (e for e in events if e["kind"] == "lease.granted"):
        released = next(e["seq"] for e in events if e["kind"] == "lease.released" and e["seq"] > granted["seq"]
                        and e["task"] == granted["task"] and e["data"]["device"] == granted["data"]["device"])
        spans.append((granted["task"], granted["data"]["device"], granted["seq"], released))
        assert granted["data"]["share_milli"] == 1000
    for task, device, start, end in spans:
        for other, same, begin, finish in spans:
            if task == ids["A"] and other != task and device == same:
                assert finish < start or end < begin
    # C took B's slot once B was over.
    b, c = (next(span for span in spans if span[0] == ids[letter]) for letter in "BC")
    assert b[1] == c[1] and of("C", "task.submitted")[0]["seq"] < b[3] < c[2]

    assert report["version"] == 1 and len(report["facts"]) == 4
    assert all(fact["value"] is True and fact["events"] for fact in report["facts"].values())
    assert [task["attempts"] for task in report["tasks"]] == [2, 1, 1]
    for task in report["tasks"]:
        assert task["outcome"]["kind"] == "succeeded" and task["last_loss"] < task["first_loss"]


@pytest.mark.skipif(os.getuid() != 0 or shutil.which("setpriv") is None, reason="needs root to become another user")
def test_a_plain_user_sees_the_same_demo_and_nothing_is_left_of_it(tmp_path):
    folder = tmp_path / "plain"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    _, report = run_demo(folder, "--once", prefix=PLAIN_USER, program=public_program(tmp_path))
    assert all(fact["value"] for fact in report["facts"].values())
    assert [name for name in os.listdir(folder) if name.startswith("trainyard-demo")] == []
