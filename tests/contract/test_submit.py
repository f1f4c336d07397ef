"""Submits that are repeated, clash or come by the thousand."""
import concurrent.futures
import json

from yard import NDJSON, check

TASK = {"command": ["true"], "workdir": "/tmp"}


def submit(yard, key, task=None):
    return check("POST", "/api/v1/tasks", yard.post("/api/v1/tasks", task or TASK, {"Idempotency-Key": key}))


def events(yard):
    return [e for e in yard.near("GET", "/api/v1/events?limit=10000").json["items"] if e["kind"] == "task.submitted"]


def test_the_same_key_queues_once(yard):
    first, again = submit(yard, "k1"), submit(yard, "k1")
    assert (first.status, again.status) == (201, 200)
    assert first.json["id"] == again.json["id"] and again.json["repeated"] is True
    yard.ended(first.json["id"])
    late = submit(yard, "k1")
    assert late.status == 200 and late.json["id"] == first.json["id"] and late.json["state"] == "ended"
    assert len(events(yard)) == 1


def test_the_order_of_keys_in_the_body_does_not_matter(yard):
    first = submit(yard, "k2", {"command": ["true"], "workdir": "/tmp"})
    again = submit(yard, "k2", {"workdir": "/tmp", "command": ["true"]})
    assert first.json["id"] == again.json["id"]


def test_the_same_key_with_another_task_clashes(yard):
    first = submit(yard, "k3")
    clash = submit(yard, "k3", {**TASK, "name": "other"})
    assert clash.status == 409 and str(first.json["id"]) in clash.json["detail"]


def test_one_key_at_the_same_moment_from_many(yard):
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: submit(yard, "k4"), range(32)))
    assert len({answer.json["id"] for answer in answers}) == 1
    assert sorted(answer.status for answer in answers) == [200] * 31 + [201]


def bulk(yard, lines, headers=None):
    body = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    return check("POST", "/api/v1/tasks/bulk", yard.near("POST", "/api/v1/tasks/bulk", body, {**NDJSON, **(headers or {})}))


def test_a_bulk_is_all_or_nothing_and_names_the_line(yard):
    before = len(events(yard))
    for bad, field in ((b"{", "/lines/3"), (b"[]", "/lines/3"), ({"command": [], "workdir": "/tmp"}, "/lines/3/command"),
                       ({**TASK, "resources": {"gpus": 99}}, "/lines/3/resources/gpus"),
                       ({**TASK, "after": [{"task": "nobody"}]}, "/lines/3/after/0/task")):
        answer = bulk(yard, [TASK, b"", bad, TASK])
        assert answer.status == 422, answer
        assert answer.json["field"] == "/lines/3" and answer.json["message"]["args"]["line"] == 3
        assert answer.json["errors"][0]["field"] == field
    assert len(events(yard)) == before


def test_lines_of_a_bulk_follow_one_another(yard):
    answer = bulk(yard, [{**TASK, "name": "first-line"}, {**TASK, "after": [{"task": "first-line"}]}])
    assert answer.status == 201, answer
    done = yard.ended(answer.json["last"])
    assert done["spec"]["after"] == [{"task": answer.json["first"], "on": "ok"}]
    ring = bulk(yard, [{**TASK, "name": "a", "after": [{"task": "b"}]}, {**TASK, "name": "b", "after": [{"task": "a"}]}])
    assert ring.status == 422


def test_a_bulk_with_a_key_is_queued_once(yard):
    lines = [{**TASK, "hold": True}] * 5
    first, again = (bulk(yard, lines, {"Idempotency-Key": "b1"}) for _ in range(2))
    assert (first.status, again.status) == (201, 200) and first.json == again.json
    assert bulk(yard, lines * 2, {"Idempotency-Key": "b1"}).status == 409


def test_ten_thousand_lines(yard):
    answer = bulk(yard, [{**TASK, "hold": True}] * 10000)
    assert answer.status == 201 and answer.json["count"] == 10000
    counts = yard.near("GET", "/api/v1/status").json["counts"]
    assert counts["held"] >= 10000
    answer = yard.post("/api/v1/tasks/cancel", {"tasks": [f"{answer.json['first']}-{answer.json['last']}"]})
    assert len(answer.json["items"]) == 10000 and all(item["ok"] for item in answer.json["items"])


def test_a_task_may_follow_one_that_has_ended(yard):
    done = yard.submit("true")
    yard.ended(done)
    assert yard.ended(yard.submit("true", after=[{"task": done}]))["outcome"]["kind"] == "succeeded"
    answer = yard.post("/api/v1/tasks", {**TASK, "after": [{"task": done, "on": "fail"}]})
    assert answer.status == 422 and answer.json["field"] == "/after/0/task"
