"""The judge of yards under fire sees what it is there to see: each of these histories has one fault and no other."""
import os
import subprocess
import sys

import pytest

from yarding import ROOT

sys.path.insert(0, os.path.join(ROOT, "tools", "chaos"))
import invariants  # noqa: E402


def outcome(kind="failed", exit_code=7, signal=None, **more):
    return {"kind": kind, "class": "script", "exit_code": exit_code, "signal": signal, "reason": None, **more}


class Past:
    """One task that ran once, said so and ended with 7; each test bends one thing."""

    def __init__(self):
        self.task = {"id": 1, "uid": "T1", "name": "quick-a", "state": "ended", "held": False, "reason": None,
                     "outcome": outcome(), "attempts": [{"number": 1, "uid": "A1", "outcome": outcome()}]}
        self.tasks, self.names = {1: self.task}, ["quick-a"]
        self.witness = ["A1 a 100 5000 ran", "A1 a 100 5000 exit 7"]
        self.killed, self.struck, self.cancelled = set(), set(), set()
        self.acknowledged = {1: {"uid": "T1", "key": "a"}}
        self.events = []
        for kind in ("task.submitted", "attempt.planned", "lease.granted", "attempt.started", "attempt.ended",
                     "lease.released", "task.ended"):
            self.tell(kind)

    def tell(self, kind, task=1, attempt=1, **data):
        data = {"device": "cpu:0", "share_milli": 1000, "mode": "whole", **data}
        self.events.append({"seq": len(self.events) + 1, "kind": kind, "task": task, "attempt": attempt, "data": data})

    def end(self, **more):
        self.task["outcome"] = self.task["attempts"][0]["outcome"] = outcome(**more)

    def faults(self):
        history = invariants.History(self.acknowledged, self.tasks, self.names, self.events, self.witness, self.killed,
                                     struck=self.struck, cancelled=self.cancelled)
        return [kind for kind, _ in invariants.judge(history).faults]


@pytest.fixture
def past():
    return Past()


def test_a_good_past_has_no_fault(past):
    assert past.faults() == []


def test_an_acknowledged_task_that_is_not_there_is_lost(past):
    past.tasks[1] = None
    assert "lost" in past.faults()


def test_an_acknowledged_task_that_is_another_one_now_is_lost(past):
    past.task["uid"] = "T9"
    assert past.faults() == ["lost"]


def test_a_task_that_never_ends_is_lost(past):
    past.task["state"] = "waiting"
    assert "lost" in past.faults()


def test_a_submit_that_was_queued_twice_is_double(past):
    past.names.append("quick-a")
    assert past.faults() == ["double"]


def test_an_attempt_that_ran_twice_is_double(past):
    past.witness.append("A1 a 101 5001 ran")
    assert past.faults() == ["double"]


def test_an_attempt_that_nobody_knows_is_double(past):
    past.witness.append("A2 a 101 5001 ran")
    assert past.faults() == ["double"]


def test_a_second_attempt_before_the_first_is_over_is_double(past):
    past.events[4:] = []
    past.tell("attempt.planned", attempt=2)
    assert "double" in past.faults()


def test_a_run_that_was_called_off_must_not_have_run(past):
    past.end(kind="preempted", exit_code=None)
    assert past.faults() == ["double"]


def test_another_exit_code_than_the_task_gave_is_wrong(past):
    past.end(exit_code=8)
    assert past.faults() == ["wrong_exit"]


def test_an_exit_code_that_no_task_gave_is_wrong(past):
    past.witness.pop()
    assert past.faults() == ["wrong_exit"]


def test_a_signal_that_nobody_sent_is_wrong(past):
    past.end(exit_code=None, signal=9)
    assert past.faults() == ["wrong_exit"]


def test_a_signal_that_we_sent_is_right(past):
    past.end(exit_code=None, signal=9)
    past.struck.add("A1")
    assert past.faults() == []


def test_lost_without_a_kill_of_the_supervisor_is_wrong(past):
    past.end(kind="lost", exit_code=None)
    assert past.faults() == ["wrong_exit"]
    past.killed.add("A1")
    assert past.faults() == []


def test_cancelled_though_nobody_cancelled_is_wrong(past):
    past.end(kind="cancelled")
    assert past.faults() == ["wrong_exit"]


def test_a_device_in_the_hands_of_another_is_an_overlap(past):
    past.witness.append("A1 a 100 5000 overlap 0")
    assert past.faults() == ["overlaps"]


def test_a_whole_device_leased_to_two_is_an_overlap(past):
    past.events.insert(3, {"seq": 3, "kind": "lease.granted", "task": 2, "attempt": 1,
                           "data": {"device": "cpu:0", "share_milli": 500, "mode": "turns"}})
    assert "overlaps" in past.faults()


def test_an_end_after_the_end_is_disorder(past):
    past.tell("attempt.started")
    assert set(past.faults()) == {"disorder"}


def test_a_number_that_comes_again_is_disorder(past):
    past.events[3]["seq"] = past.events[2]["seq"]
    assert past.faults() == ["disorder"]


def test_a_lease_that_stays_behind_is_disorder(past):
    del past.events[5]
    assert past.faults() == ["disorder"]


def test_a_process_is_found_by_its_marker_and_by_its_folder(tmp_path):
    marked = subprocess.Popen(["/bin/sleep", "600"], env={"TRAINYARD_ID": "A1"})
    named = subprocess.Popen(["/bin/sh", "-c", "read line", str(tmp_path / "task.sh")], stdin=subprocess.PIPE)
    try:
        found = {pid for pid, _ in invariants.leftovers(tmp_path, ["A1"], but=(0,))}
        assert {marked.pid, named.pid} <= found
        assert invariants.leftovers(tmp_path, ["A2"], but=(named.pid,)) == []
    finally:
        for process in (marked, named):
            process.kill()
            process.communicate()
