"""Metrics are kept once each, whatever happens to the daemon meanwhile."""
import http.client
import json
import os
import signal
import socket
import struct

import pytest

from yarding import DEADLINE, ROOT, until

HELPER = os.path.join(ROOT, "python")

# Steps until it is told to end, so that a test has all the time it needs.
TRAIN = """
import os, time
import trainyard
step = 0
while not os.path.exists("end"):
    trainyard.log({"loss": 1 / (1 + step), "acc": step}, step)
    step += 1
    time.sleep(0.003)
open("count", "w").write(str(step))
"""

PRINT = """
import os, sys, time
step = 0
while not os.path.exists("end"):
    step += 1
    print(f"step {step}/1000000 loss={step}.5", flush=True)
    time.sleep(0.003)
sys.stdout.write(f"step {step + 1}/1000000 loss={step + 1}.5")  # without its newline
open("count", "w").write(str(step + 1))
"""


def ask(yard, path):
    class Local(http.client.HTTPConnection):
        def connect(self):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.connect(os.path.join(yard.home, "sock"))

    connection = Local("localhost", timeout=DEADLINE)
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read()


def series(yard, task=1):
    status, body = ask(yard, f"/api/v1/tasks/{task}/series")
    assert status == 200, body
    return {item["tag"]: item["parts"] for item in json.loads(body)["items"]}


def count(yard, tag, task=1):
    return sum(part["points"] for part in series(yard, task).get(tag, []))


def dots(yard, tag, **query):
    """Of the first attempt, by time: there a point that was kept twice would be there twice."""
    words = "&".join(f"{name}={value}" for name, value in {"tag": tag, "px": 8000, "x": "time", **query}.items())
    status, body = ask(yard, f"/api/v1/tasks/1/points?{words}")
    assert status == 200, body
    length, = struct.unpack_from("<I", body, 4)
    part, = json.loads(body[8:8 + length])["parts"]
    numbers = struct.unpack_from(f"<{2 * part['given']}d", body, 8 + length)
    assert part["exact"]
    return list(zip(numbers[:part["given"]], numbers[part["given"]:]))


def kill(yard):
    pid = yard.pid()
    os.kill(pid, signal.SIGKILL)
    until(lambda: not os.path.exists(f"/proc/{pid}"))


def run(yard, text):
    with open(os.path.join(yard.work, "train.py"), "w") as file:
        file.write(text)
    yard("run", "-q", "-e", f"PYTHONPATH={HELPER}", "python3", "train.py")


def end(yard):
    open(os.path.join(yard.work, "end"), "w").close()
    with_count = os.path.join(yard.work, "count")
    until(lambda: os.path.exists(with_count) and open(with_count).read())
    return int(open(with_count).read())


@pytest.mark.parametrize("text, tag, value", [(TRAIN, "acc", lambda i: i), (PRINT, "loss", lambda i: i + 1.5)],
                         ids=["helper", "log"])
def test_a_daemon_killed_while_points_come_keeps_each_of_them_once(yard, text, tag, value):
    run(yard, text)
    for more in (50, 400, 700):
        until(lambda: count(yard, tag) >= more)
        kill(yard)
        yard.up()
        assert count(yard, tag) >= more, "what was shown is still there"
    total = end(yard)
    yard.await_state(1, "ended")
    assert count(yard, tag) == total
    assert [y for _, y in dots(yard, tag)] == [value(i) for i in range(total)]
    kill(yard)
    yard.up()
    assert count(yard, tag) == total


def test_what_was_written_while_there_was_no_daemon_is_read_at_the_next_start(yard):
    run(yard, TRAIN)
    until(lambda: count(yard, "acc") >= 20)
    kill(yard)
    total = end(yard)
    yard.up()
    yard.await_state(1, "ended")
    assert count(yard, "acc") == total


def test_rm_removes_the_series_of_a_task(yard):
    run(yard, TRAIN)
    until(lambda: count(yard, "acc") >= 20)
    end(yard)
    yard.await_state(1, "ended")
    folder = os.path.join(yard.home, "series", "1")
    assert os.path.isdir(folder)
    yard("rm", "1")
    until(lambda: not os.path.exists(folder))
    assert ask(yard, "/api/v1/tasks/1/series")[0] == 404
