"""The command line against the real program, each test with a yard of its own, under a bare environment."""
import contextlib
import json
import os
import pty
import re
import select
import signal
import socket
import stat
import subprocess
import sys
import time

import pytest

from yarding import BIN, DEADLINE, ROOT, Yard, until


# ---- Autostart


def test_run_starts_the_yard_and_passes_the_exit_code_on(down_yard):
    answer = down_yard("run", "--wait", "sh", "-c", "exit 7", code=7)
    assert "failed (7)" in answer.err
    task = down_yard.task(1)
    assert task["outcome"]["exit_code"] == 7 and task["outcome"]["signal"] is None
    assert stat.S_IMODE(os.stat(down_yard.home).st_mode) == 0o700


def test_two_clients_at_once_make_one_daemon(down_yard):
    clients = [down_yard.start("run", "-q", "--wait", "true") for _ in range(4)]
    ids = sorted(int(client.communicate(timeout=DEADLINE)[0]) for client in clients)
    assert [client.returncode for client in clients] == [0, 0, 0, 0]
    assert ids == [1, 2, 3, 4]


def test_the_daemon_keeps_nothing_of_the_shell(down_yard):
    read, write = os.pipe()
    down_yard("run", "-q", "true", pass_fds=[write])
    os.close(write)
    ready, _, _ = select.select([read], [], [], DEADLINE)
    assert ready and os.read(read, 1) == b""  # nobody holds the other end any more
    os.close(read)
    pid = down_yard.pid()
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    assert os.getsid(pid) != os.getsid(0)
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        assert file.read().split(b"\0")[1:3] == [b"up", b"--foreground"]


def test_down_is_an_intent_that_run_overrides(yard):
    yard("down")
    answer = yard("ls", code=4)
    assert "down since" in answer.err and "trainyard up" in answer.err
    assert "已于" in yard("--lang", "zh", "status", code=4).err
    assert yard("down").out.startswith("The yard is down already")
    yard("run", "--wait", "true")
    assert len(yard.json("devices")["items"]) == 2  # with the options it was first started with


def test_without_a_yard_the_others_say_so(down_yard):
    answer = down_yard("ls", code=4)
    assert answer.out == "" and "trainyard up" in answer.err
    assert not os.path.exists(down_yard.home)


def test_a_killed_daemon_is_started_again_by_the_next_look(yard):
    yard("run", "-q", "-n", "long", "sleep", "600")
    until(lambda: yard.task(1)["state"] == "running")
    os.kill(yard.pid(), signal.SIGKILL)
    answer = yard("ls")
    assert "started again" in answer.err
    until(lambda: yard.task(1)["state"] == "running")
    assert len(yard.task(1)["attempts"]) == 1


def test_who_waits_while_the_daemon_is_killed_gets_the_end_all_the_same(yard):
    fifo = os.path.join(yard.work, "go")
    os.mkfifo(fifo)
    waiting = yard.start("run", "--wait", "sh", "-c", "read x < go; exit 3")
    until(lambda: yard.json("ls")["items"] and yard.task(1)["state"] == "running")
    os.kill(yard.pid(), signal.SIGKILL)
    line = waiting.stderr.readline().decode()
    while "daemon has ended" not in line:
        line = waiting.stderr.readline().decode()
        assert line
    yard("up")
    with open(fifo, "w") as file:
        file.write("x\n")
    _, err = waiting.communicate(timeout=DEADLINE)
    assert waiting.returncode == 3, err
    assert b"is back" in err


def test_a_failed_start_is_one_sentence(down_yard):
    answer = down_yard("up", "--devices", "gpu:all", code=None)
    assert answer.code == 2
    assert answer.out == "" and len(answer.err.splitlines()) == 1 and "gpu:all" in answer.err
    down_yard.up()  # the bad option was not kept


def test_run_right_after_down_starts_it_again(yard):
    down = yard.start("down")
    yard("run", "--wait", "true", code=None)
    down.communicate(timeout=DEADLINE)
    yard("run", "--wait", "true")


def test_a_deleted_state_folder_is_told(yard):
    pid = yard.pid()
    os.rename(yard.home, yard.home + ".gone")
    assert "trainyard up" in yard("ls", code=4).err
    os.rename(yard.home + ".gone", yard.home)
    assert yard.pid() == pid


