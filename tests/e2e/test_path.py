"""One task through every room, and what must hold when daemon, shim or task is killed."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from yarding import BIN, DEADLINE, PLAIN_USER, Yard, public_program, until


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def pid_of_shim(yard, task, attempt=1):
    uid = yard.task(task)["attempts"][attempt - 1]["uid"]
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"trainyard-shim") and any(uid.encode() in word for word in words):
            return int(pid)
    raise AssertionError("no shim")


def pid_of_task(yard, task):
    def told():
        for line in yard("events", "--json").out.splitlines():
            event = json.loads(line)
            if event["kind"] == "attempt.started" and event["task"] == task:
                return event["data"]["pid"]
        return None

    return until(told)


def running(yard, task):
    return until(lambda: yard("show", str(task), "--json", code=None).out.find('"state":"running"') > 0)


# ---- kill -9 of the daemon


def test_ten_running_tasks_outlive_a_killed_daemon_with_their_own_exit_codes_and_run_once(down_yard):
    down_yard.up("--devices", "cpu:10")
    work = down_yard.work
    os.mkfifo(os.path.join(work, "go"))
    for code in range(10):
        down_yard("run", "-q", "sh", "-c", f"echo ran >> ran.{code}; cat go > /dev/null; exit {code}")
    for task in range(1, 11):
        running(down_yard, task)
    os.kill(down_yard.pid(), signal.SIGKILL)
    down_yard.up()
    for task in range(1, 11):
        assert down_yard.task(task)["state"] == "running"
    with open(os.path.join(work, "go"), "w"):
        pass  # every reader sees the end of the file
    for code in range(10):
        down_yard("wait", str(code + 1), code=code)
        task = down_yard.task(code + 1)
        assert task["outcome"]["exit_code"] == code and len(task["attempts"]) == 1
        with open(os.path.join(work, f"ran.{code}")) as file:
            assert file.read() == "ran\n"
    kinds = [json.loads(line)["kind"] for line in down_yard("events", "--json").out.splitlines()]
    assert kinds.count("daemon.adopted") == 2


def test_an_end_while_the_daemon_is_down_is_kept_with_its_time(yard):
    os.mkfifo(os.path.join(yard.work, "go"))
    yard("run", "-q", "sh", "-c", "cat go; exit 7")
    running(yard, 1)
    shim = pid_of_shim(yard, 1)
    os.kill(yard.pid(), signal.SIGKILL)
    with open(os.path.join(yard.work, "go"), "w"):
        pass
    until(lambda: not alive(shim))  # it leaves its record and goes, with nobody there to hear it
    yard.up()
    task = until(lambda: yard.task(1)["state"] == "ended" and yard.task(1))
    assert task["outcome"]["exit_code"] == 7
    started = [json.loads(line) for line in yard("events", "--json").out.splitlines()
               if '"daemon.started"' in line][-1]["at"]
    assert task["ended_at"] < started


def test_down_leaves_tasks_running_and_up_takes_them_over(yard):
    yard("run", "-q", "sleep", "600")
    running(yard, 1)
    assert "1" in yard("down").out
    yard.up()
    assert yard.task(1)["state"] == "running"


def test_a_lock_file_naming_another_process_does_not_keep_the_yard_from_starting(down_yard):
    os.mkdir(down_yard.home, 0o700)
    with open(os.path.join(down_yard.home, "daemon.lock"), "w") as file:
        file.write("1 http://127.0.0.1:1\n")
    down_yard("run", "--wait", "true")


def test_a_second_daemon_on_one_folder_is_refused_by_name(yard):
    answer = yard("up", "--foreground", code=None)
    assert answer.code in (0, 1)
    assert str(yard.pid()) in answer.out + answer.err


def test_the_daemon_ends_when_its_folder_is_deleted(yard):
    pid = yard.pid()
    os.rename(yard.home, yard.home + ".gone")  # all of it at one instant: the yard mends a lost socket
    until(lambda: not alive(pid))
    shutil.rmtree(yard.home + ".gone")


def test_down_with_cancel_waits_for_the_ends_it_asked_for(yard):
    yard("run", "-q", "sh", "-c", "echo $$ > leader; exec sleep 600")
    running(yard, 1)
    leader = os.path.join(yard.work, "leader")
    until(lambda: os.path.exists(leader) and os.path.getsize(leader))
    yard("down", "--cancel")
    assert not alive(int(open(leader).read()))
    yard.up()
    assert yard.task(1)["outcome"]["kind"] == "cancelled"


# ---- kill -9 of the shim and of the task


def test_a_task_killed_from_outside_says_so_with_the_signal(yard):
    client = yard.start("run", "--wait", "sleep", "600")
    running(yard, 1)
    os.kill(pid_of_task(yard, 1), signal.SIGKILL)
    client.communicate(timeout=DEADLINE)
    assert client.returncode == 128 + 9
    outcome = yard.task(1)["outcome"]
    assert outcome["signal"] == 9 and outcome["exit_code"] is None
    assert outcome["class"] == "killed_from_outside" and "outside" in outcome["reason"]["text"]


def test_exit_137_is_not_taken_for_a_signal(yard):
    yard("run", "--wait", "sh", "-c", "exit 137", code=137)
    outcome = yard.task(1)["outcome"]
    assert outcome["signal"] is None and outcome["exit_code"] == 137


def test_after_a_killed_shim_nothing_of_the_task_is_left_and_the_loss_is_said(yard):
    script = "setsid sh -c 'echo $$ > child; exec sleep 600' & echo $$ > leader; exec sleep 600"
    yard("run", "-q", "sh", "-c", script)
    files = [os.path.join(yard.work, name) for name in ("child", "leader")]
    until(lambda: all(os.path.exists(file) and os.path.getsize(file) for file in files))
    pids = [int(open(file).read()) for file in files]
    running(yard, 1)
    os.kill(pid_of_shim(yard, 1), signal.SIGKILL)
    task = until(lambda: yard.task(1)["state"] != "running" and yard.task(1))
    assert not any(alive(pid) for pid in pids), "dead before the task is said to be lost"
    assert task["attempts"][0]["outcome"]["kind"] == "lost"
    assert task["held"] and task["reason"]["text"]  # no checkpoint: it is not run again by itself
    assert yard.json("status")["counts"]["devices_free"] == 2


def test_what_ignores_the_stop_signal_is_killed_after_the_grace_and_only_then_is_the_device_free(yard):
    script = "trap '' TERM; echo $$ > leader; while :; do sleep 600; done"
    with open(os.path.join(yard.work, "stubborn.yaml"), "w") as file:
        file.write(json.dumps({"command": ["sh", "-c", script], "checkpoint": {"grace": "300ms"}}))
    yard("submit", "-q", "stubborn.yaml")
    leader = os.path.join(yard.work, "leader")
    until(lambda: os.path.exists(leader) and os.path.getsize(leader))
    running(yard, 1)
    yard("cancel", "1")
    yard("wait", "1", code=130)
    assert not alive(int(open(leader).read()))
    assert yard.task(1)["outcome"]["kind"] == "cancelled"


def test_children_left_by_a_leader_are_ended_and_the_outcome_stays_the_leaders(yard):
    yard("run", "--wait", "sh", "-c", "sleep 600 & echo $! > child; exit 3", code=3)
    assert not alive(int(open(os.path.join(yard.work, "child")).read()))


def test_a_time_limit_holds_with_the_daemon_dead(yard):
    yard("run", "-q", "--time", "10s", "sleep", "600")
    running(yard, 1)
    shim = pid_of_shim(yard, 1)
    os.kill(yard.pid(), signal.SIGKILL)
    until(lambda: not alive(shim))
    yard.up()
    until(lambda: yard.task(1)["state"] == "ended")
    yard("wait", "1", code=124)
    assert "10 s" in yard.task(1)["outcome"]["reason"]["text"]


# ---- What a task sees


def test_a_task_has_three_descriptors_its_own_session_and_the_yards_variables(yard):
    script = ("import json, os; print(json.dumps({'fds': sorted(os.listdir('/proc/self/fd'))[:-1], "
              "'leader': os.getsid(0) == os.getpid(), 'stdin': os.readlink('/proc/self/fd/0'), "
              "'env': dict(os.environ)}))")
    yard("run", "--wait", "/usr/bin/python3", "-c", script)
    seen = json.loads(yard("logs", "1").out)
    assert seen["fds"] == ["0", "1", "2"] and seen["leader"] and seen["stdin"] == "/dev/null"
    environment = seen["env"]
    assert environment["TRAINYARD_TASK"] == "1" and environment["TRAINYARD_ATTEMPT"] == "1"
    assert environment["CUDA_VISIBLE_DEVICES"] == "" and environment["PYTHONUNBUFFERED"] == "1"
    assert environment["TRAINYARD_RESUME"] == ""
    assert "TRAINYARD_HOME" in environment and "PWD" not in environment or environment.get("PWD") != "/"


def test_files_of_a_task_get_the_submitters_umask(yard):
    yard("run", "--wait", "sh", "-c", "umask; touch made", preexec_fn=lambda: os.umask(0o007))
    assert yard("logs", "1").out == "0007\n"
    assert os.stat(os.path.join(yard.work, "made")).st_mode & 0o777 == 0o660


def test_slots_pin_their_tasks_to_different_cores(yard):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one core")
    os.mkfifo(os.path.join(yard.work, "go"))
    show = "import os; print(sorted(os.sched_getaffinity(0)), flush=True); open('go').read()"
    for _ in range(2):
        yard("run", "-q", "/usr/bin/python3", "-c", show)
    cores = [until(lambda: yard("logs", str(task), code=None).out.strip()) for task in (1, 2)]
    assert cores[0] != cores[1]


def test_the_helper_reports_progress_metrics_and_checkpoints(yard):
    script = ("import trainyard, os\n"
              "path = os.path.join(os.environ['TRAINYARD_OUT'], 'one.pt')\n"
              "open(path, 'w').write('x')\n"
              "trainyard.progress(1, 2, unit='epoch'); trainyard.log({'loss': 0.5}, step=1)\n"
              "trainyard.checkpoint(path, step=1); trainyard.progress(2, 2, unit='epoch')\n")
    yard("run", "--wait", "/usr/bin/python3", "-c", script)
    task = yard.task(1)
    assert task["checkpoint"]["path"].endswith("tasks/1/one.pt")
    marks = [json.loads(line) for line in yard("events", "--json").out.splitlines() if "progress.mark" in line]
    assert marks[-1]["data"]["done"] == 2 and marks[-1]["data"]["metrics"]["loss"] == 0.5


def test_a_stop_is_seen_by_the_helper_with_its_reason(yard):
    script = ("import signal, time, trainyard\n"
              "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
              "print('ready', flush=True)\n"
              "while not trainyard.stop_requested(): time.sleep(0.02)\n"
              "print('asked', flush=True)\n")
    yard("run", "-q", "/usr/bin/python3", "-c", script)
    until(lambda: "ready" in yard("logs", "1", code=None).out)
    yard("cancel", "1")
    yard("wait", "1", code=130)
    assert "asked" in yard("logs", "1").out


def test_a_data_loading_failure_goes_on_from_its_checkpoint_by_itself(yard):
    script = ("import os, trainyard\n"
              "start = trainyard.resume_path()\n"
              "print('from', start)\n"
              "if start is None:\n"
              "    path = os.path.join(os.environ['TRAINYARD_OUT'], 'c.pt'); open(path, 'w').write('1')\n"
              "    trainyard.progress(1, 3, unit='epoch'); trainyard.checkpoint(path, step=1)\n"
              "    raise OSError(5, 'Input/output error', 'shard-3')\n")
    with open(os.path.join(yard.work, "t.yaml"), "w") as file:
        file.write(json.dumps({"command": ["/usr/bin/python3", "-c", script], "retry": {"delay": "0s"}}))
    yard("submit", "--wait", "t.yaml")
    task = yard.task(1)
    assert [a["outcome"]["kind"] for a in task["attempts"]] == ["failed", "succeeded"]
    assert task["attempts"][0]["outcome"]["class"] == "data_loading"
    assert task["attempts"][1]["resume"].endswith("c.pt")
    assert "from None" in yard("logs", "--attempt", "1", "1").out
    assert "c.pt" in yard("logs", "1").out


def test_an_edit_between_submit_and_launch_is_said(yard):
    script = os.path.join(yard.work, "train.sh")
    with open(script, "w") as file:
        file.write("sleep 600\n")
    yard("run", "-q", "--hold", "sh", script)
    with open(script, "a") as file:
        file.write("# edited\n")
    yard("release", "1")
    until(lambda: yard.task(1)["code_changed"] == [script])


def test_logs_are_followed_line_by_line_with_progress_in_ls(yard):
    go = os.path.join(yard.work, "go")
    os.mkfifo(go)
    script = "for i in 1 2 3; do echo epoch $i/3 loss=0.$i; cat go > /dev/null; done"
    yard("run", "-q", "sh", "-c", script)
    follower = yard.start("logs", "-f", "1")
    for epoch in (1, 2, 3):
        assert follower.stdout.readline().decode() == f"epoch {epoch}/3 loss=0.{epoch}\n"
        until(lambda: (yard.task(1)["progress"] or {}).get("done") == epoch)
        assert f"{epoch}/3" in yard("ls").out
        with open(go, "w"):
            pass
    assert follower.wait(timeout=DEADLINE) == 0


# ---- The program itself


def test_the_program_needs_nothing_but_libc_and_libm():
    needed = re.findall(r"NEEDED.*\[(.*)\]", subprocess.check_output(["readelf", "-d", BIN], text=True))
    assert set(needed) <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
    shim = os.path.join(os.path.dirname(BIN), "trainyard-shim")
    assert "NEEDED" not in subprocess.check_output(["readelf", "-d", shim], text=True)


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become another user")
def test_a_plain_user_has_the_same_path(tmp_path):
    home = tmp_path / "plain"
    home.mkdir()
    yard = Yard(home, prefix=PLAIN_USER, program=public_program(tmp_path))
    for folder in (home, home / "work"):
        os.chown(folder, 65534, 65534)
    try:
        yard("run", "--wait", "sh", "-c", "id -u; exit 5", code=5)
        assert yard("logs", "1").out == "65534\n"
        yard("run", "-q", "sh", "-c", "setsid sleep 600 & exec sleep 600")
        running(yard, 2)
        yard("cancel", "2")
        yard("wait", "2", code=130)
        assert "nobody" in yard("status").out or "65534" in yard("status").out
    finally:
        yard("down", "--cancel", code=None)


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_one_sync_comes_before_the_first_instruction_of_a_task(down_yard):
    yard = down_yard
    trace = os.path.join(yard.work, "trace")
    daemon = subprocess.Popen(["strace", "-f", "-o", trace, "-e", "trace=fsync,fdatasync,sync,syncfs,execve,symlinkat",
                               BIN, "up", "--foreground", "--listen", "127.0.0.1:0"],
                              env=yard.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        until(lambda: os.path.exists(os.path.join(yard.home, "sock")))
        until(lambda: yard("run", "--wait", "true", code=None).code == 0)
        wal = os.path.join(yard.home, "yard.db-wal")
        until(lambda: os.path.getsize(wal) >= 16 << 20)  # grown once, while idle
        for number in range(6):
            yard("run", "--wait", "/bin/echo", "--", f"marker-{number}")
    finally:
        yard("down", code=None)
        daemon.wait(timeout=DEADLINE)
    with open(trace, errors="replace") as file:
        lines = file.read().splitlines()
    starts = [next(i for i, line in enumerate(lines) if "execve(\"/bin/echo" in line and f"marker-{number}" in line)
              for number in range(6)]
    # From one start to the next: the end of the first (the shim's slot, the daemon's commit) and the one commit of the
    # second. That the first had begun was written patiently and joined the commit of its end, unless this machine is
    # so busy that a moment passed in between: not in every one of five pairs.
    counts = [sum(bool(re.search(r"\b(fsync|fdatasync|sync|syncfs)\(", line)) for line in lines[begin:end])
              for begin, end in zip(starts, starts[1:])]
    assert min(counts) <= 3, counts
