"""Lines of a log, the search in it, files of a task, a preview, and places in the queue."""
import json
import os

import pytest

from yard import JSON, check


def ask(yard, method, path, body=None, status=200):
    data = None if body is None else json.dumps(body).encode()
    answer = check(method, path, yard.near(method, path, data, JSON if method == "POST" else {}))
    assert answer.status == status, answer
    return answer


SCRIPT = r"""
printf 'Epoch 1\r 50%%\r100%%   \n'
printf '\033[31mLoss\033[0m is \033]0;title\007nan\n'
printf '<img src=x onerror=alert(1)>\n'
printf 'broken \377 \001\n'
mkdir -p "$TRAINYARD_OUT/run"
echo weights > "$TRAINYARD_OUT/run/model.pt"
ln -s /etc/passwd "$TRAINYARD_OUT/link"
mkfifo "$TRAINYARD_OUT/pipe"
"""


@pytest.fixture(scope="module")
def done(yard):
    task = yard.submit("sh", "-c", SCRIPT, variables={"MY_API_KEY": "hunter2"})
    yard.ended(task)
    return task


def texts(answer):
    return [item["text"] for item in answer.json["items"]]


def test_lines_are_those_of_a_terminal(yard, done):
    answer = ask(yard, "GET", f"/api/v1/tasks/{done}/lines")
    assert texts(answer) == ["100%", "\x1b[0;31mLoss\x1b[0m is nan", "<img src=x onerror=alert(1)>", "broken \ufffd"]
    assert {key: answer.json[key] for key in ("attempt", "rank", "first", "total", "whole", "ended")} == {
        "attempt": 1, "rank": None, "first": 0, "total": 4, "whole": True, "ended": True}
    assert texts(ask(yard, "GET", f"/api/v1/tasks/{done}/lines?from=-1")) == ["broken \ufffd"]
    assert texts(ask(yard, "GET", f"/api/v1/tasks/{done}/lines?from=1&count=1&attempt=1")) == ["\x1b[0;31mLoss\x1b[0m is nan"]
    assert ask(yard, "GET", f"/api/v1/tasks/{done}/lines?count=0", status=422).json["field"] == "count"
    ask(yard, "GET", f"/api/v1/tasks/{done}/lines?attempt=9", status=404)
    ask(yard, "GET", f"/api/v1/tasks/{done}/lines?rank=0", status=404)
    ask(yard, "GET", "/api/v1/tasks/4711/lines", status=404)


def test_lines_before_the_first_attempt(yard):
    held = yard.submit("true", hold=True)
    answer = ask(yard, "GET", f"/api/v1/tasks/{held}/lines").json
    assert (answer["attempt"], answer["total"], answer["whole"], answer["ended"]) == (0, 0, True, False)
    assert ask(yard, "GET", f"/api/v1/tasks/{held}/search?q=x").json == {"items": [], "next": None}
    ask(yard, "POST", "/api/v1/tasks/cancel", {"tasks": [held]})


def test_search(yard, done):
    answer = ask(yard, "GET", f"/api/v1/tasks/{done}/search?q=loss").json
    assert answer == {"items": [{"line": 1, "text": "Loss is nan"}], "next": None}
    assert texts(ask(yard, "GET", f"/api/v1/tasks/{done}/search?q=loss&case=true")) == []
    assert texts(ask(yard, "GET", f"/api/v1/tasks/{done}/search?q=%5E%5B0-9%5D%2B%25&regex=true")) == ["100%"]
    assert ask(yard, "GET", f"/api/v1/tasks/{done}/search?q=n&limit=1").json["next"] == 2
    for query in ("q=(&regex=true", "q=", "", "q=" + 1001 * "x"):
        assert ask(yard, "GET", f"/api/v1/tasks/{done}/search?{query}", status=422).json["field"] == "q"


def test_files_are_plain_ones_and_no_secrets(yard, done):
    answer = ask(yard, "GET", f"/api/v1/tasks/{done}/files").json
    paths = {item["path"]: item for item in answer["items"]}
    assert "out/run/model.pt" in paths and "attempts/1/log" in paths
    assert not [path for path in paths if path.split("/")[-1] in ("link", "pipe", "spec", "slot", "decision", "ctl.sock")]
    assert (paths["out/run/model.pt"]["bytes"], paths["out/run/model.pt"]["where"]) == (8, "output")
    assert paths["attempts/1/log"]["where"] == "attempt"
    for path in paths:
        ask(yard, "GET", f"/api/v1/tasks/{done}/file?path={path}")
    ask(yard, "GET", "/api/v1/tasks/4711/files", status=404)