def test_up_says_five_facts_and_the_tunnel_under_ssh(down_yard):
    answer = down_yard("up", "--listen", "127.0.0.1:0", env={"SSH_CONNECTION": "10.0.0.9 51000 10.0.0.5 22"})
    for fact in ("address", "devices", "state folder", "after logout", "after a reboot"):
        assert fact in answer.out
    port = re.search(r"http://127\.0\.0\.1:(\d+)", answer.out).group(1)
    assert f"ssh -L {port}:127.0.0.1:{port} " in answer.out and "@10.0.0.5" in answer.out


def test_a_second_up_says_so_and_refuses_other_options(yard):
    assert "already" in yard("up").out
    assert "already" in yard("up", "--devices", "cpu:2").out
    answer = yard("up", "--devices", "cpu:1", code=1)
    assert "trainyard down" in answer.err


def test_up_just_after_a_kill_starts_with_the_options_asked_for(down_yard):
    os.makedirs(down_yard.home, mode=0o700, exist_ok=True)
    path = os.path.join(down_yard.home, "sock")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    # What a client meets of a daemon being killed: a line that opens, and ends without an answer.
    with socket.socket(socket.AF_UNIX) as dying:
        dying.bind(path)
        dying.listen()
        up = down_yard.start("up", "--devices", "cpu:3", "--listen", "127.0.0.1:0")
        line, _ = dying.accept()
    line.close()
    out, err = up.communicate(timeout=DEADLINE)
    assert up.returncode == 0, err
    assert len(down_yard.json("devices")["items"]) == 3


# ---- Bad input: one sentence, the right code, nothing half-made


@pytest.mark.parametrize("words, code, said", [
    (["run"], 2, "no command"),
    (["run", "no-such-program-here"], 2, "no-such-program-here"),
    (["run", "./missing.sh"], 2, "missing.sh"),
    (["run", "-C", "/no/such/folder", "true"], 2, "/no/such/folder"),
    (["run", "--wiat", "true"], 2, "--wait"),
    (["run", "-wait", "true"], 2, "--wait"),
    (["run", "—wait", "true"], 2, "long dash"),
    (["run", "--name", "12", "true"], 2, "12"),
    (["run", "--name", "@x", "true"], 2, "@x"),
    (["run", "-g", "lots", "true"], 2, "lots"),
    (["run", "-g", "9", "true"], 2, "9"),
    (["run", "-g", "1", "2", "4", "true"], 2, "'{1,2,4}'"),
    (["run", "--share", "1.5", "true"], 2, "1.5"),
    (["run", "--share", "0.5:alone", "true"], 2, "--share"),
    (["run", "--share", "0.5:turns", "--exclusive", "true"], 2, "0.5"),
    (["run", "--gpu-memory", "much", "true"], 2, "much"),
    (["run", "--gpu-ids", "name", "true"], 2, "index"),
    (["run", "-g", "0", "--ranks", "true"], 2, "ranks"),
    (["run", "--after", "999", "true"], 2, "999"),
    (["run", "--after", "12:maybe", "true"], 2, "12:maybe"),
    (["run", "--begin", "25:00", "true"], 2, "25:00"),
    (["run", "--time", "soon", "true"], 2, "soon"),
    (["run", "--mem", "lots", "true"], 2, "lots"),
    (["run", "--retry", "-1", "true"], 2, "--retry"),
    (["run", "--priority", "urgent", "true"], 2, "urgent"),
    (["run", "-e", "NOEQUALS", "true"], 2, "NOEQUALS"),
    (["run", "--shell", "a", "b"], 2, "quotes"),
    (["run", "-n"], 2, "-n"),
    (["rnu", "true"], 2, "run"),
    (["submit"], 2, "task file"),
    (["submit", "missing.yaml"], 2, "missing.yaml"),
    (["submit", "--bulk", "missing.jsonl"], 2, "missing.jsonl"),
    (["show", "999"], 3, "999"),
    (["show", "nobody"], 3, "nobody"),
    (["why", "999"], 3, "999"),
    (["logs", "999"], 3, "999"),
    (["wait", "999"], 3, "999"),
    (["wait", "9-3"], 2, "9-3"),
    (["cancel"], 2, "--tag"),
    (["cancel", "999"], 3, "999"),
    (["cancel", "--all", "1"], 2, "--all"),
    (["priority", "12x", "1"], 2, "12x"),
    (["priority", "--first"], 2, "--tag"),
    (["priority", "--first", "high", "1"], 2, "high"),
    (["logs", "--rank", "x", "1"], 2, "--rank"),
    (["logs", "--rank", "0", "--rank", "1", "1"], 2, "only once"),
    (["run", "--gpus", "", "true"], 2, "cannot be ''."),
    (["devices", "hold"], 2, "trainyard devices"),
    (["devices", "cpu:0"], 2, "hold"),
    (["devices", "hold", "cpu:9"], 3, "cpu:9"),
    (["devices", "hold", "cpu:0", "--until", "never"], 2, "never"),
    (["devices", "hold", "cpu:0", "--until", "2020-01-01"], 2, "passed"),
    (["devices", "release", "cpu:0", "--until", "2h"], 2, "hold"),
    (["events", "--since", "x"], 2, "--since"),
    (["ls", "--limit", "0"], 2, "--limit"),
    (["ls", "extra"], 2, "extra"),
    (["ls", "--lang", "fr"], 2, "fr"),
    (["ls", "--config", "missing.yaml"], 2, "missing.yaml"),
])
def test_bad_input_is_refused_with_a_sentence(yard, words, code, said):
    answer = yard(*words, code=code)
    assert answer.out == ""
    assert said in answer.err and answer.err.startswith("trainyard: ")
    assert yard.json("ls", "-a")["items"] == []


