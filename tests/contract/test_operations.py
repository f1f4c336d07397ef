"""Every answer of every operation is one that api/openapi.yaml describes."""
import json

import pytest

from yard import JSON, NDJSON, check, operations

SEEN = set()
# The page's files are there only in a program that holds the page, and a live stream is no plain GET.
MAY_BE_ABSENT = ("/api/v1/session", "/api/v1/live", "/assets/x.js", "/favicon.svg", "/favicon.ico")


def ask(yard, method, path, body=None, headers=None, status=None):
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = check(method, path, yard.near(method, path, data, headers or (JSON if method == "POST" else {})))
    if status is not None:
        assert answer.status == status, answer
    if answer.status < 400 or path in MAY_BE_ABSENT:
        SEEN.add((method, path.split("?")[0]))
    return answer


@pytest.fixture(scope="module")
def ended(yard):
    """A task that has failed with 7 after two lines, and a checkpoint's worth of metrics."""
    script = "echo one; echo two; exit 7"
    task = yard.submit("sh", "-c", script, name="seven", tags=["t"], variables={"MY_API_KEY": "hunter2", "LR": "1e-4"})
    return yard.ended(task)


@pytest.fixture(scope="module")
def running(yard):
    task = yard.submit("sh", "-c", "echo begun; exec sleep 600", name="sleeper")
    log = yard.near("GET", f"/api/v1/tasks/{task}/log?wait=60")
    assert log.body == b"begun\n", log
    return task


@pytest.fixture(scope="module")
def waiting(yard, running):
    return yard.submit("true", name="later", after=[{"task": running, "on": "any"}])


def test_metrics(yard):
    task = yard.ended(yard.submit("echo", "step 1/2 loss=0.5"))["id"]
    assert ask(yard, "GET", f"/api/v1/tasks/{task}/series", status=200).json["items"][0]["tag"] == "loss"
    assert ask(yard, "GET", f"/api/v1/tasks/{task}/points?tag=loss", status=200).body.startswith(b"TYP1")
    assert ask(yard, "GET", f"/api/v1/tasks/{task}/lines?from=-1", status=200).json["total"] >= 1
    assert ask(yard, "GET", f"/api/v1/tasks/{task}/search?q=no-such-word", status=200).json["next"] is None
    files = ask(yard, "GET", f"/api/v1/tasks/{task}/files", status=200).json["items"]
    assert ask(yard, "GET", f"/api/v1/tasks/{task}/file?path={files[0]['path']}", status=200).status == 200


def test_public_routes(yard):
    assert ask(yard, "GET", "/healthz", status=200).json == {"ok": True}
    page = ask(yard, "GET", "/", status=200)
    if b"<script" not in page.body:  # a program without the built page
        assert b"trainyard open" in page.body and "调度场".encode() in page.body
    for path in ("/welcome", "/new", "/tasks", "/tasks/12", "/tasks/12?tab=log"):
        assert ask(yard, "GET", path, status=200).body == page.body
    for path in ("/assets/x.js", "/favicon.svg", "/favicon.ico"):
        ask(yard, "GET", path)


def test_the_door(yard):
    assert ask(yard, "GET", "/api/v1/session", status=200).json["signed_in"] is True
    ask(yard, "POST", "/api/v1/session", {"code": "x"}, status=401)
    code = ask(yard, "POST", "/api/v1/session/code", {}, status=200).json["code"]
    ask(yard, "POST", "/api/v1/session", {"code": code}, status=200)
    ask(yard, "DELETE", "/api/v1/session", b"", JSON, status=200)
    ask(yard, "GET", "/api/v1/live", status=426)


def test_the_doctor(yard):
    english = ask(yard, "GET", "/api/v1/doctor", status=200).json["items"]
    chinese = ask(yard, "GET", "/api/v1/doctor", headers={"Accept-Language": "zh"}, status=200).json["items"]
    assert [finding["check"] for finding in english] == [finding["check"] for finding in chinese]
    assert {"state_folder", "daemon", "shim", "machine", "python"} <= {finding["check"] for finding in english}
    running, = (finding for finding in english if finding["check"] == "daemon")
    assert running["level"] == "good" and str(yard.process.pid) in running["text"]
    assert english[0]["text"] != chinese[0]["text"]


