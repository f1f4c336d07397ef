"""Runs the built-in recipes for real: results, resume, stop, the failure of the demo, no yard.

Needs the Python that sees torch (Debian's python3-torch): python3 -m pytest recipes/tests
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

pytest.importorskip("torch")

RECIPES = pathlib.Path(__file__).resolve().parent.parent
HELPER = RECIPES.parent / "python"
TIMEOUT_S = 120  # only so that a hang ends


class Task:
    """One task of a yard: its attempts share an output folder."""

    def __init__(self, folder):
        self.out = folder / "out"
        self.stop_file = folder / "stop"
        self.out.mkdir()
        self.resume = ""
        self.attempt = 0

    def start(self, recipe, *arguments):
        self.attempt += 1
        return start(recipe, *arguments, TRAINYARD_TASK="12", TRAINYARD_ATTEMPT=str(self.attempt),
                     TRAINYARD_OUT=str(self.out), TRAINYARD_STOP=str(self.stop_file),
                     TRAINYARD_RESUME=self.resume, PYTHONPATH=str(HELPER))

    def run(self, recipe, *arguments):
        return ended(self.start(recipe, *arguments))

    def records(self, name):
        path = self.out / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def checkpoints(self):
        return self.records("checkpoints.jsonl")

    def progress(self, attempt):
        return [record["progress"] for record in self.records("metrics.jsonl")
                if "progress" in record and record["attempt"] == attempt]

    def resume_from_last_checkpoint(self):
        self.resume = self.checkpoints()[-1]["path"]


class Ended:
    def __init__(self, code, output, errors):
        self.code, self.output, self.errors = code, output, errors

    def epochs(self):
        return [int(number) for number in re.findall(r"^epoch (\d+)/", self.output, re.MULTILINE)]

    def result(self):
        return re.search(r"^finished (.*)$", self.output, re.MULTILINE).group(1)


def start(recipe, *arguments, cwd=None, **variables):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("TRAINYARD_") and name not in ("RANK", "PYTHONPATH")}
    environment.update(OMP_NUM_THREADS="1", CUDA_VISIBLE_DEVICES="", PYTHONUNBUFFERED="1",
                       PYTHONDONTWRITEBYTECODE="1", **variables)
    return subprocess.Popen(
        [sys.executable, str(RECIPES / recipe / "train.py"), *arguments], cwd=cwd,
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)


def ended(process):
    output, errors = process.communicate(timeout=TIMEOUT_S)
    return Ended(process.returncode, output, errors)


def wait_for_epoch(process, epoch):
    """Reads the output up to the line that tells the end of that epoch."""
    for line in process.stdout:
        if line.startswith("epoch %d/" % epoch):
            return
    pytest.fail("ended before epoch %d: %s" % (epoch, process.stderr.read()))


def wait_for_checkpoint_after_epoch(process, epoch):
    """The line of epoch N + 1 comes after the checkpoint of epoch N."""
    wait_for_epoch(process, epoch + 1)


@pytest.fixture
def task(tmp_path):
    return Task(tmp_path)


@pytest.mark.parametrize("recipe, expect", [
    ("digits-cnn", "0.97"), ("digits-mlp", "0.95"), ("char-transformer", "2.15")])
def test_it_reaches_its_result(task, recipe, expect):
    run = task.run(recipe, "--expect", expect)

    assert (run.code, run.errors) == (0, "")
    assert len(run.epochs()) == len(task.checkpoints())
    first, last = task.progress(1)[0], task.progress(1)[-1]
    assert first["done"] == 0
    assert last["done"] == last["total"] == task.checkpoints()[-1]["step"]
    losses = [record["metrics"]["loss"] for record in task.records("metrics.jsonl")
              if "loss" in record.get("metrics", {})]
    assert losses[-1] < losses[0]
    assert len(list((task.out / "checkpoints").iterdir())) == 3
    assert task.checkpoints()[-1]["bytes"] == os.stat(task.checkpoints()[-1]["path"]).st_size


def test_a_result_that_is_missed_is_an_error(tmp_path):
    run = ended(start("digits-mlp", "--epochs=1", "--expect=1.01", "--out", str(tmp_path)))
    assert run.code == 1
    assert re.fullmatch(r"error: acc is 0\.\d+, expected at least 1\.01\n", run.errors)


@pytest.mark.parametrize("recipe, arguments", [
    ("digits-mlp", ["--epochs=24"]),
    ("char-transformer", ["--epochs=12", "--steps-per-epoch=6", "--context=16", "--sample=0"]),
])
def test_killed_and_resumed_it_ends_as_if_nothing_had_happened(task, tmp_path, recipe, arguments):
    whole = ended(start(recipe, *arguments, "--out", str(tmp_path / "whole")))

    process = task.start(recipe, *arguments)
    wait_for_checkpoint_after_epoch(process, 1)
    process.kill()
    ended(process)
    task.resume_from_last_checkpoint()
    saved = task.checkpoints()[-1]["step"]
    resumed = task.run(recipe, *arguments)

    steps_per_epoch = task.checkpoints()[0]["step"]
    assert resumed.epochs()[0] == saved // steps_per_epoch + 1
    assert resumed.epochs()[-1] == whole.epochs()[-1]
    assert task.progress(2)[0]["done"] == saved
    assert resumed.result() == whole.result()


def test_a_data_loading_error_happens_once_after_a_checkpoint(task):
    arguments = ["--epochs=3", "--width=8", "--fail-once-at-epoch=2"]
    failed = task.run("digits-cnn", *arguments)

    assert failed.code == 1
    assert failed.epochs() == [1]
    assert [checkpoint["attempt"] for checkpoint in task.checkpoints()] == [1]
    assert failed.errors.startswith("Traceback (most recent call last):\n")
    assert "torch/utils/data" in failed.errors
    assert re.fullmatch(
        r"OSError: \[Errno 5\] Input/output error: '.*digits\.csv\.gz: digits shard \d+'",
        failed.errors.splitlines()[-1])

    task.resume_from_last_checkpoint()
    resumed = task.run("digits-cnn", *arguments)
    assert (resumed.code, resumed.errors) == (0, "")
    assert resumed.epochs() == [2, 3]
    assert task.progress(2)[0]["done"] == task.checkpoints()[0]["step"]


def test_a_data_loading_error_in_a_loader_process_is_told_as_well(tmp_path):
    run = ended(start("digits-cnn", "--epochs=2", "--width=4", "--fail-once-at-epoch=2",
                      "--workers=1", "--out", str(tmp_path)))
    assert run.code == 1
    assert "Caught OSError in DataLoader worker process 0" in run.errors
    assert run.errors.rstrip().splitlines()[-1].startswith("OSError: [Errno 5] Input/output error")


def test_the_failure_needs_a_checkpoint_before_it(tmp_path):
    run = ended(start("digits-cnn", "--fail-once-at-epoch=1", "--out", str(tmp_path)))
    assert run.code == 2
    assert "--fail-once-at-epoch: must be from 2 to the last epoch, not 1" in run.errors


@pytest.mark.parametrize("recipe, arguments", [
    ("digits-cnn", ["--batch-size=34", "--width=8"]),
    ("char-transformer", ["--steps-per-epoch=43", "--context=16", "--width=16", "--sample=0"]),
])
def test_asked_by_the_yard_it_saves_and_stops_in_the_middle_of_an_epoch(
        task, tmp_path, recipe, arguments):
    # An epoch has 43 steps, and the training looks every 5: by then the second epoch has begun.
    # Of six epochs it will not have run to the end before the file is there.
    arguments = ["--epochs=6", *arguments]
    whole = ended(start(recipe, *arguments, "--out", str(tmp_path / "whole")))

    process = task.start(recipe, *arguments)
    wait_for_epoch(process, 1)
    task.stop_file.write_text("device needed by task 41\n")
    stopped = ended(process)
    assert stopped.code == 143
    step = task.checkpoints()[-1]["step"]
    assert 43 < step < 6 * 43
    assert "saved %s\n" % task.checkpoints()[-1]["path"] in stopped.output
    assert re.search(r"^stopped at epoch [2-6] of 6, step %d: device needed by task 41$" % step, stopped.output, re.M)

    task.stop_file.unlink()
    task.resume_from_last_checkpoint()
    resumed = task.run(recipe, *arguments)
    assert resumed.code == 0
    assert task.progress(2)[0]["done"] == step
    assert resumed.output.splitlines()[-2:] == whole.output.splitlines()[-2:]


def test_sigterm_saves_and_stops_without_a_yard(tmp_path):
    process = start("digits-mlp", "--out", str(tmp_path))
    wait_for_epoch(process, 1)
    process.send_signal(signal.SIGTERM)
    stopped = ended(process)
    assert stopped.code == 143
    assert "asked to end" in stopped.output
    assert re.search(r"^saved .*\.pt$", stopped.output, re.MULTILINE)


def test_without_a_yard_and_a_helper_it_trains_into_a_folder_here(tmp_path):
    run = ended(start("digits-mlp", "--epochs=1", cwd=str(tmp_path)))
    assert (run.code, run.errors) == (0, "")
    (checkpoint,) = (tmp_path / "out" / "checkpoints").iterdir()

    resumed = ended(start("digits-mlp", "--epochs=2", "--resume", str(checkpoint),
                          cwd=str(tmp_path)))
    assert resumed.code == 0
    assert resumed.epochs() == [2]
    assert sorted(os.listdir(tmp_path)) == ["out"]
    assert sorted(os.listdir(tmp_path / "out")) == ["checkpoints"]


def test_a_finished_training_resumed_says_its_result_again(tmp_path):
    first = ended(start("digits-mlp", "--epochs=1", "--out", str(tmp_path)))
    (checkpoint,) = (tmp_path / "checkpoints").iterdir()
    again = ended(start("digits-mlp", "--epochs=1", "--out", str(tmp_path),
                        "--resume", str(checkpoint)))
    assert again.code == 0
    assert again.epochs() == []
    assert again.result() == first.result()


@pytest.mark.parametrize("recipe", ["digits-cnn", "digits-mlp", "char-transformer"])
def test_the_recipe_file_and_the_script_agree(recipe):
    yaml = pytest.importorskip("yaml")
    described = yaml.safe_load((RECIPES / recipe / "recipe.yaml").read_text(encoding="utf-8"))
    help_text = " ".join(ended(start(recipe, "--help")).output.split())

    placed = set(re.findall(r"\{(\w+)\}", " ".join(described["command"]))) - {"recipe"}
    assert placed == {name for name, param in described["params"].items() if "default" in param}
    for name, param in described["params"].items():
        option = "--" + name.replace("_", "-")
        assert option in help_text
        assert {"en", "zh-CN"} <= set(param["title"])
        if "default" in param:
            stated = re.search(r"%s \w+ .*?\(default: ([^)]*)\)" % option, help_text).group(1)
            assert float(stated) == param["default"], name
    expect = described["expect"]
    assert "%g is reached with the default values" % (
        expect.get("at_least") or expect.get("at_most")) in help_text