def test_a_word_over_the_kernels_limit_is_named(yard):
    with open(os.path.join(yard.work, "long.yaml"), "w") as file:
        json.dump({"command": ["echo", "x" * 200_000]}, file)
    assert "128" in yard("submit", "long.yaml", code=2).err


def test_a_state_folder_that_cannot_be_used_is_named(tmp_path):
    yard = Yard(tmp_path)
    with open(yard.home, "w"):
        pass
    answer = yard("run", "true", code=2)
    assert yard.home in answer.err and "TRAINYARD_HOME" in answer.err


def test_without_a_home_the_variable_to_set_is_named(down_yard):
    answer = subprocess.run([BIN, "run", "true"], env={"PATH": "/usr/bin:/bin"}, capture_output=True, timeout=DEADLINE)
    assert answer.returncode == 2 and b"TRAINYARD_HOME" in answer.stderr


def test_a_config_with_an_unknown_key_names_line_and_nearest(down_yard):
    path = os.path.join(down_yard.work, "c.yaml")
    with open(path, "w") as file:
        file.write("listen: 127.0.0.1:0\ndevises: cpu:2\n")
    answer = down_yard("up", "--config", path, code=2)
    assert "line 2" in answer.err and "devices" in answer.err and path in answer.err


def test_the_config_moves_the_state_and_chooses_the_devices(down_yard):
    del down_yard.env["TRAINYARD_HOME"]
    folder = os.path.join(down_yard.env["HOME"], ".config/trainyard")
    os.makedirs(folder)
    with open(os.path.join(folder, "trainyard.yaml"), "w") as file:
        file.write(f"listen: 127.0.0.1:0\ndevices: cpu:2\nlanguage: zh\npaths: {{state: {down_yard.home}}}\n")
    assert "已排入" in down_yard("run", "true").out
    status = down_yard.json("status")
    assert status["home"] == down_yard.home and status["counts"]["devices"] == 2
    assert down_yard.json("config")["file"].endswith("trainyard.yaml")


# ---- Commands are kept as typed


def test_argv_arrives_byte_for_byte(yard):
    argv = ["", "a b", "'\"$*\\", "line\nbreak", "--wait", "-", "é😀", b"\xff\xfe".decode("utf-8", "surrogateescape")]
    script = "import os,sys; sys.stdout.buffer.write(b'\\0'.join(map(os.fsencode, sys.argv[1:])))"
    process = yard.start("run", "--wait", "-q", "/usr/bin/python3", "-c", script, *argv)
    assert process.wait(timeout=DEADLINE) == 0
    raw = yard.start("logs", "--raw", "1").communicate(timeout=DEADLINE)[0]
    assert raw == b"\0".join(os.fsencode(word) for word in argv)