def test_status_and_devices(yard, running):
    status = ask(yard, "GET", "/api/v1/status", status=200).json
    assert status["pid"] == yard.process.pid and status["counts"]["devices"] == 2
    listed = ask(yard, "GET", "/api/v1/devices", status=200).json
    assert status["devices"] == listed["items"] and [d["label"] for d in listed["items"]] == ["cpu:0", "cpu:1"]
    mine, = (lease for device in listed["items"] for lease in device["leases"] if lease["task"] == running)
    assert (mine["task_name"], mine["share"], mine["asked"], mine["mode"]) == ("sleeper", 1, 1, "whole")
    assert listed["probe"]["state"] in ("none", "good", "no_library", "no_driver", "mismatch", "no_permission", "failing")


def free_device(yard):
    devices = ask(yard, "GET", "/api/v1/devices").json["items"]
    return next(device["label"] for device in devices if device["state"] == "free")


def device_called(yard, label):
    return next(device for device in ask(yard, "GET", "/api/v1/devices").json["items"] if device["label"] == label)


def test_devices_are_held_and_released(yard, running):
    label = free_device(yard)
    answer = ask(yard, "POST", "/api/v1/devices/hold", {"devices": [label, "GPU77"], "until": "2261-01-01T00:00:00Z"}, status=200)
    done, unknown = answer.json["items"]
    assert done == {"device": label, "ok": True}
    assert not unknown["ok"] and unknown["device"] == "GPU77" and label in unknown["problem"]["detail"]
    device = device_called(yard, label)
    assert (device["state"], device["usable"], device["held_until"]) == ("held", False, "2261-01-01T00:00:00.000Z")
    assert device["reason"]["text"]
    task = yard.submit("true")
    assert ask(yard, "GET", f"/api/v1/tasks/{task}/why").json["reason"]["text"]
    assert ask(yard, "POST", "/api/v1/devices/release", {"devices": [label]}, status=200).json["items"] == [{"device": label, "ok": True}]
    assert yard.ended(task)["outcome"]["kind"] == "succeeded"
    device = device_called(yard, label)
    assert (device["usable"], device["reason"], device["held_until"]) == (True, None, None)


@pytest.mark.parametrize("body,field", [
    ({}, "/devices"),
    ({"devices": []}, "/devices"),
    ({"devices": "0"}, "/devices"),
    ({"devices": ["0", ""]}, "/devices/1"),
    ({"devices": ["0"], "until": "2020-01-01T00:00:00Z"}, "/until"),
    ({"devices": ["0"], "until": "soon"}, "/until"),
    ({"devices": ["0"], "for": 3}, "/for"),
])
def test_a_bad_hold_names_its_field(yard, body, field):
    assert ask(yard, "POST", "/api/v1/devices/hold", body, status=422).json["field"] == field


def test_two_tasks_share_a_device(yard, running):
    tasks = [yard.submit("sh", "-c", "echo begun; exec sleep 600", resources={"share": share}) for share in ("0.5", 0.25)]
    for task in tasks:
        assert yard.near("GET", f"/api/v1/tasks/{task}/log?wait=60").body == b"begun\n"
    shown = [ask(yard, "GET", f"/api/v1/tasks/{task}").json for task in tasks]
    assert [task["share"] for task in shown] == ["0.5", "0.25"] and not any(task["frozen"] for task in shown)
    assert [task["spec"]["resources"]["share"] for task in shown] == ["0.5", "0.25"]
    device = next(d for d in ask(yard, "GET", "/api/v1/devices").json["items"] if d["state"] == "shared")
    leases = {lease["task"]: lease for lease in device["leases"]}
    assert [leases[task]["asked"] for task in tasks] == [0.5, 0.25]
    assert {lease["mode"] for lease in leases.values()} == {"together"}
    assert round(sum(lease["share"] for lease in leases.values()), 3) <= 1
    ask(yard, "POST", "/api/v1/tasks/cancel", {"tasks": tasks})
    for task in tasks:
        yard.ended(task)


