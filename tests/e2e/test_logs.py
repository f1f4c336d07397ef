"""Logs that cannot hurt: large, endless, hostile or in the way, and whom a stop reaches. The numbers are those of
the cases in public reports."""
import hashlib
import http.client
import os
import socket
import subprocess

import pytest

from yarding import DEADLINE, Yard, until

MIB = 1 << 20
LINES = "seq -f %063.0f 0 1048575"  # 64 MiB; a line of 64 bytes says where it stands


def ask(yard, path):
    """Over the socket, as the command line asks."""
    class Local(http.client.HTTPConnection):
        def connect(self):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.connect(os.path.join(yard.home, "sock"))

    connection = Local("localhost", timeout=DEADLINE)
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer, answer.read()


def log_of(yard, task):
    uid = sorted(os.listdir(os.path.join(yard.home, "attempts")))[task - 1]
    return os.path.join(yard.home, "attempts", uid, "log")


# ---- Over a limit


@pytest.fixture
def punched(yard):
    """A task that goes on after it has written 64 MiB of a log that may have 32."""
    yard("run", "-q", "--log-limit", "32M", "sh", "-c", f"{LINES}; while [ ! -e go ]; do sleep 0.02; done; echo end")
    until(lambda: ask(yard, "/api/v1/tasks/1/log?offset=-1")[0].headers["X-Log-Size"] == str(64 * MIB) and
          os.stat(log_of(yard, 1)).st_blocks * 512 <= 32 * MIB)
    return yard


def gap(yard):
    answer, _ = ask(yard, "/api/v1/tasks/1/log")
    whole, why = answer.headers["X-Log-Gaps"].split(":")
    assert why == "limit"
    return tuple(map(int, whole.split("-")))