def test_the_shells_variables_go_along_scrubbed(yard):
    env = {"FOO": "bar baz", "RANK": "3", "CUDA_VISIBLE_DEVICES": "7", "TRAINYARD_TASK": "99", "SLURM_JOB_ID": "5"}
    script = "import os,json; print(json.dumps(dict(os.environ)))"
    yard("run", "-q", "--wait", "-e", "SEED=7", "/usr/bin/python3", "-c", script, env=env)
    seen = json.loads(yard("logs", "1").out)
    assert seen["FOO"] == "bar baz" and seen["SEED"] == "7" and seen["TRAINYARD_TASK"] == "1"
    assert "RANK" not in seen and "SLURM_JOB_ID" not in seen and seen["CUDA_VISIBLE_DEVICES"] == ""
    yard("run", "-q", "--wait", "--clean-env", "/usr/bin/python3", "-c", script, env=env)
    assert "FOO" not in json.loads(yard("logs", "2").out)


def test_a_shell_line_runs_through_sh(yard):
    yard("run", "-q", "--wait", "--shell", "echo a | tr a b; exit 4", code=4)
    assert yard("logs", "1").out == "b\n"


def test_secrets_are_masked(yard):
    env = {"MY_API_KEY": "sesame-1"}
    answers = [yard("run", "-e", "DB_PASSWORD=sesame-2", "--hold", "true", env=env),
               yard("run", "--dry-run", "-e", "DB_PASSWORD=sesame-2", "true", env=env),
               yard("show", "1"), yard("show", "1", "--json"), yard("ls", "--json"), yard("events", "--json")]
    assert all("sesame" not in answer.out + answer.err for answer in answers)


def test_code_is_hashed_and_its_commit_read(yard):
    os.makedirs(os.path.join(yard.work, ".git"))
    with open(os.path.join(yard.work, ".git/HEAD"), "w") as file:
        file.write("0123456789abcdef0123456789abcdef01234567\n")
    with open(os.path.join(yard.work, "train.py"), "w") as file:
        file.write("print(1)\n")
    yard("run", "-q", "--hold", "/usr/bin/python3", "train.py")
    code = yard.task(1)["spec"]["code"]
    assert code["commit"].startswith("0123456789") and code["repository"] == yard.work
    assert code["files"][0]["path"] == yard.work + "/train.py" and len(code["files"][0]["sha256"]) == 64


def test_a_requirements_file_is_named_once_and_not_used(yard):
    with open(os.path.join(yard.work, "requirements.txt"), "w") as file:
        file.write("nonsense\n")
    answer = yard("run", "--wait", "true")
    assert answer.err.count("requirements.txt") == 1 and "requirements.txt" not in answer.out


def test_hints_stay_off_stdout(yard):
    with open(os.path.join(yard.work, "requirements.txt"), "w"):
        pass
    assert yard("run", "-q", "--hold", "true").out == "1\n"
    assert json.loads(yard("run", "--json", "--hold", "true").out)["id"] == 2
    assert json.loads(yard("run", "--json", "--wait", "true").out)["outcome"]["kind"] == "succeeded"
    assert "logs -f" in yard("run", "--hold", "true").err


# ---- Task files and bulk


def test_a_task_file_becomes_a_task_and_options_win(yard):
    with open(os.path.join(yard.work, "t.yaml"), "w") as file:
        file.write("name: digits\ncommand: [/bin/echo, 1e-4, 3.10, yes]\ntags: [a]\nvariables: {SEED: 7}\n")
    yard("submit", "t.yaml", "-q", "--wait", "-n", "other", "--tag", "b")
    task = yard.task("other")
    assert task["tags"] == ["a", "b"] and task["spec"]["variables"] == {"SEED": "7"}
    assert yard("logs", "@last").out == "1e-4 3.10 yes\n"


def test_a_bad_task_file_names_line_and_key(yard):
    with open(os.path.join(yard.work, "t.yaml"), "w") as file:
        file.write("command: ['true']\nresources:\n  gpu: 1\n")
    answer = yard("submit", "t.yaml", code=2)
    assert "t.yaml:3" in answer.err and "gpus" in answer.err