def test_ranks_have_logs_and_ends_of_their_own(yard, running):
    task = yard.submit("sh", "-c", "echo rank $RANK of $WORLD_SIZE; exit $((3 - RANK))", ranks=True)
    done = yard.ended(task)
    attempt = done["attempts"][0]
    assert attempt["processes"] == 1 and attempt["ranks"] == [{"rank": 0, "exit_code": 3, "signal": None}]
    for query in ("", "?rank=0"):
        log = ask(yard, "GET", f"/api/v1/tasks/{task}/log{query}", status=200)
        assert (log.body, log.headers["x-rank"], log.headers["x-ranks"]) == (b"rank 0 of 1\n", "0", "1")
    ask(yard, "GET", f"/api/v1/tasks/{task}/log?rank=1", status=404)
    tail = ask(yard, "GET", f"/api/v1/tasks/{task}/tail?rank=0", status=200).json
    assert (tail["rank"], tail["lines"]) == (0, ["rank 0 of 1"])
    assert attempt["log_path"].endswith("/log.0") and done["log_path"] == attempt["log_path"]


def test_one_task_in_every_state(yard, ended, running, waiting):
    for task in (ended["id"], running, waiting, "seven", "@last"):
        ask(yard, "GET", f"/api/v1/tasks/{task}", status=200)
        ask(yard, "GET", f"/api/v1/tasks/{task}/why", status=200)
        ask(yard, "GET", f"/api/v1/tasks/{task}/log", status=200)
        ask(yard, "GET", f"/api/v1/tasks/{task}/tail", status=200)
        ask(yard, "GET", f"/api/v1/tasks/{task}/head", status=200)
    assert ended["outcome"]["exit_code"] == 7
    assert ended["outcome"]["signal"] is None
    assert len(ended["attempts"]) == 1
    reason = ask(yard, "GET", f"/api/v1/tasks/{waiting}/why").json["reason"]
    assert reason["text"]


def test_a_wait_for_the_end_answers_at_its_time(yard, running):
    answer = ask(yard, "GET", f"/api/v1/tasks/{running}?wait=ended&timeout=0.05", status=200)
    assert answer.json["state"] == "running"


def test_logs_by_byte_range(yard, ended):
    log = ask(yard, "GET", f"/api/v1/tasks/{ended['id']}/log?offset=4&limit=3", status=200)
    assert log.body == b"two"
    assert log.headers["x-log-size"] == "8" and log.headers["x-log-ended"] == "true"
    assert ask(yard, "GET", f"/api/v1/tasks/{ended['id']}/log?offset=-4").body == b"two\n"
    assert ask(yard, "GET", f"/api/v1/tasks/{ended['id']}/log?offset=8&wait=60").body == b""
    assert ask(yard, "GET", f"/api/v1/tasks/{ended['id']}/tail").json["lines"] == ["one", "two"]
    ask(yard, "GET", f"/api/v1/tasks/{ended['id']}/log?attempt=9", status=404)
    assert "x-rank" not in log.headers and "x-ranks" not in log.headers
    assert ask(yard, "GET", f"/api/v1/tasks/{ended['id']}/tail").json["rank"] is None
    assert ask(yard, "GET", f"/api/v1/tasks/{ended['id']}/log?rank=0", status=404).json["field"] == "rank"
    assert ended["attempts"][0]["processes"] == 1 and ended["attempts"][0]["ranks"] == []


def test_secrets_are_masked(yard, ended):
    answer = ask(yard, "GET", f"/api/v1/tasks/{ended['id']}")
    assert b"hunter2" not in answer.body
    assert answer.json["spec"]["variables"]["LR"] == "1e-4"


