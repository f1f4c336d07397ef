"""Fail points are named once and at every step, cost nothing unless asked for, and at none of them is anything lost."""
import collections
import fcntl
import os
import subprocess
import sys

import pytest

from yarding import BIN, ROOT, until

CHAOS = os.path.join(ROOT, "tools", "chaos")
sys.path.insert(0, CHAOS)
import points  # noqa: E402

STEPS = {
    "daemon": ("submit", "commit", "prepare", "launch", "run", "freeze", "stop", "exit", "acknowledge", "adopt"),
    "shim": ("launch", "run", "freeze", "stop", "exit"),
}


def chaos(*words):
    """The closing line of a run that found nothing wrong."""
    done = subprocess.run([sys.executable, "-B", CHAOS, *words], env={**os.environ, "TRAINYARD_BIN": BIN},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-6000:] + done.stdout
    return dict(word.split("=") for word in done.stdout.splitlines()[-1].split())


def variables_of(pid):
    with open(f"/proc/{pid}/environ", "rb") as file:
        return [word for word in file.read().split(b"\0") if word]


def has_open(pid, path):
    try:
        return any(os.path.realpath(f"/proc/{pid}/fd/{fd}") == path for fd in os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False


def shims_of(yard):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                line = file.read()
        except OSError:
            continue
        if b"trainyard-shim" in line and yard.home.encode() in line:
            found.append(pid)
    return found


def test_no_two_fail_points_have_the_same_name():
    counts = collections.Counter(points.names())
    assert [name for name, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("step", STEPS["daemon"])
def test_every_step_in_the_daemon_has_fail_points(step):
    assert any(name.startswith(step + ".") for name in points.names())


@pytest.mark.parametrize("step", STEPS["shim"])
def test_every_step_in_the_supervisor_has_fail_points(step):
    assert any(name.startswith(f"shim.{step}.") for name in points.names())


def test_every_fail_point_belongs_to_a_step():
    begins = [step + "." for step in STEPS["daemon"]] + [f"shim.{step}." for step in STEPS["shim"]]
    assert [name for name in points.names() if not name.startswith(tuple(begins))] == []


def test_a_supervisor_has_no_variables_unless_fail_points_are_armed(yard):
    yard("run", "-q", "sh", "-c", "echo up; exec sleep 600")
    yard.out(1)
    assert [variables_of(pid) for pid in shims_of(yard)] == [[]]


def test_an_armed_supervisor_has_that_variable_alone_and_its_task_has_not(down_yard):
    yard = down_yard
    yard.env["TRAINYARD_FAIL"] = "submit.nowhere=kill"
    yard("run", "-q", "sh", "-c", "env; exec sleep 600")
    assert "TRAINYARD_FAIL" not in yard.out(1)
    assert [variables_of(pid) for pid in shims_of(yard)] == [[b"TRAINYARD_FAIL=submit.nowhere=kill"]]


def test_an_armed_daemon_dies_at_its_point_and_the_task_is_not_lost(down_yard):
    yard = down_yard
    yard.env["TRAINYARD_FAIL"] = "launch.spawned=kill"
    yard.up()
    pid = yard.pid()
    yard("run", "-q", "sh", "-c", "exit 7", code=None)
    until(lambda: not os.path.exists(f"/proc/{pid}"))
    del yard.env["TRAINYARD_FAIL"]
    yard.up()
    yard("wait", "1", code=7)
    assert len(yard.task(1)["attempts"]) == 1


@pytest.mark.parametrize("point", ["acknowledge.cleared", "acknowledge.slot_left", "acknowledge.begun"])
def test_a_folder_that_a_dying_daemon_left_half_cleared_is_cleared_by_the_next(down_yard, point):
    yard = down_yard
    yard.env["TRAINYARD_FAIL"] = f"{point}=kill"
    yard.up()
    pid = yard.pid()
    yard("run", "-q", "true", code=None)
    until(lambda: not os.path.exists(f"/proc/{pid}"))
    del yard.env["TRAINYARD_FAIL"]
    yard.up()
    folder = os.path.dirname(yard.task(1)["attempts"][0]["log_path"])
    until(lambda: not {"slot", "decision", "ctl.sock"}.intersection(os.listdir(folder)))


def test_a_start_waits_for_a_supervisor_being_born_that_still_has_its_dead_daemons_lock(down_yard):
    yard = down_yard
    os.makedirs(yard.home, mode=0o700)
    dead = subprocess.Popen(["true"])
    dead.wait()
    with open(os.path.join(yard.home, "daemon.lock"), "w") as lock:
        lock.write(f"{dead.pid} http://127.0.0.1:1\n")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        daemon = yard.start("up", "--foreground", "--listen", "127.0.0.1:0")
        until(lambda: daemon.poll() is not None or has_open(daemon.pid, lock.name))
    until(lambda: daemon.poll() is not None or yard("status", code=None).code == 0)
    assert daemon.poll() is None, daemon.stderr.read()
    yard("down")
    daemon.communicate()


@pytest.mark.parametrize("name, value", [("TRAINYARD_FAIL", "launch.spawned=explode"),
                                         ("TRAINYARD_CONTAINMENT", "jail")])
def test_a_setting_for_tests_that_cannot_be_read_is_refused(down_yard, name, value):
    yard = down_yard
    yard.env[name] = value
    answer = yard("up", "--listen", "127.0.0.1:0", code=None)
    assert answer.code != 0 and value in answer.err and name in answer.err


@pytest.mark.parametrize("draw", range(4))
def test_one_run_of_each_point_kills_in_every_way_on_both_sides(draw):
    for of_shim in (False, True):
        names = [name for name in points.names() if name.startswith("shim.") == of_shim]
        assert {points.mode_of(name, 0, 1, draw) for name in names} == set(points.MODES)


def test_four_runs_of_each_point_on_end_kill_there_in_every_way():
    for name in points.names():
        assert {points.mode_of(name, 0, 1, draw) for draw in range(4)} == set(points.MODES)


def test_nothing_is_lost_at_any_fail_point():
    counts = chaos("--points", "--seeds", "1")
    assert int(counts["points"]) == len(set(points.names()))


@pytest.mark.parametrize("containment", [[], ["--containment", "subreaper"]])
def test_nothing_is_lost_under_random_kills(containment):
    assert int(chaos("--kills", "100", *containment)["kills"]) >= 100