def test_bulk_queues_all_or_nothing(yard):
    lines = [json.dumps({"command": ["true"], "name": f"n{i}"}) for i in range(50)]
    with open(os.path.join(yard.work, "good.jsonl"), "w") as file:
        file.write("\n".join(lines))
    with open(os.path.join(yard.work, "bad.jsonl"), "w") as file:
        file.write("\n".join(lines[:7] + ['{"command":["true"],"nmae":"x"}'] + lines[8:]))
    refused = yard("submit", "--bulk", "bad.jsonl", code=2).err
    assert "line 8" in refused and "name" in refused  # which line, and why
    with open(os.path.join(yard.work, "ring.jsonl"), "w") as file:
        for name, other in (("a", "b"), ("b", "a")):
            file.write(json.dumps({"name": name, "command": ["true"], "after": [{"task": other}]}) + "\n")
    assert "ring" in yard("submit", "--bulk", "ring.jsonl", code=2).err
    assert yard.json("ls", "-a")["items"] == []
    assert yard("submit", "--bulk", "good.jsonl", "-q").out == "1-50\n"
    yard("wait", "1-50")
    with open(os.path.join(yard.work, "good.jsonl")) as stdin:
        assert yard("submit", "--bulk", "-", "-q", stdin=stdin).out == "51-100\n"


# ---- Lists and acts


def test_a_waiting_task_says_why_in_both_languages(yard):
    yard("run", "-q", "-g", "2", "-n", "big", "sleep", "600")
    yard("run", "-q", "-n", "next", "true")
    until(lambda: yard.task(1)["state"] == "running")
    assert "big" in yard("why", "2").out or "1" in yard("why", "2").out
    assert re.search("[一-鿿]", yard("why", "2", "--lang", "zh").out)
    rows = yard("ls").out.splitlines()
    assert "big" in rows[1] and "running" in rows[1] and "next" in rows[2] and "waiting" in rows[2]


def test_acts_take_many_ids_ranges_and_tags(yard):
    for name in "abcde":
        yard("run", "-q", "--hold", "-n", name, "--tag", "x" if name in "de" else "y", "true")
    assert len(yard("release", "1-2").out.splitlines()) == 2
    yard("wait", "1-2")
    assert len(yard("cancel", "--tag", "x").out.splitlines()) == 2
    yard("priority", "high", "c")
    assert yard.task("c")["priority"] == 100
    yard("priority", "-5", "3")
    assert yard.task("c")["priority"] == -5
    answer = yard("release", "3", "99", code=3)
    assert "3" in answer.out and "99" in answer.err
    yard("wait", "c")
    yard("rm", "1-2")
    yard("show", "1", code=3)
    assert [item["ok"] for item in yard.json("cancel", "4", code=None)["items"]] == [False]


def test_first_goes_before_all_that_wait(yard):
    yard("pause")
    yard("run", "-q", "--priority", "high", "true")
    for _ in range(2):
        yard("run", "-q", "true")
    assert "first" in yard("priority", "--first", "3").out
    assert [task["id"] for task in yard.json("ls")["items"]] == [3, 1, 2]
    said = yard("priority", "--first", "2", "1").out
    assert [task["id"] for task in yard.json("ls")["items"]] == [2, 1, 3]
    assert said == "Task 2 is now first in the queue.\nTask 1 comes right behind task 2.\n"
    yard("resume")
    yard("wait", "1-3")


def test_first_is_nothing_for_a_task_that_runs(yard):
    running = int(yard("run", "-q", "sleep", "600").out)
    until(lambda: yard.task(running)["state"] == "running")
    assert "not waiting" in yard("priority", "--first", str(running), code=None).err
    yard("cancel", str(running))


def states(yard):
    return {device["label"]: device["state"] for device in yard.json("devices")["items"]}


def test_a_held_device_is_given_to_nobody_until_it_is_released(yard):
    assert "release cpu:0" in yard("devices", "hold", "cpu:0").out
    yard("run", "-q", "sleep", "600")
    yard("run", "-q", "-n", "second", "sleep", "600")
    until(lambda: yard.task(1)["state"] == "running")
    assert states(yard) == {"cpu:0": "held", "cpu:1": "leased"}
    assert yard.task(1)["devices"] == ["cpu:1"] and yard.task(2)["state"] == "waiting"
    seen = yard("devices").out
    assert "on hold" in seen and "task 1 (sleep)" in seen
    assert "cpu:0 is released" in yard("devices", "release", "cpu:0").out
    until(lambda: yard.task(2)["state"] == "running")
    assert states(yard) == {"cpu:0": "leased", "cpu:1": "leased"}


