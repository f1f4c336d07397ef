"""Every later version takes over what an earlier one left: its state, and the supervisors that still run."""
import base64
import glob
import hashlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import tarfile

import pytest

from yarding import BIN, ROOT, Yard, until

OLD = "/tmp/trainyard-old"
KEPT = sorted(glob.glob(os.path.join(ROOT, "tests/old_state/*.tar.xz")))
BOOT = open("/proc/sys/kernel/random/boot_id").read().strip()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def write_spec(folder, spec):
    text = json.dumps(spec, separators=(",", ":")).encode() + b"\n"
    with open(folder + "/spec", "wb") as file:
        file.write(text + b"%08x\n" % crc32c(text))


def read_spec(folder):
    with open(folder + "/spec") as file:
        return json.loads(file.readline())


class OldShim:
    """The kept supervisor of one attempt, started as its daemon would have."""

    def __init__(self, program, folder):
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # As descriptor 3; this test is its parent, so it must be reaped.
        self.process = subprocess.Popen(
            ["bash", "-c", f"exec 3<&{its.fileno()}; exec -a trainyard-shim '{program}' '{folder}' 3"],
            pass_fds=[its.fileno()], env={}, stdin=subprocess.DEVNULL, start_new_session=True)
        its.close()
        self.link = ours
        until(lambda: os.path.lexists(folder + "/decision"))

    def close(self):
        self.link.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class OldYard(Yard):
    """`folder/state` as an earlier version left it, made to belong to this user, folder and boot."""

    def __init__(self, folder, kept, boot=BOOT):
        super().__init__(folder)
        with tarfile.open(kept) as file:
            file.extractall(folder)
        self.shim_program = str(folder / "trainyard-shim")
        self.shims = []
        self.group = None
        for attempt in glob.glob(self.home + "/attempts/*"):
            if os.path.exists(attempt + "/slot"):
                spec = json.loads(json.dumps(read_spec(attempt)).replace(OLD + "/state", self.home))
                spec.update(uid=os.geteuid(), boot=boot, containment="subreaper")
                spec.pop("cgroup", None)
                write_spec(attempt, spec)
        with sqlite3.connect(self.home + "/yard.db") as database:
            database.execute("DELETE FROM setting WHERE key = 'folder'")  # else it is a copy of the folder it was
            database.execute("UPDATE attempt SET boot = ? WHERE state <> 'ended'", (boot,))
            self.open = {task: uid for task, uid in
                         database.execute("SELECT task, uid FROM attempt WHERE state <> 'ended'")}
        database.close()
        for file in glob.glob(self.home + "/yard.db-*"):
            os.remove(file)

    def folder_of(self, task):
        letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
        number = int.from_bytes(self.open[task], "big")
        return self.home + "/attempts/" + "".join(letters[number >> 5 * place & 31] for place in range(25, -1, -1))

    def hold_in(self, level):
        """Lets the earlier daemon have held its trees at this level; False where that does not work here."""
        mounts = [line.split()[1:4] for line in open("/proc/mounts")]
        bases = [place for place, kind, options in mounts if kind == "cgroup2" and level == "cgroup2"
                 or kind == "cgroup" and level == "freezer" and "freezer" in options.split(",")]
        with sqlite3.connect(self.home + "/yard.db") as database:
            (instance,), = database.execute("SELECT value FROM setting WHERE key = 'instance'")
        database.close()
        for file in glob.glob(self.home + "/yard.db-*"):
            os.remove(file)
        if not bases:
            return False
        self.group = f"{bases[0]}/trainyard-{instance}-{os.getpid()}"
        try:
            os.mkdir(self.group)
        except OSError:
            return False
        for folder in map(self.folder_of, (3, 4)):
            spec = read_spec(folder)
            spec.update(containment=level, cgroup=f"{self.group}/a-{os.path.basename(folder)}")
            write_spec(folder, spec)
        return True

    def members(self, task):
        try:
            with open(f"{self.group}/a-{os.path.basename(self.folder_of(task))}/cgroup.procs") as file:
                return file.read().split()
        except FileNotFoundError:  # decided, but not made yet
            return []

    def begin(self, task):
        """The old daemon's last act: its shim runs the task."""
        self.shims.append(OldShim(self.shim_program, self.folder_of(task)))

    def go(self, task):
        with open(f"{self.home}/tasks/{task}/go", "w"):
            pass


