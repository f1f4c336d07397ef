"""What can never run is refused at once, with all that is wrong with it."""
import json
import os

import pytest

from yard import JSON, check


def ask(yard, path, task, status, **headers):
    answer = check("POST", path, yard.near("POST", path, json.dumps(task).encode(), {**JSON, **headers}))
    assert answer.status == status, answer
    return answer.json


NEW = ["/api/v1/tasks", "/api/v1/tasks/preview"]


def fields(problem):
    assert problem["errors"][0]["field"] == problem["field"] and problem["errors"][0]["detail"] == problem["detail"]
    assert all(one["detail"] for one in problem["errors"])
    return [one["field"] for one in problem["errors"]]


@pytest.mark.parametrize("path", NEW)
def test_all_that_is_wrong_is_said_at_once(yard, path):
    task = {"command": ["true"], "workdir": "/no/such", "name": "12", "resources": {"gpus": 99, "cpus": 60000},
            "limits": {"time": "abc"}, "after": [{"task": "nobody"}, {"task": 123456789}]}
    said = fields(ask(yard, path, task, status=422))
    assert set(said) == {"/name", "/limits/time", "/after/0/task", "/after/1/task", "/resources/gpus", "/resources/cpus",
                         "/workdir"}, said
    both = {"command": ["true"], "workdir": "/tmp", "resources": {"gpus": 99, "cpus": 60000}}
    assert fields(ask(yard, path, both, status=422)) == ["/resources/gpus", "/resources/cpus"]
    assert "errors" not in ask(yard, path, {**both, "resources": {"gpus": 99}}, status=422)


@pytest.mark.parametrize("path", NEW)
def test_a_folder_and_a_program_must_be_there(yard, path, tmp_path):
    def refused(command, workdir, **more):
        problem = ask(yard, path, {"command": command, "workdir": str(workdir), **more}, status=422)
        return fields(problem) if "errors" in problem else [problem["field"]]

    file = tmp_path / "file"
    file.write_text("#!/bin/sh\n")
    assert refused(["true"], "/no/such") == ["/workdir"]
    assert refused(["true"], file) == ["/workdir"]
    assert refused(["no-such-program", "x.py"], tmp_path) == ["/command"]
    assert refused(["no-such-program", "x.py"], "/no/such") == ["/workdir", "/command"]
    assert refused(["./file"], tmp_path) == ["/command"]
    assert refused(["true"], tmp_path, variables={"PATH": str(tmp_path)}) == ["/command"]


def test_a_program_is_looked_for_as_it_will_be_started(yard, tmp_path):
    file = tmp_path / "mine"
    file.write_text("#!/bin/sh\nexit 0\n")
    os.chmod(file, 0o755)
    for command, more in ((["./mine"], {}), (["mine"], {"variables": {"PATH": str(tmp_path) + ":/usr/bin:/bin"}})):
        task = {"command": command, "workdir": str(tmp_path), **more}
        ask(yard, "/api/v1/tasks/preview", task, status=200)
        receipt = ask(yard, "/api/v1/tasks", task, status=201)
        assert yard.ended(receipt["id"])["outcome"]["kind"] == "succeeded"


def test_a_repeat_is_answered_whatever_became_of_the_folder(yard, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    task = {"command": ["true"], "workdir": str(folder), "hold": True}
    first = ask(yard, "/api/v1/tasks", task, status=201, **{"Idempotency-Key": "gone"})
    folder.rmdir()
    again = ask(yard, "/api/v1/tasks", task, status=200, **{"Idempotency-Key": "gone"})
    assert again["id"] == first["id"]
    ask(yard, "/api/v1/tasks/cancel", {"tasks": [first["id"]]}, status=200)


def test_who_has_looked_himself_is_believed(yard):
    task = {"command": ["no-such-program"], "workdir": "/no/such", "hold": True}
    receipt = ask(yard, "/api/v1/tasks?looked=yes", task, status=201)
    ask(yard, "/api/v1/tasks/cancel", {"tasks": [receipt["id"]]}, status=200)
    ask(yard, "/api/v1/tasks?looked=no", task, status=422)
    assert ask(yard, "/api/v1/tasks?looked=perhaps", task, status=422)["field"] == "looked"


def test_a_line_of_many_is_refused_with_all_that_is_wrong_with_it(yard):
    lines = b'{"command":["true"],"workdir":"/tmp"}\n{"command":[],"workdir":"x","name":"12"}\n'
    problem = yard.near("POST", "/api/v1/tasks/bulk", lines, {"Content-Type": "application/x-ndjson"}).json
    assert problem["field"] == "/lines/2"
    assert [one["field"] for one in problem["errors"]] == ["/lines/2/command", "/lines/2/workdir", "/lines/2/name"]
