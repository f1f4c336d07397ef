"""Lines of long logs, files and places in the queue, through the real daemon."""
import http.client
import json
import os
import signal
import socket

import pytest

from yarding import DEADLINE, Yard, until

MIB = 1 << 20
LINES = "seq -f %063.0f 0 3276799"  # 200 MiB; a line of 64 bytes says where it stands
COUNT = 3276800


def get(yard, path):
    """Over the socket, as other programs ask."""
    class Local(http.client.HTTPConnection):
        def connect(self):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.connect(os.path.join(yard.home, "sock"))

    connection = Local("localhost", timeout=DEADLINE)
    connection.request("GET", "/api/v1/tasks/" + path)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    assert answer.status == 200, body
    return body


def texts(answer):
    return [item["text"] for item in answer["items"]]


def memory_peak(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(file.read().split("VmHWM:")[1].split()[0]) * 1024


@pytest.fixture
def yard(tmp_path):
    yard = Yard(tmp_path)
    yard.up("--devices", "cpu:1")
    yield yard
    yard("down", "--cancel", code=None)


def test_lines_of_200_mib_come_by_number_in_little_memory(yard):
    yard("run", "--wait", "-q", "sh", "-c", LINES)
    before = memory_peak(yard.pid())
    tail = get(yard, "1/lines?from=-3")
    assert [int(text) for text in texts(tail)] == [COUNT - 3, COUNT - 2, COUNT - 1], "the right ones, counted or not"
    assert tail["size"] == 200 * MIB
    whole = until(lambda: (found := get(yard, "1/lines?from=-3"))["whole"] and found)
    assert (whole["total"], whole["first"], whole["ended"]) == (COUNT, COUNT - 3, True)
    assert whole["items"] == tail["items"]
    for line in (0, 1, 99_999, 1_638_400, COUNT - 2000):
        answer = get(yard, f"1/lines?from={line}&count=2000")
        assert [int(text) for text in texts(answer)] == list(range(line, line + 2000))
    found, start = [], 0
    while start is not None and not found:
        answer = get(yard, f"1/search?q=3000000&from={start}")
        found, start = answer["items"], answer["next"]
    assert [int(item["text"]) for item in found] == [3_000_000] == [item["line"] for item in found]
    assert memory_peak(yard.pid()) - before < 64 * MIB


def test_a_bar_that_runs_is_one_line_that_changes(yard):
    script = ("i=0; while [ ! -e go ]; do i=$((i+1)); printf '\\r step %d of many' $i; sleep 0.01; done; "
              "printf '\\n\\033[32mover\\033[0m\\n'")
    yard("run", "-q", "sh", "-c", script)
    first = until(lambda: texts(get(yard, "1/lines")))
    assert len(first) == 1
    until(lambda: (now := texts(get(yard, "1/lines"))) != first and len(now) == 1)
    with open(os.path.join(yard.work, "go"), "w"):
        pass
    yard("wait", "1")
    last = get(yard, "1/lines")
    assert len(last["items"]) == 2 and last["items"][1]["text"] == "\x1b[0;32mover\x1b[0m" and last["ended"]


def test_a_place_in_the_queue_outlives_the_daemon(yard):
    yard("run", "-q", "sh", "-c", 'while [ ! -e go ]; do sleep 0.05; done')
    for _ in range(4):
        yard("run", "-q", "true")

    def order():
        return [item["id"] for item in yard.json("ls")["items"] if item["state"] == "waiting"]

    assert "5" in yard("priority", "--before", "2", "5").out
    assert order() == [5, 2, 3, 4]
    yard("priority", "--after", "4", "5", "2")
    assert order() == [3, 4, 5, 2]
    pid = yard.pid()
    os.kill(pid, signal.SIGKILL)
    until(lambda: not os.path.exists(f"/proc/{pid}"))
    yard.up("--devices", "cpu:1")
    assert order() == [3, 4, 5, 2]
    assert "1" in yard("priority", "--before", "1", "3", code=None).err, "it runs, so it has no place"
    assert "two" not in yard("priority", "--before", "two", "3", code=2).out
    with open(os.path.join(yard.work, "go"), "w"):
        pass
    for task in "2345":
        yard("wait", task)
    started = {task: yard.task(task)["started_at"] for task in "2345"}
    assert sorted("2345", key=started.get) == ["3", "4", "5", "2"]