@pytest.fixture(params=KEPT, ids=lambda path: os.path.basename(path).split(".")[0])
def kept(request):
    return request.param


@pytest.fixture
def old(tmp_path, kept):
    yard = OldYard(tmp_path, kept)
    yield yard
    yard("down", "--cancel", code=None)
    for shim in yard.shims:
        shim.close()
    if yard.group:
        for leaf in [*glob.glob(yard.group + "/a-*"), yard.group]:
            until(lambda: gone(leaf))


def gone(leaf):
    """Once its last member is."""
    try:
        os.rmdir(leaf)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True


def test_there_is_a_state_of_every_schema_so_far():
    versions = {int(os.path.basename(path).split(".")[0].rsplit("-", 1)[1]) for path in KEPT}
    assert versions >= {1, 2, 3}


@pytest.mark.parametrize("level", ["subreaper", "freezer", "cgroup2"])
def test_shims_of_an_earlier_version_are_adopted_followed_stopped_and_recorded(old, level):
    if level != "subreaper" and not old.hold_in(level):
        pytest.skip(f"{level} cannot be had here")
    old.begin(3)
    old.begin(4)
    if old.group:
        assert until(lambda: old.members(3)) and until(lambda: old.members(4))
    old.up()
    for task in (3, 4):
        found = old.await_state(task, "running")
        assert len(found["attempts"]) == 1
        assert old.out(task) == "begun"
    old.go(3)
    old("wait", "3", code=5)
    assert old.task(3)["outcome"]["exit_code"] == 5
    assert old("logs", "3").out.split() == ["begun", "ended"]
    old("cancel", "4")
    old("wait", "4", code=130)
    assert old.task(4)["outcome"]["kind"] == "cancelled"
    assert {"begun", "stopped"} <= set(old("logs", "4").out.split())
    assert all(shim.process.wait() == 0 for shim in old.shims)


def test_an_end_that_an_earlier_shim_left_while_nobody_was_there_is_read(old):
    old.begin(3)
    old.begin(4)
    old.go(3)
    old.shims[0].link.close()
    old.shims[0].process.wait()
    old.up()
    old("wait", "3", code=5)


def test_the_queue_of_an_earlier_version_goes_on_where_it_was(old):
    old.begin(3)
    old.begin(4)
    old.up()
    done = old.json("ls", "-a")["items"]
    assert [old.task(task)["name"] for task in range(1, 8)] == [
        "done", "failed", "to-the-end", "to-be-stopped", "next", "behind", "held"]
    assert len(done) == 7
    assert old.task(1)["outcome"]["kind"] == "succeeded" and old.task(2)["outcome"]["exit_code"] == 7
    assert old("logs", "2").out == "badly\n"
    assert old.task(5)["state"] == "waiting" and old.task(7)["held"]
    old.go(3)
    for task in (5, 6):
        old("wait", str(task))
    assert old("logs", "6").out == "me\n"
    old("release", "7")
    old("wait", "7")


def test_an_attempt_whose_earlier_shim_never_began_goes_back_and_runs_once(old):
    old.begin(4)
    old.up()
    found = old.await_state(3, "running")
    assert [attempt["number"] for attempt in found["attempts"]] == [1, 2]
    assert found["attempts"][0]["outcome"]["kind"] == "preempted"


def test_after_a_reboot_too_what_ran_under_an_earlier_version_is_told_as_rebooted(tmp_path, kept):
    old = OldYard(tmp_path, kept, boot="00000000-0000-4000-8000-000000000000")
    old.up()
    try:
        for task in (3, 4):
            found = until(lambda: (shown := old.task(task))["attempts"][0].get("outcome") and shown)
            assert found["attempts"][0]["outcome"]["kind"] == "lost"
    finally:
        old("down", "--cancel", code=None)


