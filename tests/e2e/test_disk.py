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