def test_a_log_over_its_limit_shows_in_its_place_what_was_removed(punched):
    begin, end = gap(punched)
    lines = punched("logs", "1").out.splitlines()
    places = [i for i, line in enumerate(lines) if "removed here" in line]
    assert places == [begin // 64] and "--log-limit" in lines[places[0]]
    assert f"{(end - begin) / MIB:.3g} MiB" in lines[places[0]] and "\0" not in "".join(lines)
    assert int(lines[places[0] - 1]) == begin // 64 - 1 and int(lines[places[0] + 1]) == end // 64
    assert int(lines[-1]) == 1048575
    chinese = punched("logs", "1", "--lang", "zh-CN").out
    assert "此处删除了" in chinese
    tail = punched("logs", "1", "--tail", str((64 * MIB - end) // 64 + 1)).out.splitlines()
    assert int(tail[0]) == begin // 64 - 1 or "removed here" in tail[0] or int(tail[0]) == end // 64


def test_what_is_raw_or_json_has_no_words_of_ours_between_its_bytes(punched):
    begin, end = gap(punched)
    raw = punched("logs", "1", "--raw")
    assert len(raw.out) == 64 * MIB - (end - begin) and "removed here" in raw.err
    told = punched.json("logs", "1")
    assert told["gaps"] == [{"from": begin, "to": end, "why": "limit"}] and told["log"] == raw.out


def test_byte_ranges_keep_their_meaning_around_a_gap(punched):
    begin, end = gap(punched)

    def read(offset, limit):
        answer, body = ask(punched, f"/api/v1/tasks/1/log?offset={offset}&limit={limit}")
        return int(answer.headers["X-Log-Offset"]), body

    assert read(begin - 64, 4096) == (begin - 64, b"%063d\n" % (begin // 64 - 1))  # ends where the gap begins
    assert read(begin, 64) == (end, b"")  # nothing of it is there
    at, body = read(end - 64, 128)
    assert at == end and body == b"%063d\n" % (end // 64)
    assert read(end + 640, 64) == (end + 640, b"%063d\n" % (end // 64 + 10))


def test_a_follower_steps_over_a_gap_and_goes_on(punched):
    follower = punched.start("logs", "-f", "--raw", "1")
    open(os.path.join(punched.work, "go"), "w").close()
    out, _ = follower.communicate(timeout=DEADLINE)
    assert follower.returncode == 0 and out.endswith(b"end\n") and b"\0" not in out


@pytest.mark.parametrize("words, said", [
    (("--log-limit", "1M"), "32 MiB"),
    (("--log-limit", "much"), "--log-limit"),
    (("--stop-target", "everybody"), "leader, group, all"),
    (("--stop-signal", "BANG"), "BANG"),
])
def test_a_limit_or_a_stop_that_cannot_be_is_refused_with_its_option(yard, words, said):
    answer = yard("run", *words, "true", code=2)
    assert words[0] in answer.err and said in answer.err


# ---- Large and hostile (cases 61, 62, 64)


def with_little_memory(yard, *words, **streams):
    """A client that may have 40 MiB of data and not a page more."""
    return subprocess.Popen(["prlimit", f"--data={40 * MIB}", *yard.command, *words], env=yard.env, **streams)


def peak_of_daemon(yard):
    status = open(f"/proc/{yard.pid()}/status").read()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def test_a_gigabyte_at_full_speed_is_followed_without_loss_in_constant_memory(yard):
    size = 1 << 30
    line = "x" * 63
    yard("run", "-q", "sh", "-c", f"yes {line} | head -c {size}; echo; echo end")
    counted = subprocess.Popen(["wc", "-c"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    follower = with_little_memory(yard, "logs", "-f", "--raw", "1", stdout=counted.stdin, stderr=subprocess.DEVNULL)
    counted.stdin.close()
    assert follower.wait(timeout=DEADLINE) == 0
    assert int(counted.stdout.read()) == size + len("\nend\n")
    yard("wait", "1")
    for words in (("--tail", "3"), ("--raw",), ("--json",)):
        reader = with_little_memory(yard, "logs", "1", *words, stdout=subprocess.DEVNULL)
        assert reader.wait(timeout=DEADLINE) == 0, words
    assert counted.wait(timeout=DEADLINE) == 0
    assert peak_of_daemon(yard) < 100 * MIB


def test_a_million_carriage_returns_show_their_last_state_and_leave_the_bytes_alone(yard):
    yard("run", "-q", "--wait", "sh", "-c", r"seq 1 1000000 | tr '\n' '\r'")
    assert yard("logs", "1").out == "1000000\n"
    raw = yard.start("logs", "--raw", "1").communicate(timeout=DEADLINE)[0]
    assert raw.count(b"\r") == 1_000_000 and b"\n" not in raw


def test_random_bytes_neither_stop_the_task_nor_are_changed(yard):
    yard("run", "-q", "--wait", "sh", "-c", "head -c 4000000 /dev/urandom | tee copy")
    raw = yard.start("logs", "--raw", "1").communicate(timeout=DEADLINE)[0]
    with open(os.path.join(yard.work, "copy"), "rb") as file:
        assert hashlib.sha256(raw).digest() == hashlib.sha256(file.read()).digest()
    shown = yard.start("logs", "1").communicate(timeout=DEADLINE)[0].decode()
    assert "\N{REPLACEMENT CHARACTER}" in shown and "\x1b" not in shown
    log = yard.json("logs", "1")["log"]
    assert set(log) == {"base64"}


# ---- On a disk that is nearly full


@pytest.fixture
def small_disk(tmp_path):
    path = str(tmp_path / "disk")
    os.mkdir(path)
    if os.geteuid() != 0 or subprocess.call(["mount", "-t", "tmpfs", "-o", "size=128m", "small", path],
                                            stderr=subprocess.DEVNULL) != 0:
        pytest.skip("no file system can be mounted here")
    yield path
    subprocess.call(["umount", "-l", path])


def test_a_log_that_fills_its_disk_gives_up_its_middle_and_says_why(small_disk, tmp_path):
    yard = Yard(tmp_path)
    yard.home = os.path.join(small_disk, "state")
    yard.env["TRAINYARD_HOME"] = yard.home
    yard.up("--devices", "cpu:1")
    try:
        # It writes on whether or not there is room, and waits for room in between.
        script = ("import os, time\n"
                  "block = b'x' * 65535 + b'\\n'\n"
                  "for i in range(5000):\n"
                  "    while True:\n"
                  "        room = os.statvfs('.')\n"
                  "        if room.f_bfree * room.f_frsize > 12 << 20: break\n"
                  "        try: os.write(1, b'.')\n"
                  "        except OSError: pass\n"
                  "        time.sleep(0.01)\n"
                  "    os.write(1, block)\n"
                  "os.write(1, b'\\nlast\\n')\n")
        yard("run", "-q", "-C", small_disk, "--wait", "/usr/bin/python3", "-c", script)
        out = yard("logs", "1").out
        assert out.endswith("last\n") and "removed here because the disk was nearly full" in out
        assert os.path.getsize(log_of(yard, 1)) > 300 * MIB
    finally:
        yard("down", "--cancel", code=None)


# ---- Logs of what is not there (case 65)


def test_following_what_has_ended_prints_it_and_ends_and_what_was_removed_says_so(yard):
    yard("run", "-q", "--wait", "echo", "over")
    assert yard("logs", "-f", "1").out == "over\n"
    yard("rm", "1")
    gone = yard("logs", "-f", "1", code=3)
    assert gone.out == "" and "1" in gone.err


# ---- Whom a stop reaches, and the three ends that look like 137 (case 50)


def test_a_stop_reaches_whom_the_task_said(yard):
    child = "setsid sh -c 'trap \"echo child >> heard; exit\" USR1; : > ready; while :; do sleep 0.02; done' & "
    script = child + "trap '' USR1; : > ignoring; while :; do sleep 0.02; done"
    yard("run", "-q", "--stop-signal", "USR1", "--stop-target", "all", "sh", "-c", script)
    until(lambda: all(os.path.exists(os.path.join(yard.work, name)) for name in ("ready", "ignoring")))
    yard("cancel", "1")
    until(lambda: os.path.exists(os.path.join(yard.work, "heard")))
    yard("cancel", "1")  # a second time: no grace
    yard("wait", "1", code=130)
    assert yard.task(1)["spec"]["checkpoint"] == {"signal": "USR1", "target": "all"}


STOPPED = "trap '' TERM; echo up; while [ ! -e $TRAINYARD_STOP ]; do sleep 0.05; done; cat $TRAINYARD_STOP; {then}"


def test_while_a_task_stops_it_is_said_how_long_it_has_and_that_a_second_cancel_ends_it(yard):
    yard("run", "-q", "--stop-grace", "2h", "sh", "-c", STOPPED.format(then="sleep 1000"))
    yard.out(1)
    said = yard("cancel", "1").out
    assert "is asked to stop" in said and "trainyard cancel 1" in said
    for words in (["why", "1"], ["show", "1"]):
        assert "is killed in" in " ".join(yard(*words).out.split())
    yard("cancel", "1")
    assert yard.await_state(1, "ended")["outcome"]["kind"] == "cancelled"
    assert "is cancelled" in yard("cancel", yard("run", "-q", "--hold", "true").out.strip()).out


@pytest.mark.parametrize("options, cancel, word", [([], True, "cancelled"), (["--time", "5"], False, "time limit"),
                                                   (["--idle", "5"], False, "idle limit")])
def test_the_stop_file_holds_one_known_word(yard, options, cancel, word):
    yard("run", "-q", *options, "sh", "-c", STOPPED.format(then="exit 0"))
    yard.out(1)
    if cancel:
        yard("cancel", "1")
    yard.await_state(1, "ended")
    assert yard("logs", "1").out.splitlines()[1] == word


def test_the_grace_period_is_an_option_and_a_wrong_one_is_named(yard):
    yard("run", "-q", "--hold", "--stop-grace", "2m", "true")
    assert yard.task(1)["spec"]["checkpoint"]["grace"] in ("2m", 120, "120s")
    assert "--stop-grace" in yard("run", "--stop-grace", "soon", "true", code=2).err


def test_a_run_that_is_not_there_is_named_by_its_option(yard):
    yard("run", "-q", "--wait", "true")
    assert "--attempt" in yard("logs", "--attempt", "2", "1", code=3).err


def test_a_release_of_a_device_in_service_says_that_there_was_nothing_to_release(yard):
    assert "nothing to release" in yard("devices", "release", "cpu:0").out
    yard("devices", "hold", "cpu:0")
    assert "is released" in yard("devices", "release", "cpu:0").out


def test_a_core_dump_an_exit_code_and_a_kill_are_told_apart(yard):
    yard("run", "-q", "--retry", "0", "sh", "-c", "kill -SEGV $$")
    yard("run", "-q", "--retry", "0", "sh", "-c", "exit 139")
    yard("run", "-q", "--retry", "0", "sh", "-c", "kill -9 $$")
    yard("run", "-q", "--retry", "0", "sh", "-c", "exit 137")
    yard("wait", "1-4", code=None)
    ends = [yard.task(task)["outcome"] for task in (1, 2, 3, 4)]
    assert [(end["exit_code"], end["signal"]) for end in ends] == [(None, 11), (139, None), (None, 9), (137, None)]
    assert len({end["reason"]["id"] for end in ends}) == 4


def test_a_core_dump_is_told_and_where_it_lies(yard):
    with open("/proc/sys/kernel/core_pattern") as file:
        if file.read().strip() != "core":
            pytest.skip("core dumps go elsewhere on this machine")
    crash = yard("run", "-q", "--retry", "0", "sh", "-c", "ulimit -c unlimited && kill -ABRT $$").out.strip()
    plain = yard("run", "-q", "--retry", "0", "sh", "-c", "ulimit -c 0; kill -ABRT $$").out.strip()
    yard("wait", crash, plain, code=None)
    ends = [yard.task(task)["outcome"] for task in (crash, plain)]
    assert [end["signal"] for end in ends] == [6, 6]
    assert [end["core_dumped"] for end in ends] == [True, False]
    assert os.path.dirname(ends[0]["core_file"]) == yard.work and os.path.getsize(ends[0]["core_file"])
    assert ends[1]["core_file"] is None
    assert ends[0]["core_file"] in yard("show", crash).out.replace("\n", "").replace(" ", "")
    assert ends[0]["reason"]["id"] != ends[1]["reason"]["id"]


@pytest.fixture
def narrow_memory():
    """A v1 memory cgroup with a limit, for a whole yard."""
    paths = [line.strip().split(":", 2)[2] for line in open("/proc/self/cgroup") if ":memory:" in line]
    parent = "/sys/fs/cgroup/memory" + (paths[0] if paths else "")
    if os.geteuid() != 0 or not paths or not os.access(parent, os.W_OK):
        pytest.skip("no v1 memory cgroup can be made here")
    folder = os.path.join(parent, f"trainyard-e2e-{os.getpid()}")
    os.mkdir(folder)
    with open(os.path.join(folder, "memory.limit_in_bytes"), "w") as file:
        file.write("300M")
    yield folder
    until(lambda: not open(os.path.join(folder, "cgroup.procs")).read())
    os.rmdir(folder)


def test_what_the_kernel_killed_for_memory_is_not_said_to_be_somebodys_kill(narrow_memory, tmp_path):
    enter = f"echo $$ > {narrow_memory}/cgroup.procs; exec \"$@\""
    yard = Yard(tmp_path, prefix=["sh", "-c", enter, "sh"])
    yard.up("--devices", "cpu:1")
    try:
        yard("run", "--wait", "-q", "--retry", "0", "tail", "/dev/zero", code=137)
        assert yard.task(1)["outcome"]["class"] == "host_oom"
        yard("run", "--wait", "-q", "--retry", "0", "sh", "-c", "kill -9 $$", code=137)
        assert yard.task(2)["outcome"]["class"] == "killed_from_outside"
    finally:
        yard("down", "--cancel", code=None)


HUNGRY = "import subprocess, sys; end = subprocess.run(['tail', '/dev/zero']).returncode; sys.exit(%s)"


@pytest.mark.parametrize("words, code, kind", [
    (["sh", "-c", "tail /dev/zero; exit $?"], 137, "failed"),
    (["/usr/bin/python3", "-c", HUNGRY % "1 if end else 0"], 1, "failed"),
    (["/usr/bin/python3", "-c", HUNGRY % "0"], 0, "succeeded"),
])
def test_a_child_that_was_killed_for_memory_is_not_overlooked(narrow_memory, tmp_path, words, code, kind):
    enter = f"echo $$ > {narrow_memory}/cgroup.procs; exec \"$@\""
    yard = Yard(tmp_path, prefix=["sh", "-c", enter, "sh"])
    yard.up("--devices", "cpu:1")
    try:
        yard("run", "--wait", "-q", "--retry", "0", *words, code=code)
        end = yard.task(1)["outcome"]
        assert (end["kind"], end["exit_code"], end["class"]) == (kind, code, "host_oom" if code else "")
        assert "oom" in end["reason"]["id"]
        yard("run", "--wait", "-q", "--retry", "0", "sh", "-c", "exit 137", code=137)
        assert yard.task(2)["outcome"]["reason"]["id"] == "outcome.exit_137"
    finally:
        yard("down", "--cancel", code=None)