def test_lists_in_every_state_and_in_pages(yard, ended, running, waiting):
    for state in ("open", "ended", "all", "waiting", "held", "running", "succeeded", "failed", "cancelled", "timeout", "preempted", "lost"):
        ask(yard, "GET", f"/api/v1/tasks?state={state}", status=200)
    ids = lambda answer: [item["id"] for item in answer.json["items"]]
    assert ended["id"] in ids(ask(yard, "GET", "/api/v1/tasks?state=failed&tag=t"))
    assert running in ids(ask(yard, "GET", "/api/v1/tasks?state=running"))
    whole = ids(ask(yard, "GET", "/api/v1/tasks?state=all"))
    paged, query = [], "/api/v1/tasks?state=all&limit=1"
    following = ""
    while following is not None:
        answer = ask(yard, "GET", query + ("&" + following if following else ""), status=200)
        paged += ids(answer)
        following = answer.json["next"]
    assert paged == whole


def test_events(yard, ended):
    first = ask(yard, "GET", "/api/v1/events?limit=2", status=200).json
    assert [event["seq"] for event in first["items"]] == [1, 2] and first["next"] == 2
    everything = ask(yard, "GET", "/api/v1/events?limit=10000").json
    assert "task.ended" in [event["kind"] for event in everything["items"]]
    nothing = ask(yard, "GET", f"/api/v1/events?since={everything['next'] + 1000000}&wait=0.05", status=200).json
    assert nothing["items"] == []


def test_actions(yard, running):
    held = yard.submit("true", name="held-one", hold=True)
    for verb, expected in (("hold", True), ("priority", True), ("retry", False), ("remove", False), ("release", True)):
        body = {"tasks": [held]} | ({"priority": "high"} if verb == "priority" else {})
        answer = ask(yard, "POST", f"/api/v1/tasks/{verb}", body, status=200)
        assert answer.json["items"][0]["ok"] is expected, (verb, answer)
    yard.ended(held)
    assert ask(yard, "POST", "/api/v1/tasks/retry", {"tasks": ["held-one"]}).json["items"][0]["ok"]
    yard.ended(held)
    assert ask(yard, "POST", "/api/v1/tasks/remove", {"tasks": [str(held)]}).json["items"][0]["ok"]
    ask(yard, "GET", f"/api/v1/tasks/{held}", status=404)
    stopped = yard.submit("sleep", "600", name="stop-me", hold=True)
    answer = ask(yard, "POST", "/api/v1/tasks/cancel", {"tasks": ["stop-me", f"{stopped}-{stopped + 50}", "nobody"]}, status=200)
    assert sorted((str(item["id"]), item["ok"]) for item in answer.json["items"]) == [(str(stopped), True), ("nobody", False)]
    assert yard.ended(stopped)["outcome"]["kind"] == "cancelled"


def test_a_task_goes_first(yard, running):
    ask(yard, "POST", "/api/v1/queue/pause", {})
    early, late = yard.submit("true", priority=50), yard.submit("true", priority="low")
    order = lambda: [item["id"] for item in ask(yard, "GET", "/api/v1/tasks?state=waiting").json["items"] if item["id"] in (early, late)]
    assert order() == [early, late]
    assert ask(yard, "POST", "/api/v1/tasks/priority", {"tasks": [late], "first": True}, status=200).json["items"][0]["ok"]
    assert order() == [late, early]
    for body, field in (({"tasks": [late], "first": True, "priority": 1}, "/first"), ({"tasks": [late], "first": False}, "/priority")):
        assert ask(yard, "POST", "/api/v1/tasks/priority", body, status=422).json["field"] == field
    assert ask(yard, "POST", "/api/v1/tasks/hold", {"tasks": [late], "first": True}, status=422).json["field"] == "/first"
    ask(yard, "POST", "/api/v1/queue/resume", {})
    for task in (early, late):
        yard.ended(task)


def test_the_queue(yard):
    assert ask(yard, "POST", "/api/v1/queue/pause", {}, status=200).json == {"paused": True}
    assert ask(yard, "GET", "/api/v1/status").json["queue"]["paused"] is True
    assert ask(yard, "POST", "/api/v1/queue/resume", {}, status=200).json == {"paused": False}


def test_submits(yard):
    ask(yard, "POST", "/api/v1/tasks", {"command": ["true"], "workdir": "/tmp"}, status=201)
    lines = b'{"command":["true"],"workdir":"/tmp"}\n' * 3
    assert "name" in ask(yard, "POST", "/api/v1/tasks/preview", {"command": ["true"], "workdir": "/tmp"}, status=200).json
    answer = ask(yard, "POST", "/api/v1/tasks/bulk", lines, NDJSON, status=201).json
    assert answer["count"] == 3 and answer["last"] == answer["first"] + 2


