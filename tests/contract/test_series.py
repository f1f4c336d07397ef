"""Metrics: what there is, and ranges of points as a chart reads them (docs/formats/points.md)."""
import json
import math
import struct
import urllib.parse

import pytest

from yard import check

# Two runs of one task: the first fails at step 149, the second begins anew at step 100.
WRITE = r'''
import json, os, sys
attempt = int(os.environ["TRAINYARD_ATTEMPT"])
with open(os.environ["TRAINYARD_OUT"] + "/metrics.jsonl", "a") as file:
    def say(step, time, **metrics):
        file.write(json.dumps({"attempt": attempt, "time": time, "step": step, "metrics": metrics}) + "\n")
    start = 1796040000 + 1000 * attempt
    for step in range(0, 150) if attempt == 1 else range(100, 3100):
        say(step, start + step / 10, loss=1 / (1 + step), **{"a/b ..+#%2F中": step})
    say(step, start + step / 10, loss=0.5)
    for i, value in enumerate(["NaN", "Infinity", "-Infinity"]):
        say(step + i + 1, start + (step + i + 1) / 10, loss=value)
sys.exit(1 if attempt == 1 else 0)
'''


def get(yard, task, **query):
    path = f"/api/v1/tasks/{task}/points?" + urllib.parse.urlencode(query)
    return check("GET", path, yard.near("GET", path))


def decode(body):
    magic, length = struct.unpack_from("<4sI", body)
    assert magic == b"TYP1" and length % 8 == 0
    header = json.loads(body[8:8 + length])
    at = 8 + length

    def take(count):
        nonlocal at
        numbers = struct.unpack_from(f"<{count}d", body, at)
        at += 8 * count
        return numbers

    for part in header["parts"]:
        part["dots"] = list(zip(take(part["given"]), take(part["given"])))
        part["kinds"] = list(zip(take(part["marks"]), take(part["marks"])))
        part["average"] = list(zip(take(part["smooth"]), take(part["smooth"])))
    assert at == len(body)
    return header


def near(value):
    return pytest.approx(value, rel=1e-15)


def points(yard, task, **query):
    answer = get(yard, task, **query)
    assert answer.status == 200 and answer.headers["content-type"] == "application/octet-stream", answer
    return decode(answer.body)


@pytest.fixture(scope="module")
def task(yard, tmp_path_factory):
    script = tmp_path_factory.mktemp("series") / "train.py"
    script.write_text(WRITE)
    task = yard.submit("python3", str(script), retry={"max": 1, "on": "any", "delay": "0s"})
    assert yard.ended(task)["outcome"]["kind"] == "succeeded"
    return task


def test_metrics_are_listed_with_the_extent_of_each_attempt(yard, task):
    path = f"/api/v1/tasks/{task}/series"
    listed = check("GET", path, yard.near("GET", path)).json
    assert listed["version"] == 2 * 150 + 4 + 2 * 3000 + 4
    tags = {item["tag"]: item["parts"] for item in listed["items"]}
    assert sorted(tags) == ["a/b ..+#%2F中", "loss"]
    first, second = tags["loss"]
    assert first == {"attempt": 1, "points": 154, "first_step": 0, "last_step": 152, "last": "-Infinity",
                     "least": near(1 / 150), "most": 1, "nan": 1, "inf": 2}
    assert (second["attempt"], second["points"], second["first_step"], second["last_step"]) == (2, 3004, 100, 3102)


def test_points_of_both_attempts_come_as_numbers(yard, task):
    answer = points(yard, task, tag="loss")
    assert (answer["tag"], answer["x"]) == ("loss", "step") and answer["version"] > 0
    first, second = answer["parts"]
    assert first["exact"] and first["points"] == first["given"] == 153, "a step written twice counts once"
    assert first["dots"][10] == (10, near(1 / 11)) and first["dots"][149] == (149, 0.5)
    assert [x for x, _ in first["dots"]] == list(range(153))
    assert math.isnan(first["dots"][150][1]) and first["dots"][151:] == [(151, math.inf), (152, -math.inf)]
    assert first["kinds"] == [(150, 1), (151, 2), (152, 3)] and first["average"] == []
    assert second["attempt"] == 2 and second["dots"][0] == (100, near(1 / 101))


def test_a_narrow_chart_gets_four_points_a_pixel_at_most(yard, task):
    _, second = points(yard, task, tag="loss", px=50)["parts"]
    assert not second["exact"] and second["points"] == 3003
    assert second["given"] <= 4 * 50 and (3099, 0.5) in second["dots"], "the spike is there"


def test_a_range_has_one_point_beyond_either_end(yard, task):
    first, second = points(yard, task, tag="loss", **{"from": 110.5, "to": 120})["parts"]
    for part in (first, second):
        assert [x for x, _ in part["dots"]] == list(range(110, 122)) and part["points"] == 10


def test_time_and_elapsed_time_are_in_seconds(yard, task):
    first, second = points(yard, task, tag="loss", x="time")["parts"]
    assert first["dots"][0] == (1796041000.0, 1) and second["dots"][0][0] == 1796042010.0
    assert first["points"] == 154, "in time a step written twice is there twice"
    first, _ = points(yard, task, tag="loss", x="elapsed")["parts"]
    assert [round(b[0] - a[0], 6) for a, b in zip(first["dots"], first["dots"][1:])][:100] == [0.1] * 100


def test_the_average_is_over_all_points_and_starts_unbiased(yard, task):
    first, second = points(yard, task, tag="loss", smooth=0.5, px=10)["parts"]
    mean, weights, means = 0, 0, {}
    for step in range(100, 3100):
        mean, weights = 0.5 * mean + 0.5 * (0.5 if step == 3099 else 1 / (1 + step)), 0.5 * weights + 0.5
        means[step] = mean / weights
    assert second["average"][0] == (100, near(1 / 101)) and len(second["average"]) <= 40
    for x, y in second["average"]:
        assert y == pytest.approx(means[x], rel=1e-9)


def test_tags_of_any_kind_are_found(yard, task):
    first, _ = points(yard, task, tag="a/b ..+#%2F中")["parts"]
    assert first["dots"][7] == (7, 7)


@pytest.mark.parametrize("query, field", [
    ({}, "tag"), ({"tag": ""}, "tag"), ({"tag": "x" * 1001}, "tag"), ({"tag": "loss", "x": "epoch"}, "x"),
    ({"tag": "loss", "px": 9}, "px"), ({"tag": "loss", "px": 8001}, "px"), ({"tag": "loss", "smooth": 1}, "smooth"),
    ({"tag": "loss", "smooth": "nan"}, "smooth"), ({"tag": "loss", "from": "inf"}, "from"),
    ({"tag": "loss", "from": 2, "to": 1}, "from"), ({"tag": "loss", "to": "1x"}, "to")])
def test_what_cannot_be_is_refused_with_its_field(yard, task, query, field):
    answer = get(yard, task, **query)
    assert answer.status == 422 and answer.json["field"] == field, answer


def test_an_unknown_metric_is_refused_with_those_there_are(yard, task):
    answer = get(yard, task, tag="los\x1b")
    assert answer.status == 404 and "loss" in answer.json["detail"] and "\x1b" not in answer.json["detail"]
    assert get(yard, yard.submit("true"), tag="loss").status == 404
    assert get(yard, 99999, tag="loss").status == 404
    assert yard.near("GET", "/api/v1/tasks/99999/series").status == 404


def test_a_task_without_metrics_has_an_empty_list(yard):
    path = f"/api/v1/tasks/{yard.submit('true')}/series"
    assert check("GET", path, yard.near("GET", path)).json == {"version": 0, "items": []}
