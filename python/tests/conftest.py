"""A yard for tests: the variables that a task sees, and what the helper wrote for it."""

import json
import os

import pytest

from trainyard import _report, _yard


class Yard:
    def __init__(self, folder, monkeypatch):
        self.out = folder / "out"
        self.stop_file = folder / "stop"
        self.out.mkdir()
        self.environ = monkeypatch
        monkeypatch.setenv("TRAINYARD_TASK", "12")
        monkeypatch.setenv("TRAINYARD_ATTEMPT", "2")
        monkeypatch.setenv("TRAINYARD_OUT", str(self.out))
        monkeypatch.setenv("TRAINYARD_STOP", str(self.stop_file))
        monkeypatch.setenv("TRAINYARD_RESUME", "")

    def lines(self, name):
        path = self.out / name
        return path.read_bytes().splitlines() if path.exists() else []

    def metrics(self):
        return [json.loads(line) for line in self.lines("metrics.jsonl")]

    def progress(self):
        return [record["progress"] for record in self.metrics() if "progress" in record]

    def checkpoints(self):
        return [json.loads(line) for line in self.lines("checkpoints.jsonl")]


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture(autouse=True)
def no_yard(monkeypatch):
    """Each test starts outside a yard, as a process that has reported nothing yet."""
    for name in list(os.environ):
        if name.startswith("TRAINYARD_") or name == "RANK":
            monkeypatch.delenv(name)
    monkeypatch.setattr(_report, "_throttle", _report.ProgressThrottle())
    monkeypatch.setattr(_yard, "_complaints", set())


@pytest.fixture
def yard(tmp_path, monkeypatch, no_yard):
    return Yard(tmp_path, monkeypatch)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(_report, "monotonic", clock)
    return clock