def test_a_hold_may_end_by_itself(yard):
    assert len(yard("devices", "hold", "cpu:0-1", "--until", "2h").out.splitlines()) == 2
    assert all(device["held_until"] for device in yard.json("devices")["items"])
    yard("run", "-q", "true")
    assert yard.task(1)["state"] == "waiting"
    yard("devices", "hold", "cpu:1", "--until", "2099-01-01T12:00")
    assert yard.json("devices")["items"][1]["held_until"].startswith("2099-01-01")


def test_sharers_in_turns_are_told_apart(down_yard):
    down_yard.up("--devices", "cpu:1")
    for name in ("one", "two"):
        down_yard("run", "-q", "-n", name, "--share", "0.5:turns", "sleep", "600")
    frozen = until(lambda: [task for task in down_yard.json("ls")["items"] if task["frozen"]])
    assert len(frozen) == 1 and frozen[0]["share"] == "0.5:turns"
    assert "awaits its turn" in down_yard("ls").out and "等待轮到" in down_yard("ls", "--lang", "zh").out
    seen = down_yard("devices").out
    assert "shared" in seen and "0.5 of it in turns" in seen and "task 2 (two)" in seen
    assert "0.5 of each device, in turns" in down_yard("show", "one").out


def test_cancel_all_pauses_the_queue(yard):
    for _ in range(3):
        yard("run", "-q", "sleep", "600")
    yard("cancel", "--all")
    assert yard.json("status")["queue"]["paused"]
    yard("wait", "1-3", code=1)
    assert yard("wait", "1", code=130).err.count("cancelled") == 1
    yard("resume")
    yard("run", "--wait", "true")


def test_exit_codes_of_a_waited_task(yard):
    assert yard("run", "--wait", "sh", "-c", "kill -9 $$", code=137)
    assert yard("run", "--wait", "--time", "200ms", "sleep", "600", code=124)
    assert yard("run", "--wait", "missing-program", code=125)
    assert yard("run", "-f", "sh", "-c", "echo out; exit 5", code=5).out == "out\n"


def test_json_is_alone_on_stdout(yard):
    yard("run", "-q", "--wait", "sh", "-c", "echo hello; exit 1", code=1)
    for words in (["ls"], ["ls", "-a"], ["show", "1"], ["why", "1"], ["devices"], ["status"], ["config"], ["version"],
                  ["wait", "1"], ["logs", "1"], ["doctor"], ["run", "true"], ["cancel", "1"], ["pause"], ["resume"]):
        answer = yard(*words, "--json", code=None) if words[0] != "run" else yard("run", "--json", "true")
        json.loads(answer.out)
    for line in yard("events", "--json").out.splitlines():
        assert {"seq", "at", "kind"} <= json.loads(line).keys()


# ---- Logs


def test_a_failed_task_shows_its_last_lines_and_the_exception(yard):
    with open(os.path.join(yard.work, "bad.py"), "w") as file:
        file.write("for i in range(40): print('line', i)\nraise ValueError('no such shape')\n")
    answer = yard("run", "--wait", "/usr/bin/python3", "bad.py", code=1)
    assert "line 39" in answer.err and "line 5\n" not in answer.err
    assert "ValueError: no such shape" in answer.err
    assert "ValueError: no such shape" in yard("show", "1").out


def test_follow_shows_lines_as_they_come(yard):
    for name in ("one", "two"):
        os.mkfifo(os.path.join(yard.work, name))
    process = yard.start("run", "-f", "-q", "sh", "-c", "echo first; read x < one; echo second; read x < two")
    assert process.stdout.readline() == b"1\n"
    assert process.stdout.readline() == b"first\n"
    with open(os.path.join(yard.work, "one"), "w") as file:
        file.write("\n")
    assert process.stdout.readline() == b"second\n"
    with open(os.path.join(yard.work, "two"), "w") as file:
        file.write("\n")
    assert process.wait(timeout=DEADLINE) == 0


