"""A state file that is damaged, and the command that brings the yard back; a disk that takes no writing any more."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess

import pytest

from yarding import Yard, until


def kill_daemon(yard):
    pid = yard.pid()
    os.kill(pid, signal.SIGKILL)
    until(lambda: not os.path.exists(f"/proc/{pid}"))


def back_up(yard):
    """As the yard does every hour; it is down."""
    os.makedirs(yard.home + "/backups", mode=0o700, exist_ok=True)
    source, copy = sqlite3.connect(yard.home + "/yard.db"), sqlite3.connect(
        yard.home + "/backups/yard-20261130T091227Z.db")
    source.backup(copy)
    source.close()
    copy.close()


def put_back(yard):
    """As somebody might by hand; it is down."""
    for file in ("yard.db", "yard.db-wal"):
        os.unlink(f"{yard.home}/{file}")
    backup, = os.listdir(yard.home + "/backups")
    shutil.copy(f"{yard.home}/backups/{backup}", yard.home + "/yard.db")


def damage(yard):
    with open(yard.home + "/yard.db", "r+b") as file:
        file.write(b"x" * 8192)
    if os.path.exists(yard.home + "/yard.db-wal"):
        os.unlink(yard.home + "/yard.db-wal")


def test_a_damaged_state_is_recovered_and_what_runs_goes_on(yard, tmp_path):
    done = yard("run", "-q", "--wait", "sh", "-c", "exit 3", code=3).out.strip()
    waiting = yard("run", "-q", "--hold", "true").out.strip()
    kill_daemon(yard)
    back_up(yard)
    yard.up("--devices", "cpu:2")
    # Launched after the copy was made: one that goes on, one that has ended.
    go = tmp_path / "go"
    running = yard("run", "-q", "-n", "runner", "sh", "-c", f"while [ ! -e {go} ]; do sleep 0.05; done; exit 5").out.strip()
    yard.await_state(running, "running")
    ended = yard("run", "-q", "--wait", "true").out.strip()
    # As long as its end was not taken in, its folder tells it, and recovery finds that it succeeded.
    slot = os.path.join(os.path.dirname(yard.task(ended)["log_path"]), "slot")
    until(lambda: not os.path.exists(slot))
    kill_daemon(yard)
    damage(yard)

    refused = yard("up", "--listen", "127.0.0.1:0", code=None)
    assert refused.code != 0 and "trainyard recover" in refused.err
    told = yard("recover").out
    assert "yard-20261130T091227Z.db" in told and "is kept as" in told
    assert any(name.startswith("yard.db.damaged-") for name in os.listdir(yard.home))
    assert "Nothing was changed" in yard("recover").out

    yard.up("--devices", "cpu:2")
    assert yard.task(done)["outcome"]["exit_code"] == 3
    assert yard.task(waiting)["held"]
    assert yard.await_state(running, "running")["name"] == "runner"
    assert yard.task(ended)["outcome"]["kind"] == "lost"
    go.touch()
    assert yard.await_state(running, "ended")["outcome"]["exit_code"] == 5
    assert int(yard("run", "-q", "true").out) > int(ended)


def test_recover_leaves_a_running_yard_alone(yard):
    refused = yard("recover", code=1)
    assert str(yard.pid()) in refused.err
    assert yard("ls").code == 0


def test_recover_says_as_json_what_it_did(yard):
    task = yard("run", "-q", "--hold", "true").out.strip()
    kill_daemon(yard)
    back_up(yard)
    damage(yard)
    did = json.loads(yard("recover", "--json").out)
    assert did["backup"].endswith(".db") and did["tasks"] == 1 and not did["healthy"]
    assert yard.task(task)["held"]


def test_a_state_file_that_is_gone_is_not_replaced_by_an_empty_one(yard):
    yard("run", "-q", "--hold", "true")
    kill_daemon(yard)
    back_up(yard)
    os.unlink(yard.home + "/yard.db")
    refused = yard("up", "--listen", "127.0.0.1:0", code=None)
    assert refused.code != 0 and "trainyard recover" in refused.err
    assert not os.path.exists(yard.home + "/yard.db")
    yard("recover")
    yard.up("--devices", "cpu:2")
    assert yard.json("ls")["items"]


def test_nothing_to_recover_from_is_said(yard):
    kill_daemon(yard)
    damage(yard)
    shutil.rmtree(yard.home + "/attempts")
    refused = yard("recover", code=None)
    assert refused.code != 0 and "Nothing to recover from" in refused.err


def empty(yard):
    open(yard.home + "/yard.db", "w").close()


def refused(yard):
    answer = yard("up", "--listen", "127.0.0.1:0", code=None)
    assert answer.code != 0 and "trainyard recover" in answer.err, answer.err
    return answer.err


def test_an_empty_state_file_is_no_empty_queue_and_its_log_brings_all_back(yard):
    done = yard("run", "-q", "--wait", "sh", "-c", "exit 3", code=3).out.strip()
    held = yard("run", "-q", "--hold", "true").out.strip()
    kill_daemon(yard)
    empty(yard)  # and no backup yet
    assert "yard.db-wal" in refused(yard)
    yard("recover")
    yard.up("--devices", "cpu:2")
    assert yard.task(done)["outcome"]["exit_code"] == 3
    assert yard.task(held)["held"]


@pytest.mark.parametrize("how", [empty, lambda yard: os.unlink(yard.home + "/yard.db")], ids=["empty", "gone"])
def test_without_state_file_and_log_what_runs_is_taken_in_from_its_folder_and_no_number_comes_again(yard, tmp_path, how):
    go = tmp_path / "go"
    yard("run", "-q", "--wait", "true")
    running = yard("run", "-q", "-n", "runner", "sh", "-c",
                   f"while [ ! -e {go} ]; do sleep 0.05; done; exit 6").out.strip()
    yard.await_state(running, "running")
    held = yard.devices()["cpu:0"]["leases"]
    kill_daemon(yard)
    how(yard)
    os.unlink(yard.home + "/yard.db-wal")
    assert "attempts/" in refused(yard)
    yard("recover")
    yard.up("--devices", "cpu:2")
    assert yard.await_state(running, "running")["name"] == "runner"
    leases = yard.devices()["cpu:0"]["leases"]
    assert [lease["task"] for lease in leases] == [lease["task"] for lease in held], "it has its slot"
    assert int(yard("run", "-q", "true").out) > int(running)
    go.touch()
    assert yard.await_state(running, "ended")["outcome"]["exit_code"] == 6


def test_a_run_whose_folder_was_taken_away_is_lost_and_nothing_of_it_lives_on(yard, tmp_path):
    ran = tmp_path / "ran"
    task = yard("run", "-q", "--retry", "0", "sh", "-c", f"echo $$ >> {ran}; exec sleep 1000").out.strip()
    until(lambda: ran.exists() and ran.read_text().endswith("\n"))
    yard.await_state(task, "running")
    pid = int(ran.read_text())
    shutil.rmtree(yard.home + "/attempts")
    kill_daemon(yard)
    yard.up("--devices", "cpu:2")
    found = until(lambda: (shown := yard.task(task))["attempts"][0].get("outcome") and shown)
    assert found["attempts"][0]["outcome"]["kind"] == "lost"
    try:
        with open(f"/proc/{pid}/stat") as file:
            assert file.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        pass
    assert ran.read_text().split() == [str(pid)], "it ran once"


def test_what_runs_unknown_to_a_backup_put_back_by_hand_is_told_keeps_its_device_and_is_taken_in(yard, tmp_path):
    go = tmp_path / "go"
    yard("run", "-q", "--hold", "true")
    kill_daemon(yard)
    back_up(yard)
    yard.up("--devices", "cpu:2")
    task = yard("run", "-q", "-n", "runner", "sh", "-c",
                f"while [ ! -e {go} ]; do sleep 0.05; done; exit 6").out.strip()
    yard.await_state(task, "running")
    kill_daemon(yard)
    put_back(yard)

    yard.up("--devices", "cpu:2")
    stray, = until(lambda: yard.json("status")["strays"])
    assert stray["task"] == int(task) and stray["devices"] == ["cpu:0"] and str(go) in stray["command"]
    assert stray["run"] in yard("status").err and stray["run"] in yard("ls").err
    checks = {item["check"]: item for item in yard.json("doctor", code=None)["items"]}
    assert checks["stray"]["level"] == "bad" and "trainyard recover" in checks["stray"]["mend"]
    device = yard.devices()["cpu:0"]
    assert not device["usable"] and device["reason"]["id"] == "stray.device"
    other = yard("run", "-q", "sh", "-c", f"while [ ! -e {go} ]; do sleep 0.05; done").out.strip()
    assert int(other) > int(task), "its number is not given again"
    assert yard.await_state(other, "running")["devices"] == ["cpu:1"]

    yard("down")
    told = yard("recover").out
    assert "1 run was known" in told, told
    assert "Nothing was changed" in yard("recover").out
    yard.up("--devices", "cpu:2")
    assert yard.json("status")["strays"] == []
    assert yard.await_state(task, "running")["name"] == "runner"
    assert yard.devices()["cpu:0"]["leases"][0]["task"] == int(task)
    go.touch()
    assert yard.await_state(task, "ended")["outcome"]["exit_code"] == 6
    yard.await_state(other, "ended")


def test_a_device_is_free_again_once_the_run_that_nobody_knows_has_ended(yard, tmp_path):
    kill_daemon(yard)
    back_up(yard)
    yard.up("--devices", "cpu:1")
    task = yard("run", "-q", "sleep", "1000").out.strip()
    yard.await_state(task, "running")
    pid = until(lambda: yard.events("attempt.started"))[-1]["data"]["pid"]
    kill_daemon(yard)
    put_back(yard)
    yard.up("--devices", "cpu:1")
    until(lambda: yard.json("status")["strays"])
    next_one = yard("run", "-q", "true").out.strip()
    assert yard.why(next_one)["id"] == "stray.device" or "device" in yard.why(next_one)["id"]
    os.kill(pid, 9)
    yard.await_state(next_one, "ended")
    assert yard.json("status")["strays"] == []


@pytest.fixture
def breaking_disk(tmp_path):
    """A file system of its own that can be made read-only, as the kernel does after an error of the disk."""
    image, folder = str(tmp_path / "image"), str(tmp_path / "disk")
    tools = "/usr/sbin:/sbin:/usr/bin:/bin"
    if os.geteuid() != 0 or not shutil.which("mkfs.ext4", path=tools):
        pytest.skip("no file system can be made here")

    class Disk:
        def __init__(self):
            with open(image, "wb") as file:
                file.truncate(512 << 20)
            self.call("mkfs.ext4", "-q", "-F", image)
            os.mkdir(folder)
            self.folder = folder

        def call(self, *words):
            return subprocess.run(words, env={"PATH": tools}, capture_output=True, text=True)

        def mount(self):
            done = self.call("mount", "-o", "loop,errors=remount-ro", image, folder)
            if done.returncode != 0:
                pytest.skip("no file system can be mounted here: " + done.stderr)

        def trip(self):
            device = self.call("findmnt", "-n", "-o", "SOURCE", folder).stdout.strip()
            with open(f"/sys/fs/ext4/{os.path.basename(device)}/trigger_fs_error", "w") as file:
                file.write("x")

        def unmount(self):
            until(lambda: self.call("umount", folder).returncode == 0)

        def mend(self):
            self.unmount()
            self.call("e2fsck", "-fy", image)
            self.mount()

    disk = Disk()
    disk.mount()
    yield disk
    disk.call("umount", "-l", folder)


@pytest.fixture
def disk_yard(breaking_disk, tmp_path):
    yard = Yard(tmp_path)
    yard.home = breaking_disk.folder + "/s"
    yard.env["TRAINYARD_HOME"] = yard.home
    yard.up("--devices", "cpu:1")
    yield yard
    yard("down", "--cancel", code=None)


def test_a_disk_that_turns_read_only_ends_nothing_and_is_said(disk_yard, breaking_disk, tmp_path):
    yard, go = disk_yard, tmp_path / "go"
    yard("run", "-q", "sh", "-c", f"while [ ! -e {go} ]; do sleep 0.05; done; exit 4")
    yard("run", "-q", "true")
    yard.await_state(1, "running")
    pid = yard.pid()
    breaking_disk.trip()
    refused = yard("run", "true", code=None)
    assert refused.code != 0 and "read-only" in refused.err and "started again" not in refused.err
    status = until(lambda: (found := yard.json("status"))["read_only"] and found)
    assert status["read_only"]["id"] == "store.read_only" and status["pid"] == pid
    assert yard.task(1)["state"] == "running"
    assert "read-only" in yard("cancel", "2", code=None).err
    go.touch()
    yard("down")
    for words in (["ls"], ["up"], ["run", "true"]):
        refused = yard(*words, code=None)
        assert refused.code != 0 and "is read-only" in refused.err, refused.err
        assert "started again" not in refused.err and "ends with" not in refused.err
    assert "is read-only" in yard("doctor", code=None).out

    breaking_disk.mend()
    yard.up("--devices", "cpu:1")
    assert yard.json("status")["read_only"] is None
    yard.await_state(2, "ended")
    yard("run", "-q", "--wait", "true")
    assert yard.task(1)["uid"]


def test_a_state_file_that_may_not_be_written_is_not_called_damaged(disk_yard, breaking_disk):
    yard = disk_yard
    yard("run", "-q", "--hold", "true")
    yard("down")
    file = yard.home + "/yard.db"
    if breaking_disk.call("chattr", "+i", file).returncode != 0:
        pytest.skip("this file system knows no such files")
    refused = yard("up", "--listen", "127.0.0.1:0", code=None)
    breaking_disk.call("chattr", "-i", file)
    assert refused.code != 0 and "cannot be written" in refused.err and "recover" not in refused.err
    yard.up("--devices", "cpu:1")
    assert yard.task(1)["held"]
