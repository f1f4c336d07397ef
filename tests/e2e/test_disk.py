"""A state file that is damaged, and the command that brings the yard back."""
import json
import os
import shutil
import signal
import sqlite3

from yarding import until



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