@pytest.mark.parametrize("body,field", [
    ({"workdir": "/tmp"}, "/command"),
    ({"command": [], "workdir": "/tmp"}, "/command"),
    ({"command": ["true"]}, "/workdir"),
    ({"command": ["true"], "workdir": "relative"}, "/workdir"),
    ({"command": ["true"], "workdir": "/tmp", "resources": {"gpus": 99}}, "/resources/gpus"),
    ({"command": ["true"], "workdir": "/tmp", "resources": {"gpu": 1}}, "/resources/gpu"),
    ({"command": ["true"], "workdir": "/tmp", "name": "12"}, "/name"),
    ({"command": ["true"], "workdir": "/tmp", "after": [{"task": "nobody"}]}, "/after/0/task"),
    ({"command": ["true"], "workdir": "/tmp", "after": [{"task": 123456789}]}, "/after/0/task"),
    ({"command": ["true"], "workdir": "/tmp", "limits": {"time": "soon"}}, "/limits/time"),
    ({"command": ["true"], "workdir": "/tmp", "resources": {"share": "half"}}, "/resources/share"),
    ({"command": ["true"], "workdir": "/tmp", "resources": {"share": "0.5:turns:2h"}}, "/resources/share"),
    ({"command": ["true"], "workdir": "/tmp", "resources": {"share": "0.5:turns", "gpus": 2}}, "/resources/share"),
    ({"command": ["true"], "workdir": "/tmp", "resources": {"share": "0.5:turns"}, "ranks": True}, "/resources/share"),
    ({"command": ["true"], "workdir": "/tmp", "resources": {"share": "0.5", "exclusive": True}}, "/resources/exclusive"),
    ({"command": ["true"], "workdir": "/tmp", "resources": {"gpus": 0, "gpu_memory": "1G"}}, "/resources/gpu_memory"),
    ({"command": ["true"], "workdir": "/tmp", "resources": {"gpu_memory": "9000T"}}, "/resources/gpu_memory"),
    ({"command": ["true"], "workdir": "/tmp", "resources": {"gpus": 0}, "ranks": True}, "/ranks"),
])
def test_a_bad_task_names_its_field(yard, body, field):
    answer = ask(yard, "POST", "/api/v1/tasks", body, status=422)
    assert answer.json["field"] == field


def test_problems_speak_chinese_when_asked(yard):
    answer = check("GET", "/api/v1/tasks/99999", yard.near("GET", "/api/v1/tasks/99999", headers={"Accept-Language": "zh-CN,en;q=0.5"}))
    assert answer.status == 404 and "任务" in answer.json["detail"]


def test_bad_parameters_and_bodies(yard):
    for path in ("/api/v1/tasks?limit=x", "/api/v1/tasks?stat=open", "/api/v1/events?since=-1", "/api/v1/tasks/1/log?wait=1e9"):
        ask(yard, "GET", path, status=422)
    ask(yard, "POST", "/api/v1/tasks", b"{", status=400)
    ask(yard, "POST", "/api/v1/tasks", b"[" * 100000, status=400)
    ask(yard, "POST", "/api/v1/tasks/cancel", {}, status=422)
    ask(yard, "POST", "/api/v1/tasks/priority", {"tasks": [1]}, status=422)


def test_ends_last_and_leaves_no_operation_unseen(yard):
    ask(yard, "POST", "/api/v1/tasks/cancel", {"all": True}, status=200)
    ask(yard, "POST", "/api/v1/down", {}, status=200)
    yard.process.wait(30)
    missed = []
    for method, path, _ in operations():
        pattern = path.split("/")
        fits = lambda seen: seen[0] == method and len(seen[1].split("/")) == len(pattern) and all(
            p == w or p.startswith("{") for p, w in zip(pattern, seen[1].split("/")))
        if not any(fits(seen) for seen in SEEN):
            missed.append(f"{method} {path}")
    assert not missed