def test_control_c_leaves_the_task_running_and_says_so(yard):
    process = yard.start("run", "-f", "-q", "sh", "-c", "echo begun; sleep 600")
    assert process.stdout.readline() == b"1\n"
    assert process.stdout.readline() == b"begun\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130 and b"goes on" in err and b"cancel 1" in err
    assert yard.task(1)["state"] == "running"


def test_hostile_output_is_tame_unless_raw(yard):
    evil = r"\033]0;title\007\033[31mred\033[0m\r10%%\r20%%\n\377\n"
    yard("run", "-q", "--wait", "-n", "evil", "printf", evil)
    assert yard("logs", "1").out == "20%\n\N{REPLACEMENT CHARACTER}\n"
    raw = yard.start("logs", "--raw", "1").communicate(timeout=DEADLINE)[0]
    assert raw.startswith(b"\x1b]0;title") and raw.endswith(b"\xff\n")


def test_tail_gives_the_last_lines(yard):
    yard("run", "-q", "--wait", "seq", "1", "5000")
    assert yard("logs", "--tail", "3", "1").out == "4998\n4999\n5000\n"
    assert yard("logs", "--tail", "0", "1").out == ""
    assert len(yard("logs", "--tail", "9999", "1").out.splitlines()) == 5000


def test_logs_of_a_task_not_begun_say_so_and_with_follow_wait(yard):
    yard("run", "-q", "--hold", "echo", "late")
    answer = yard("logs", "1")
    assert answer.out == "" and "not begun" in answer.err
    process = yard.start("logs", "-f", "1")
    assert b"not begun" in process.stderr.readline()
    yard("release", "1")
    out, _ = process.communicate(timeout=DEADLINE)
    assert out == b"late\n" and process.returncode == 0
    yard("run", "-q", "--hold", "true")
    yard("cancel", "2")
    assert "never ran" in yard("logs", "-f", "2").err


def test_each_run_has_its_log(yard):
    yard("run", "-q", "--wait", "sh", "-c", "echo $TRAINYARD_ATTEMPT; exit 3", code=3)
    yard("retry", "1")
    yard("wait", "1", code=3)
    assert yard("logs", "1").out == "2\n"
    assert yard("logs", "1.1").out == "1\n"
    assert yard("logs", "--attempt", "1", "1").out == "1\n"
    assert yard("logs", "1.7", code=3).out == ""


def test_each_process_of_a_run_with_ranks_has_its_log(yard):
    yard("run", "-q", "--wait", "-g", "2", "--ranks", "sh", "-c", "echo rank $RANK of $WORLD_SIZE")
    first = yard("logs", "1")
    assert first.out == "rank 0 of 2\n" and "logs --rank N 1" in first.err
    second = yard("logs", "--rank", "1", "1")
    assert second.out == "rank 1 of 2\n" and "--rank N" not in second.err
    assert yard.json("logs", "--rank", "1", "1")["log"] == "rank 1 of 2\n"
    assert yard("logs", "--rank", "2", "1", code=3).out == ""
    assert "2, one for each device" in yard("show", "1").out


def test_show_tells_how_each_process_ended(yard):
    yard("run", "-q", "--wait", "-g", "2", "--ranks", "--retry", "0", "sh", "-c",
         "[ $RANK = 1 ] && exit 5; sleep 600", code=5)
    assert "rank 1 exit 5" in yard("show", "1").out
    ranks = yard.task(1)["attempts"][0]["ranks"]
    assert ranks[1] == {"rank": 1, "exit_code": 5, "signal": None} and ranks[0]["exit_code"] != 0


def test_the_rank_that_failed_is_named_with_its_last_lines_and_its_log(yard):
    # Rank 1 fails once the other has said what it has to.
    script = ("echo hello from $RANK; [ $RANK = 0 ] && { : > said; exec sleep 600; }; "
              "while [ ! -e said ]; do sleep 0.02; done; echo boom; exit 3")
    shown = yard("run", "-f", "-g", "2", "--ranks", "--retry", "0", "sh", "-c", script, code=3)
    assert shown.out == "hello from 0\n"
    for said in ("Rank 1 ended first, with exit code 3.", "  boom\n", "trainyard logs --rank 1 1"):
        assert said in shown.err
    attempt, = yard.task(1)["attempts"]
    assert attempt["outcome"]["failed_rank"] == 1 and attempt["log_path"].endswith("/log.1")
    shown = yard("show", "1").out
    assert "/log.1" in shown and "Rank 1 ended first" in shown
    log = yard("logs", "1")
    assert log.out == "hello from 0\n" and "logs --rank 1 1" in log.err
    assert "failed first" not in yard("logs", "--rank", "1", "1").err