def test_a_file_is_an_attachment(yard, done):
    answer = ask(yard, "GET", f"/api/v1/tasks/{done}/file?path=out/run/model.pt&offset=1&limit=3")
    assert answer.body == b"eig"
    headers = {name.lower(): value for name, value in dict(answer.headers).items()}
    assert headers["content-disposition"] == "attachment; filename*=UTF-8''model.pt"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert headers["x-file-size"] == "8"


@pytest.mark.parametrize("path", [
    "..%2f..%2fyard.db", "out/../../yard.db", "out/%252e%252e/%252e%252e/yard.db", "%2fetc%2fpasswd", "out/..",
    "attempts/1/spec", "attempts/1/slot", "attempts/1/decision", "attempts/9/log", "out/run", "out/none"])
def test_no_path_leads_elsewhere(yard, done, path):
    answer = check("GET", "/api/v1/tasks/1/file", yard.near("GET", f"/api/v1/tasks/{done}/file?path={path}"))
    assert answer.status in (403, 404), answer


def test_a_link_is_not_followed(yard, done):
    for path in ("out/link", "out/pipe"):
        ask(yard, "GET", f"/api/v1/tasks/{done}/file?path={path}", status=403)


def test_a_preview_says_what_the_receipt_says(yard):
    task = {"command": ["python3", "train.py"], "workdir": "/", "resources": {"gpus": 1}}
    before = ask(yard, "GET", "/api/v1/tasks?state=all").json["items"]
    seen = ask(yard, "POST", "/api/v1/tasks/preview", task).json
    assert seen["starts_now"] and seen["name"] == "train" and seen["summary"]["starts"] is None
    assert len(ask(yard, "GET", "/api/v1/tasks?state=all").json["items"]) == len(before)
    receipt = ask(yard, "POST", "/api/v1/tasks", {**task, "command": ["true"], "name": "train"}, status=201).json
    assert seen["summary"]["retry"] == receipt["summary"]["retry"]
    assert seen["summary"]["environment"] == receipt["summary"]["environment"]
    yard.ended(receipt["id"])
    held = ask(yard, "POST", "/api/v1/tasks/preview", {**task, "hold": True}).json
    assert not held["starts_now"] and held["summary"]["starts"]["text"]
    assert ask(yard, "POST", "/api/v1/tasks/preview", {**task, "resources": {"gpus": 99}}, status=422).json["field"] == "/resources/gpus"
    assert ask(yard, "POST", "/api/v1/tasks/preview", {**task, "after": [{"task": "nobody"}]}, status=422).json["field"] == "/after/0/task"


def test_tasks_are_moved_in_the_queue(yard):
    ask(yard, "POST", "/api/v1/queue/pause", {})
    tasks = [yard.submit("true") for _ in range(5)]
    a, b, c, d, e = tasks

    def order(limit=1000):
        ids, query = [], ""
        while query is not None:
            page = ask(yard, "GET", f"/api/v1/tasks?state=waiting&limit={limit}{query}").json
            ids += [item["id"] for item in page["items"]]
            query = page["next"] and "&" + page["next"]
        return [id for id in ids if id in tasks]

    def move(*ids, **where):
        return ask(yard, "POST", "/api/v1/tasks/priority", {"tasks": list(ids), **where}).json["items"]

    assert order() == tasks
    assert move(e, before=b) == [{"id": e, "ok": True}]
    assert order() == [a, e, b, c, d]
    assert all(item["ok"] for item in move(a, b, after=d))
    assert order() == [e, c, d, a, b] == order(2)
    ask(yard, "POST", "/api/v1/tasks/priority", {"tasks": [c], "priority": 60})
    move(a, after=c)
    assert order() == [c, a, e, d, b]
    assert ask(yard, "GET", f"/api/v1/tasks/{a}").json["priority"] == 60

    ended = yard.submit("true", hold=True)
    ask(yard, "POST", "/api/v1/tasks/cancel", {"tasks": [ended]})
    problem = move(a, before=ended)[0]["problem"]
    assert problem["status"] == 409 and problem["field"] == "/before" and str(ended) in problem["detail"]
    for body in ({"before": a, "after": b}, {"before": a, "first": True}, {"after": a, "priority": 1}, {"before": "x"}):
        ask(yard, "POST", "/api/v1/tasks/priority", {"tasks": [c], **body}, status=422)
    ask(yard, "POST", "/api/v1/queue/resume", {})
    for task in tasks:
        yard.ended(task)