def test_the_state_of_a_newer_version_is_refused_and_not_one_byte_of_it_changes(tmp_path, kept):
    old = OldYard(tmp_path, kept)
    database = sqlite3.connect(old.home + "/yard.db")
    database.execute("PRAGMA user_version = 99")
    database.close()
    for file in glob.glob(old.home + "/yard.db-*"):
        os.remove(file)

    def fingerprint():
        with open(old.home + "/yard.db", "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    before = fingerprint()
    answer = old("up", code=None)
    assert answer.code == 1 and "99" in answer.err, answer.err
    assert fingerprint() == before
    assert not any(os.path.getsize(file) for file in glob.glob(old.home + "/yard.db-wal"))
    with open(old.home + "/yard.db", "rb") as file:  # nor was it taken for our own by a backup
        assert file.read(15) == b"SQLite format 3"


def test_a_migration_keeps_a_copy_of_what_was_there(tmp_path):
    old = OldYard(tmp_path, next(path for path in KEPT if path.endswith("-1.tar.xz")))
    old.begin(3)
    old.begin(4)
    try:
        old.up()
        copies = glob.glob(old.home + "/backups/*")
        versions = []
        for copy in copies:
            with sqlite3.connect(f"file:{copy}?mode=ro&immutable=1", uri=True) as database:
                versions.append(database.execute("PRAGMA user_version").fetchone()[0])
        assert 1 in versions, copies
    finally:
        old("down", "--cancel", code=None)
        for shim in old.shims:
            shim.close()


# ---- Formats: spec, slot and socket carry a number


def test_a_spec_of_a_later_format_is_refused_before_anything_runs(tmp_path, yard):
    """The shim beside the program meets the folder of a version after it."""
    old = OldYard(tmp_path / "old" if (tmp_path / "old").mkdir() is None else tmp_path, KEPT[-1])
    folder = old.folder_of(3)
    spec = read_spec(folder)
    spec["format"] = 99
    write_spec(folder, spec)
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    shim = os.path.join(os.path.dirname(BIN), "trainyard-shim")
    process = subprocess.Popen(["bash", "-c", f"exec 3<&{its.fileno()}; exec '{shim}' '{folder}' 3 0"],
                               pass_fds=[its.fileno()], env={})
    its.close()
    said = json.loads(ours.recv(65536))
    assert said["news"] == "REFUSED", said
    assert process.wait() != 0
    assert not os.path.lexists(folder + "/decision")
    assert not os.path.exists(folder + "/log") or os.path.getsize(folder + "/log") == 0


def test_a_shim_answers_an_unknown_verb_and_goes_on(yard):
    yard("run", "-q", "sh", "-c", "echo here; sleep 600")
    uid = yard.await_state(1, "running")["attempts"][0]["uid"]
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    here = os.getcwd()
    os.chdir(f"{yard.home}/attempts/{uid}")  # a socket's path is short
    try:
        line.connect("ctl.sock")
    finally:
        os.chdir(here)
    line.send(json.dumps({"format": 9, "verb": "DANCE", "with": "me"}).encode())
    assert json.loads(line.recv(65536))["news"] == "ERR"
    line.send(json.dumps({"format": 1, "verb": "STATUS"}).encode())
    assert json.loads(line.recv(65536))["news"] == "STATE"
    assert yard.task(1)["state"] == "running"


def test_a_slot_of_a_later_format_is_never_taken_for_an_end(yard):
    yard("run", "-q", "sh", "-c", "echo here; sleep 600")
    found = yard.await_state(1, "running")
    os.kill(yard.pid(), signal.SIGKILL)
    slot = f"{yard.home}/attempts/{found['attempts'][0]['uid']}/slot"
    with open(slot, "r+b") as file:
        for half in (0, 4096):
            file.seek(half)
            record = file.read(4096)
            if not record.strip(b"\0"):
                continue
            text = json.loads(record[:4087])
            text.update(format=99, state="exited", exit_code=0)
            text = json.dumps(text).encode().ljust(4087)
            file.seek(half)
            file.write(text + b"%08x\n" % crc32c(text))
    yard.up()
    assert yard.task(1)["state"] == "running"


def test_variables_that_are_no_text_survive_the_upgrade(tmp_path, kept):
    """base64 members of a spec mean the same in every version."""
    old = OldYard(tmp_path, kept)
    folder = old.folder_of(3)
    spec = read_spec(folder)
    spec["environment"].append({"base64": base64.b64encode(b"ODD=\xff\xfe").decode()})
    spec["argv"] = ["/bin/sh", "-c", 'printf %s "$ODD"; sleep 600']
    write_spec(folder, spec)
    old.begin(3)
    old.begin(4)
    try:
        old.up()
        until(lambda: os.path.exists(folder + "/log") and os.path.getsize(folder + "/log") == 2)
        with open(folder + "/log", "rb") as file:
            assert file.read() == b"\xff\xfe"
    finally:
        old("down", "--cancel", code=None)
        for shim in old.shims:
            shim.close()