def test_events_follow_a_task_through(yard):
    process = yard.start("events", "-f", "--json")
    yard("run", "-q", "--wait", "true")
    kinds = []
    while "task.ended" not in kinds:
        event = json.loads(process.stdout.readline())
        kinds.append(event["kind"])
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=DEADLINE)
    for kind in ("task.submitted", "lease.granted", "attempt.started", "attempt.ended", "lease.released"):
        assert kind in kinds


# ---- On a terminal


def on_terminal(yard, words, env=None, columns=80):
    """What a terminal of that width shows."""
    master, slave = pty.openpty()
    import fcntl
    import struct
    import termios
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([BIN, *words], cwd=yard.work, env={**yard.env, "TERM": "xterm", **(env or {})},
                               stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    seen = b""
    while True:
        try:
            block = os.read(master, 65536)
        except OSError:
            break
        if not block:
            break
        seen += block
    os.close(master)
    process.wait(timeout=DEADLINE)
    return seen.decode()


def test_colours_are_for_terminals_and_no_color_is_honoured(yard):
    yard("run", "-q", "--wait", "false", code=1)
    assert "\x1b[" in on_terminal(yard, ["ls"])
    assert "\x1b[" not in on_terminal(yard, ["ls"], env={"NO_COLOR": "1"})
    assert "\x1b[" not in yard("ls").out


def test_no_line_of_ls_is_wider_than_the_terminal(yard):
    yard("run", "-q", "--wait", "-n", "训练" * 30, "sh", "-c", "exit 3", code=3)
    for line in on_terminal(yard, ["ls"], env={"NO_COLOR": "1"}, columns=100).splitlines():
        assert sum(2 if "一" <= c <= "鿿" else 1 for c in line) <= 100


def test_hostile_names_do_not_reach_the_terminal(yard):
    answer = yard("run", "-q", "--hold", "-n", "a\x1b[31mb", "true", code=None)
    seen = on_terminal(yard, ["ls", "-a"], env={"NO_COLOR": "1"}) + answer.err
    assert "\x1b[31m" not in seen


# ---- Words


def test_help_speaks_both_languages_and_every_command_has_its_own(down_yard):
    assert "Usage:" in down_yard("--help").out
    assert "用法" in down_yard("--lang", "zh", "--help").out
    assert "用法" in down_yard("--help", env={"LC_ALL": "zh_CN.UTF-8"}).out
    for command in re.findall(r"^  (\w+) ", down_yard("--help").out, re.M):
        assert f"trainyard {command}" in down_yard(command, "--help").out
        assert re.search("[一-鿿]", down_yard(command, "--help", "--lang=zh").out)


def test_doctor_needs_no_yard_and_starts_none(down_yard):
    answer = down_yard("doctor", "--json", code=None)
    checks = {item["check"]: item["level"] for item in json.loads(answer.out)["items"]}
    assert {"state_folder", "daemon", "containment", "shim", "python", "machine", "gpus", "logout"} <= checks.keys()
    assert checks["shim"] == "good" and not os.path.exists(down_yard.home)
    assert "doctor" not in down_yard("doctor", code=None).err


def test_all_that_is_wrong_with_a_task_is_said_a_line_each(yard):
    refused = yard("run", "-g", "99", "--cpus", "60000", "true", code=2)
    lines = refused.err.splitlines()
    assert len(lines) == 2 and all(line.startswith("trainyard: ") for line in lines), refused.err
    assert "99" in lines[0] and "60000" in lines[1], refused.err
    lines = "\n".join(['{"command":["true"],"workdir":"/"}', '{"command":[],"workdir":"x","name":"12"}'])
    with open(yard.work + "/many.jsonl", "w") as file:
        file.write(lines)
    many = yard("submit", "--bulk", "many.jsonl", code=2).err.splitlines()
    assert len(many) == 3 and "2" in many[0] and "12" in many[2], many


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q"]))
