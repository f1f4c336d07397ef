"""log, progress and checkpoint: what is written, what is refused, what never hurts."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import trainyard

PACKAGE_ROOT = str(pathlib.Path(trainyard.__file__).resolve().parent.parent)


class Scalar:
    """As numpy's and torch's scalars behave: a shape and item()."""

    def __init__(self, value, shape=()):
        self.value, self.shape = value, shape

    def item(self):
        return self.value


# log


def test_log_writes_the_line_of_the_contract(yard):
    trainyard.log({"loss": 0.53, "acc": float("nan")}, step=40)

    (record,) = yard.metrics()
    assert isinstance(record.pop("time"), float)
    assert record == {"attempt": 2, "step": 40, "metrics": {"loss": 0.53, "acc": "NaN"}}
    order = list(json.loads(yard.lines("metrics.jsonl")[0]))
    assert order == ["attempt", "time", "step", "metrics"]


def test_log_writes_infinities_as_text(yard):
    trainyard.log({"up": float("inf"), "down": -float("inf")})
    assert yard.metrics()[0]["metrics"] == {"up": "Infinity", "down": "-Infinity"}


def test_log_leaves_out_a_step_that_was_not_given(yard):
    trainyard.log({"loss": 1})
    assert "step" not in yard.metrics()[0]


def test_log_takes_scalars_of_other_libraries(yard):
    trainyard.log({"a": Scalar(0.5), "b": Scalar(2, (1, 1)), "c": True, "d": 3}, step=0)
    assert yard.metrics()[0]["metrics"] == {"a": 0.5, "b": 2.0, "c": 1.0, "d": 3.0}


def test_log_takes_numpy_scalars(yard):
    numpy = pytest.importorskip("numpy")
    trainyard.log({"a": numpy.float32(0.5), "b": numpy.array([2.0])}, step=numpy.int64(7))
    assert yard.metrics()[0]["metrics"] == {"a": 0.5, "b": 2.0}
    assert yard.metrics()[0]["step"] == 7


def test_log_takes_torch_scalars_with_a_gradient(yard):
    torch = pytest.importorskip("torch")
    trainyard.log({"loss": torch.tensor(0.25, requires_grad=True)}, step=torch.tensor(7))
    assert yard.metrics()[0]["metrics"] == {"loss": 0.25}
    assert yard.metrics()[0]["step"] == 7


def test_log_keeps_names_in_any_language(yard):
    trainyard.log({"损失": 1.0})
    assert "损失".encode() in yard.lines("metrics.jsonl")[0]


def test_log_of_nothing_writes_nothing(yard):
    trainyard.log({})
    assert yard.metrics() == []


@pytest.mark.parametrize("in_a_yard", [True, False])
@pytest.mark.parametrize(
    "metrics, step, error, message",
    [
        ([("loss", 1)], None, TypeError, "metrics must be a dict of names and numbers, not list"),
        ({"loss": "0.5"}, None, TypeError, "metrics['loss'] must be a number, not str"),
        ({"loss": None}, None, TypeError, "metrics['loss'] must be a number, not None"),
        ({"loss": 1j}, None, TypeError, "metrics['loss'] must be a number, not complex"),
        ({"loss": {"a": 1}}, None, TypeError, "metrics['loss'] must be a number, not dict"),
        ({"loss": Scalar(1, (2, 3))}, 1, ValueError, "metrics['loss'] must be one number, not 6"),
        ({"loss": 10**400}, None, ValueError, "metrics['loss'] must be a number: "),
        ({3: 1.0}, None, TypeError, "metrics: a name must be a str, not int"),
        ({"": 1.0}, None, ValueError, "metrics: a name must not be empty"),
        ({"\udc80": 1.0}, None, ValueError, "metrics: a name must be valid Unicode"),
        ({"loss": 1.0}, 1.5, TypeError, "step must be a whole number, not float"),
        ({"loss": 1.0}, True, TypeError, "step must be a whole number, not bool"),
        ({"loss": 1.0}, "3", TypeError, "step must be a whole number, not str"),
        ({"loss": 1.0}, -1, ValueError, "step must be from 0 to 2^63 - 1, not -1"),
        ({"loss": 1.0}, 2**63, ValueError, "step must be from 0 to 2^63 - 1"),
    ],
)
def test_log_names_the_wrong_argument(request, in_a_yard, metrics, step, error, message):
    if in_a_yard:
        request.getfixturevalue("yard")
    with pytest.raises(error) as raised:
        trainyard.log(metrics, step=step)
    assert str(raised.value).startswith(message)


# ranks


def test_only_rank_0_writes(yard, tmp_path):
    file = tmp_path / "model"
    file.write_bytes(b"123")
    yard.environ.setenv("RANK", "1")
    trainyard.log({"loss": 1.0})
    trainyard.progress(1, 2)
    trainyard.checkpoint(file)
    assert (yard.metrics(), yard.checkpoints()) == ([], [])

    yard.environ.setenv("RANK", "0")
    trainyard.log({"loss": 1.0})
    assert len(yard.metrics()) == 1


def test_every_rank_writes_when_asked_to(yard):
    yard.environ.setenv("RANK", "1")
    trainyard.log({"loss/rank1": 1.0}, every_rank=True)
    assert yard.metrics()[0]["metrics"] == {"loss/rank1": 1.0}


# progress


def test_progress_writes_the_line_of_the_contract(yard):
    trainyard.progress(40, total=200)
    (record,) = yard.metrics()
    assert isinstance(record.pop("time"), float)
    assert record == {"attempt": 2, "progress": {"done": 40, "total": 200, "unit": "step"}}


def test_progress_leaves_out_an_unknown_total_and_tells_the_phase(yard):
    trainyard.progress(0.5, unit="epoch", phase="training")
    assert yard.progress() == [{"done": 0.5, "unit": "epoch", "phase": "training"}]


def test_progress_at_every_step_is_written_five_times_a_second(yard, clock):
    for done in range(1, 1001):
        trainyard.progress(done, 2000)
        clock.now += 0.001
    assert 4 <= len(yard.progress()) <= 6
    assert yard.progress()[0]["done"] == 1


def test_progress_that_reaches_the_total_is_written_once(yard, clock):
    for done in (9, 10, 10):
        trainyard.progress(done, 10)
    assert [progress["done"] for progress in yard.progress()] == [9, 10]


def test_progress_of_a_new_phase_is_written_at_once(yard, clock):
    trainyard.progress(1, 10, phase="training")
    trainyard.progress(2, 10, phase="training")
    trainyard.progress(2, 10, phase="validation")
    assert [progress["phase"] for progress in yard.progress()] == ["training", "validation"]


def test_a_checkpoint_brings_the_progress_that_was_held_back(yard, clock, tmp_path):
    file = tmp_path / "model"
    file.write_bytes(b"123")
    for done in (1, 2, 3):
        trainyard.progress(done, 10)
    trainyard.checkpoint(file, step=3)
    trainyard.checkpoint(file, step=3)
    assert [progress["done"] for progress in yard.progress()] == [1, 3]


def test_progress_repeated_is_not_written_again(yard, clock):
    trainyard.progress(1, 10)
    clock.now += 60
    trainyard.progress(1, 10)
    assert len(yard.progress()) == 1


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"done": "1"}, TypeError, "done must be a number, not str"),
        ({"done": -1}, ValueError, "done must be finite and at least 0, not -1.0"),
        ({"done": float("nan")}, ValueError, "done must be finite"),
        ({"done": 1, "total": float("inf")}, ValueError, "total must be finite"),
        ({"done": 1, "unit": None}, TypeError, "unit must be a str, not None"),
        ({"done": 1, "unit": ""}, ValueError, "unit must not be empty"),
        ({"done": 1, "phase": 3}, TypeError, "phase must be a str, not int"),
    ],
)
def test_progress_names_the_wrong_argument(arguments, error, message):
    with pytest.raises(error) as raised:
        trainyard.progress(**arguments)
    assert str(raised.value).startswith(message)


# checkpoint


def test_checkpoint_writes_the_line_of_the_contract(yard, tmp_path, monkeypatch):
    (tmp_path / "model.pt").write_bytes(b"x" * 123)
    monkeypatch.chdir(tmp_path)
    trainyard.checkpoint("model.pt", step=40)

    (record,) = yard.checkpoints()
    assert isinstance(record.pop("time"), float)
    assert record == {"attempt": 2, "step": 40, "path": str(tmp_path / "model.pt"), "bytes": 123}


def test_checkpoint_of_a_folder_counts_all_its_files(yard, tmp_path):
    folder = tmp_path / "checkpoint-40"
    (folder / "shards").mkdir(parents=True)
    (folder / "config.json").write_bytes(b"x" * 10)
    (folder / "shards" / "0").write_bytes(b"x" * 5)
    trainyard.checkpoint(folder)
    assert yard.checkpoints()[0]["bytes"] == 15


def test_checkpoint_that_is_not_there_is_not_reported(yard, tmp_path, capsys):
    trainyard.checkpoint(tmp_path / "none.pt", step=1)
    assert yard.checkpoints() == []
    assert "no checkpoint at %s" % (tmp_path / "none.pt") in capsys.readouterr().err


def test_checkpoint_with_a_name_that_is_not_text_is_not_reported(yard, tmp_path, capsys):
    path = os.fsencode(str(tmp_path)) + b"/\xff"
    open(path, "wb").close()
    trainyard.checkpoint(path)
    assert yard.checkpoints() == []
    assert "must be UTF-8" in capsys.readouterr().err


@pytest.mark.parametrize(
    "path, error, message",
    [
        (None, TypeError, "path must be a str or a path object, not None"),
        (3, TypeError, "path must be a str or a path object, not int"),
        ("", ValueError, "path must not be empty"),
        ("a\0b", ValueError, "path must not contain a NUL character"),
    ],
)
def test_checkpoint_names_the_wrong_argument(path, error, message):
    with pytest.raises(error) as raised:
        trainyard.checkpoint(path)
    assert str(raised.value).startswith(message)


# trouble


def test_without_a_yard_nothing_happens(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trainyard.log({"loss": 1.0}, step=1)
    trainyard.progress(1, 2)
    trainyard.checkpoint("nothing-here", step=1)
    assert list(tmp_path.iterdir()) == []


def test_a_vanished_folder_is_said_once_and_hurts_nothing(yard, capsys):
    yard.out.rmdir()
    for step in range(3):
        trainyard.log({"loss": 1.0}, step=step)
        trainyard.progress(step, 3)
    assert capsys.readouterr().err == (
        "trainyard: cannot write %s: No such file or directory (the training goes on)\n"
        % (yard.out / "metrics.jsonl")
    )


def test_a_full_disk_hurts_nothing(yard, capsys):
    full = pathlib.Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full on this system")
    (yard.out / "metrics.jsonl").symlink_to(full)
    trainyard.log({"loss": 1.0})
    assert "No space left on device" in capsys.readouterr().err


def test_a_closed_stderr_hurts_nothing(yard, monkeypatch):
    yard.out.rmdir()
    monkeypatch.setattr(sys, "stderr", None)
    trainyard.log({"loss": 1.0})


def test_half_a_line_left_by_a_crash_costs_no_other_line(yard):
    (yard.out / "metrics.jsonl").write_bytes(b'{"attempt":1,"ti')
    os.utime(yard.out / "metrics.jsonl", (1764490000, 1764490000))
    trainyard.log({"loss": 1.0})
    trainyard.log({"loss": 2.0})
    half, *whole = yard.lines("metrics.jsonl")
    assert half == b'{"attempt":1,"ti'
    assert [json.loads(line)["metrics"]["loss"] for line in whole] == [1.0, 2.0]


def test_half_a_line_that_another_process_is_writing_is_not_cut(yard):
    (yard.out / "metrics.jsonl").write_bytes(b'{"attempt":1,"ti')
    os.utime(yard.out / "metrics.jsonl", (2**31, 2**31))  # just now, however long it takes to the next line
    trainyard.log({"loss": 1.0})
    assert b"\n" not in (yard.out / "metrics.jsonl").read_bytes()[:-1]


def test_a_strange_attempt_number_counts_as_the_first(yard):
    yard.environ.setenv("TRAINYARD_ATTEMPT", "two")
    trainyard.log({"loss": 1.0})
    assert yard.metrics()[0]["attempt"] == 1


def test_lines_of_many_processes_do_not_mix(yard):
    script = (
        "import sys, trainyard\n"
        "for step in range(200): trainyard.log({'name-' + 'x' * 500: 1.0}, step=step)\n"
    )
    environment = dict(os.environ, PYTHONPATH=PACKAGE_ROOT)
    processes = [
        subprocess.Popen([sys.executable, "-S", "-c", script], env=environment) for _ in range(4)
    ]
    assert [process.wait() for process in processes] == [0, 0, 0, 0]
    assert len(yard.metrics()) == 800


def test_importing_it_loads_no_library(tmp_path):
    script = (
        "import sys, trainyard\n"
        "assert not {'numpy', 'torch'} & set(sys.modules)\n"
        "assert trainyard.resume_path() is None and not trainyard.stop_requested()\n"
    )
    subprocess.run(
        [sys.executable, "-I", "-S", "-W", "error", "-c",
         "import sys; sys.path.insert(0, %r)\n%s" % (PACKAGE_ROOT, script)],
        check=True, cwd=tmp_path,
    )
