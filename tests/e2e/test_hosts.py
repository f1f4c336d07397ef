"""Several yards on one machine: a card goes to one task of one yard, whoever owns it."""
import fcntl
import glob
import os
import pwd
import signal

import pytest

from yarding import BIN, PLAIN_USER, Cards, Yard, open_to_all, public_program, until

ROOT = os.getuid() == 0
ROUNDS = 200
TOGETHER = 50  # rounds in flight


def two_yards(folder, count=2):
    """Of two users where we may be two, else two of ours."""
    cards = Cards(folder, count)
    yards = []
    for name in ("ann", "bob"):
        home = folder / name
        home.mkdir()
        plain = ROOT and name == "ann"
        yards.append(Yard(home, PLAIN_USER if plain else (), public_program(folder) if plain else BIN, cards))
        if plain:
            for path in (home, home / "work"):
                os.chown(path, 65534, 65534)
    open_to_all(folder)
    return yards


@pytest.fixture
def yards(tmp_path):
    yards = two_yards(tmp_path)
    for yard in yards:
        yard.up()
    yield yards
    for yard in yards:
        yard("down", "--cancel", code=None)


@pytest.fixture
def claims(tmp_path):
    """A folder in which a task leaves a mark on its card while it has it, and says so should another be there."""
    folder = tmp_path / "claims"
    folder.mkdir()
    folder.chmod(0o777)
    open_to_all(tmp_path)
    with open(tmp_path / "claim", "w") as file:
        file.write(f"cd {folder} && mkdir $CUDA_VISIBLE_DEVICES || {{ mkdir twice-$CUDA_VISIBLE_DEVICES; exit 1; }}\n"
                   "sleep 0.005; rmdir $CUDA_VISIBLE_DEVICES\n")
    os.chmod(tmp_path / "claim", 0o755)
    return folder


def submit_at_once(yards, claims, each):
    """`each` tasks of each yard at one instant, so many rounds, some of them in flight together."""
    tasks = claims.parent / "tasks"
    tasks.write_text(f'{{"command": ["/bin/sh", "{claims.parent}/claim"], "resources": {{"gpus": 1}}}}\n' * each)
    tasks.chmod(0o644)
    for number in range(1, ROUNDS + 1):
        clients = [yard.start("submit", "-q", "--bulk", str(tasks)) for yard in yards]
        for client in clients:
            out, err = client.communicate()
            assert client.returncode == 0, (out, err)
        if number % TOGETHER == 0:
            for yard in set(yards):
                yard("wait", f"1-{number * each * yards.count(yard)}")


def test_two_users_never_get_one_card(yards, claims):
    submit_at_once(yards, claims, 2)
    assert os.listdir(claims) == []
    for yard in yards:
        assert len(yard.events("attempt.started")) == 2 * ROUNDS  # each once


def test_two_tasks_of_one_instant_never_get_one_card(yards, claims):
    yards[0]("down")
    submit_at_once([yards[1]] * 2, claims, 1)
    assert os.listdir(claims) == []
    assert len(yards[1].events("attempt.started")) == 2 * ROUNDS


def shims_of(yard):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"trainyard-shim") and any(yard.home.encode() in word for word in words):
            found.append(int(pid))
    return found


def test_a_dead_yard_keeps_its_cards_while_its_processes_live(yards):
    ann, bob = yards
    ann("run", "-q", "-g", "2", "-n", "mine", "sh", "-c", "echo $$; exec sleep 600")
    process = int(ann.out(1))
    ann.await_state(1, "running")
    try:
        os.kill(ann.pid(), signal.SIGKILL)
        for shim in shims_of(ann):
            os.kill(shim, signal.SIGKILL)
        bob("run", "-q", "-g", "1", "sleep", "600")
        owner = pwd.getpwuid(os.stat(ann.home).st_uid).pw_name
        reason = until(lambda: (why := bob.why(1)) and why["id"] == "device.elsewhere" and why)
        assert reason["args"]["user"] == owner and reason["args"]["task"] == "1" and "mine" in reason["text"]
        assert [card["state"] for card in bob.devices().values()] == ["elsewhere", "elsewhere"]
        other = bob.devices()["GPU0"]["elsewhere"]
        assert (other["user"], other["task"], other["task_name"]) == (owner, 1, "mine")
        assert f"task 1 (mine) of {owner}" in bob("devices").out
    finally:
        os.kill(process, signal.SIGKILL)
    bob.await_state(1, "running")


def test_whoever_keeps_the_gate_of_one_card_keeps_nobody_from_another(yards):
    _, bob = yards
    bob("run", "-q", "--wait", "-g", "2", "true")  # so that the files of both are there
    first, second = (bob.devices()[label]["id"] for label in ("GPU0", "GPU1"))
    path, = (glob.glob(f"/run/lock/trainyard/{first}.gate") or glob.glob(f"/dev/shm/trainyard/{first}.gate"))
    with open(path, encoding="utf-8") as gate:
        # The yard itself looks behind the gate now and then, for an instant.
        until(lambda: taken(gate))
        bob("run", "-q", "-g", "1", "sleep", "600")
        bob("run", "-q", "-g", "1", "sleep", "600")
        assert bob.await_state(2, "running")["devices"] == [second]
        me = pwd.getpwuid(os.getuid()).pw_name
        reason = until(lambda: (why := bob.why(3)) and why["id"] == "why.gpus_some_out" and why)
        assert "GPU0" in reason["text"] and "2 (sleep)" in reason["text"]
        card = until(lambda: (one := bob.devices()["GPU0"])["reason"] and one["reason"]["id"] == "device.gate_kept" and one)
        assert card["state"] == "elsewhere" and card["reason"]["args"]["user"] == me
        assert "cannot be released from here" in bob("devices", "release", "0", code=1).err
    assert bob.await_state(3, "running")["devices"] == [first]


def taken(file):
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def test_what_a_lost_run_left_behind_is_named_as_this_yards(yards):
    ann, _ = yards
    # It leaves its session and clears its marker, so without a control group nobody can find it.
    script = "setsid env -i sh -c 'echo $$ > left; exec sleep 600' & exec sleep 600"
    ann("run", "-q", "-g", "1", "sh", "-c", script)
    ann.await_state(1, "running")
    left = os.path.join(ann.work, "left")
    until(lambda: os.path.exists(left) and os.path.getsize(left))
    with open(left, encoding="utf-8") as file:
        process = int(file.read())
    hides = ann.json("status")["containment"] == "subreaper"
    try:
        daemon = ann.pid()
        for pid in (*shims_of(ann), daemon):
            os.kill(pid, signal.SIGKILL)
        until(lambda: not os.path.exists(f"/proc/{daemon}"))
        ann.up()
        outcome = until(lambda: ann.task(1)["attempts"][0]["outcome"])
        assert outcome["reason"]["id"] == ("outcome.lost_shim_seen" if hides else "outcome.lost_shim")
        if not hides:
            until(lambda: ann.devices()["GPU0"]["state"] == "free")
            return
        card = until(lambda: (one := ann.devices()["GPU0"])["state"] == "elsewhere" and one)
        assert card["reason"]["id"] == "device.left_behind" and card["elsewhere"] is None
        assert "an earlier run of this yard" in ann("devices", "release", "0", code=1).err
    finally:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
    until(lambda: ann.devices()["GPU0"]["state"] == "free")
    until(lambda: not glob.glob(f"/run/lock/trainyard/{ann.devices()['GPU0']['id']}.by.*"))
