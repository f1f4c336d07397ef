"""What docs/guarantees.md promises of a machine's ways: logout, reboot, file systems, oom scores, and that each test
the page names is there."""
import glob
import json
import os
import re
import shutil
import signal
import stat
import subprocess

import pytest

from yarding import BIN, PLAIN_USER, ROOT, Yard, open_to_all, public_program, until

SYSTEMD = os.path.join(ROOT, "tests/impostors/systemd")
BEFORE = {"TRAINYARD_BOOT_ID": "00000000-0000-4000-8000-00000000000a"}
AFTER = {"TRAINYARD_BOOT_ID": "00000000-0000-4000-8000-00000000000b"}


# ---- Logout and reboot


class Machine:
    """A machine of paper with systemd, for one yard: its folders and its two tools."""

    def __init__(self, folder, yard, systemd=True):
        self.root = str(folder / "machine")
        for path in ("/etc/systemd/system", "/var/lib/systemd/linger", *(["/run/systemd/system"] if systemd else [])):
            os.makedirs(self.root + path)
        for path, _, _ in os.walk(self.root):
            os.chmod(path, 0o777)
        tools = shutil.copytree(SYSTEMD, folder / "tools")
        open_to_all(folder)
        yard.env.update(TRAINYARD_SYSROOT=self.root, PATH=f"{tools}:/usr/bin:/bin")
        self.yard = yard

    def logind(self, text):
        with open(self.root + "/etc/systemd/logind.conf", "w") as file:
            file.write(text)


def fact(text, title):
    return next(line.split(title, 1)[1].strip() for line in text.splitlines() if line.strip().startswith(title))


@pytest.fixture
def machine(tmp_path, down_yard):
    return Machine(tmp_path, down_yard)


@pytest.fixture
def plain(tmp_path):
    """A yard of another user than root, with a machine of paper."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to be somebody else")
    yard = Yard(tmp_path, prefix=PLAIN_USER, program=public_program(tmp_path))
    os.mkdir(yard.home, 0o700)
    for path in (yard.home, yard.work, tmp_path):
        os.chown(path, 65534, 65534)
    yield Machine(tmp_path, yard)
    yard("down", "--cancel", code=None)


def test_up_says_what_a_logout_does_and_why(plain):
    yard = plain.yard
    yard.up("--devices", "cpu:1")
    assert "logind leaves your processes alone" in fact(yard("status").out, "after logout")
    plain.logind("[Login]\n#KillUserProcesses=no\nKillUserProcesses=yes\n")
    said = fact(yard("status").out, "after logout")
    assert said.startswith("tasks are ended") and "KillUserProcesses=yes" in said and "loginctl enable-linger" in said
    until(lambda: not yard.json("status")["survives_logout"])  # the yard itself has seen it too
    open(plain.root + "/var/lib/systemd/linger/nobody", "w").close()
    assert "lingering is on for nobody" in fact(yard("status").out, "after logout")


@pytest.mark.parametrize("files, kills", [
    ({"etc/systemd/logind.conf": "[Login]\nKillUserProcesses = yes\n"}, True),
    ({"etc/systemd/logind.conf": "[Login]\n  KillUserProcesses=\tOn \n"}, True),
    ({"etc/systemd/logind.conf": "[Login]\nKillUserProcesses=y\n"}, True),
    ({"etc/systemd/logind.conf": "[Login]\nKillUserProcesses=perhaps\n"}, False),
    ({"etc/systemd/logind.conf": "[Other]\nKillUserProcesses=yes\n"}, False),
    ({"usr/lib/systemd/logind.conf": "[Login]\nKillUserProcesses=yes\n",  # the higher one stands for it
      "etc/systemd/logind.conf": "[Login]\n"}, False),
    ({"etc/systemd/logind.conf": "[Login]\nKillUserProcesses=no\n",  # parts win, by name and not by place
      "usr/lib/systemd/logind.conf.d/90-x.conf": "[Login]\nKillUserProcesses=yes\n",
      "etc/systemd/logind.conf.d/10-x.conf": "[Login]\nKillUserProcesses=no\n"}, True),
    ({"usr/lib/systemd/logind.conf.d/90-x.conf": "[Login]\nKillUserProcesses=yes\n",  # of one name the higher alone
      "etc/systemd/logind.conf.d/90-x.conf": ""}, False),
])
def test_whether_a_logout_kills_is_read_as_systemd_reads_it(plain, files, kills):
    for name, text in files.items():
        path = os.path.join(plain.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
    subprocess.check_call(["chmod", "-R", "a+rX", plain.root])
    plain.yard.up("--devices", "cpu:1")
    assert fact(plain.yard("status").out, "after logout").startswith("tasks are ended") == kills


def test_containment_is_told_the_same_with_and_without_a_yard(yard):
    kind = yard.json("status")["containment"]
    assert fact(yard("status").out, "containment").startswith(kind)

    def told():
        items = yard.json("doctor", code=None)["items"]
        return next(item for item in items if item["check"] == "containment")

    up = told()
    yard("down")
    assert told() == up
    assert kind in up["text"]


def test_without_systemd_a_logout_ends_nothing_and_it_is_said_so(tmp_path, down_yard):
    Machine(tmp_path, down_yard, systemd=False)
    said = fact(down_yard.up("--devices", "cpu:1").out, "after logout")
    assert said.startswith("tasks go on (nothing on this machine ends"), said


def test_at_boot_installs_a_unit_that_leaves_tasks_alone_and_makes_receipts_say_so(plain):
    yard = plain.yard
    before = yard.up("--devices", "cpu:1").out
    assert "trainyard up --at-boot" in fact(before, "after a reboot")
    said = yard("up", "--at-boot").out
    assert fact(said, "after a reboot").startswith("the yard starts by itself")
    units = glob.glob(yard.env["HOME"] + "/.config/systemd/user/trainyard*.service")
    assert len(units) == 1
    unit = open(units[0]).read()
    assert "\nKillMode=process\n" in unit and "\nDelegate=yes\n" in unit
    assert f'\nExecStart="{yard.command[-1]}" up --foreground\n' in unit
    assert f'\nEnvironment="TRAINYARD_HOME={yard.home}"\n' in unit
    assert "\nWantedBy=default.target\n" in unit and "@" not in unit
    link = os.path.dirname(units[0]) + "/default.target.wants/" + os.path.basename(units[0])
    assert os.path.realpath(link) == units[0]
    assert os.path.exists(plain.root + "/var/lib/systemd/linger/nobody")
    until(lambda: yard.json("status")["survives_reboot"])
    receipt = yard("run", "true").out
    assert "a reboot" in receipt and "resumes by itself" in receipt


def test_no_at_boot_takes_the_unit_away_again(plain):
    yard = plain.yard
    yard.up("--devices", "cpu:1", "--at-boot")
    yard("up", "--no-at-boot")
    assert not [path for path in glob.glob(yard.env["HOME"] + "/.config/systemd/user/**", recursive=True)
                if path.endswith(".service")]
    until(lambda: not yard.json("status")["survives_reboot"])
    answer = yard("up", "--no-at-boot", code=1)
    assert "was not set to start at boot" in answer.err


def test_root_gets_a_unit_of_the_machine(machine):
    if os.geteuid() != 0:
        pytest.skip("for root")
    machine.yard.up("--devices", "cpu:1", "--at-boot")
    unit = open(glob.glob(machine.root + "/etc/systemd/system/trainyard*.service")[0]).read()
    assert "\nWantedBy=multi-user.target\n" in unit
    assert machine.yard.json("status")["survives_reboot"]


def test_the_unit_is_one_that_systemd_understands(machine, tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze")
    machine.yard.up("--devices", "cpu:1", "--at-boot")
    unit, = glob.glob(machine.root + "/etc/systemd/system/trainyard*.service") or glob.glob(
        machine.yard.env["HOME"] + "/.config/systemd/user/trainyard*.service")
    known = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True,
                           env={"PATH": "/usr/bin:/bin"})
    about_it = [line for line in known.stderr.splitlines() if os.path.basename(unit) in line]
    assert not about_it, known.stderr


def test_where_linger_is_denied_it_is_said_who_can_help(plain):
    yard = plain.yard
    answer = yard("up", "--listen", "127.0.0.1:0", "--devices", "cpu:1", "--at-boot",
                  env={"FAKE_SYSTEMD": "denied"}, code=1)
    assert "loginctl enable-linger nobody" in answer.err and "administrator" in answer.err
    assert "The yard is up." in answer.out  # that much was done
    assert "only when nobody logs in" in fact(yard("status").out, "after a reboot")


def test_where_the_manager_cannot_be_reached_its_own_words_are_given(plain):
    answer = plain.yard("up", "--listen", "127.0.0.1:0", "--devices", "cpu:1", "--at-boot",
                        env={"FAKE_SYSTEMD": "nobus"}, code=1)
    assert "Failed to connect to bus" in answer.err and "Traceback" not in answer.err


def test_where_there_is_no_systemd_the_line_for_cron_is_given(tmp_path, down_yard):
    Machine(tmp_path, down_yard, systemd=False)
    answer = down_yard("up", "--listen", "127.0.0.1:0", "--devices", "cpu:1", "--at-boot", code=1)
    assert "@reboot" in answer.err and down_yard.home in answer.err and "crontab" in answer.err
    strange = {"TRAINYARD_HOME": down_yard.home + "/100%"}
    answer = down_yard("up", "--listen", "127.0.0.1:0", "--devices", "cpu:1", "--at-boot", code=1, env=strange)
    assert down_yard.home + "/100\\%" in answer.err  # cron would end the command there
    down_yard("down", env=strange)
    assert down_yard.json("status")["pid"]


def test_at_boot_and_not_at_boot_together_are_refused(down_yard):
    assert "--no-at-boot" in down_yard("up", "--at-boot", "--no-at-boot", code=2).err


def everything_of(yard):
    """Processes of its tasks and supervisors: what a reboot ends."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read()
            with open(f"/proc/{pid}/environ", "rb") as file:
                variables = file.read()
        except OSError:
            continue
        shim = words.startswith(b"trainyard-shim") and yard.home.encode() in words
        if shim or f"TRAINYARD_OUT={yard.home}/".encode() in variables:
            yield int(pid)


def test_after_a_reboot_the_queue_goes_on_and_what_ran_resumes_from_its_checkpoint(down_yard):
    yard = down_yard
    script = ('if [ -n "$TRAINYARD_RESUME" ]; then echo "from $TRAINYARD_RESUME"; exit 0; fi; '
              'touch "$TRAINYARD_OUT/five"; '
              'echo "{\\"attempt\\":1,\\"time\\":1,\\"step\\":5,\\"path\\":\\"$TRAINYARD_OUT/five\\",\\"bytes\\":0}" '
              '>> "$TRAINYARD_OUT/checkpoints.jsonl"; sleep 600')
    yard.start("up", "--listen", "127.0.0.1:0", "--devices", "cpu:2", env=BEFORE).wait()
    yard("run", "-q", "sh", "-c", script)
    yard("run", "-q", "-n", "plain", "sleep", "600")
    yard("run", "-q", "-n", "behind", "sh", "-c", "echo behind")
    until(lambda: yard.events("checkpoint.saved", task=1))
    yard.await_state(2, "running")
    daemon = yard.pid()
    for pid in [daemon, *everything_of(yard)]:
        os.kill(pid, signal.SIGKILL)
    until(lambda: not list(everything_of(yard)))

    yard.start("up", "--listen", "127.0.0.1:0", env=AFTER).wait()
    yard("wait", "1", "3")
    first = yard.task(1)
    assert [attempt["outcome"]["kind"] for attempt in first["attempts"]] == ["lost", "succeeded"]
    assert "reboot" in json.dumps(first["attempts"][0]["outcome"]["reason"])
    assert yard("logs", "1").out.startswith(f"from {yard.home}/tasks/1/five")
    plain = yard.task(2)
    assert plain["held"] and plain["attempts"][0]["outcome"]["kind"] == "lost"  # nothing to resume from


# ---- File systems


def on_nfs(folder):
    return {"TRAINYARD_FS_TYPE": f"nfs4:{os.path.realpath(folder)}"}


def test_a_state_folder_named_on_a_network_file_system_is_refused_with_the_reason(tmp_path, down_yard):
    answer = down_yard("up", env=on_nfs(tmp_path), code=2)
    for word in (down_yard.home, "nfs4", "network file system", "TRAINYARD_HOME", "disk of this machine"):
        assert word in answer.err, answer.err
    assert not os.path.exists(down_yard.home)


def test_so_is_one_that_the_config_names(tmp_path, down_yard):
    os.makedirs(tmp_path / ".config/trainyard")
    (tmp_path / ".config/trainyard/trainyard.yaml").write_text(f"paths:\n  state: {tmp_path}/shared\n")
    del down_yard.env["TRAINYARD_HOME"]
    answer = down_yard("run", "true", env=on_nfs(tmp_path), code=2)
    assert f"{tmp_path}/shared" in answer.err and "nfs4" in answer.err


@pytest.fixture
def homeless(tmp_path):
    """A plain user whose home lies on the network and who names no state folder."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to be somebody else")
    local = "/var/tmp/trainyard-65534"
    if os.path.exists(local):
        pytest.skip(f"{local} is in use")
    yard = Yard(tmp_path, prefix=PLAIN_USER, program=public_program(tmp_path))
    for path in (yard.work, tmp_path):
        os.chown(path, 65534, 65534)
    del yard.env["TRAINYARD_HOME"]
    yard.env.update(on_nfs(tmp_path))
    yield yard, local
    yard("down", "--cancel", code=None)
    shutil.rmtree(local, ignore_errors=True)


def test_the_usual_place_on_the_network_is_left_for_a_local_disk_once_and_for_good(homeless):
    yard, local = homeless
    answer = yard.up("--devices", "cpu:1")
    assert local in answer.err and "nfs4" in answer.err and "trainyard.yaml" in answer.err
    assert yard.json("status")["home"] == local
    assert stat.S_IMODE(os.stat(local).st_mode) == 0o700
    config = yard.env["HOME"] + "/.config/trainyard/trainyard.yaml"
    assert open(config).read() == f"paths:\n  state: {local}\n"
    yard("run", "--wait", "true")
    yard("down")
    again = yard.up()
    assert "network" not in again.err  # said once
    assert yard.json("ls", "-a")["items"][0]["id"] == 1
    assert not os.path.exists(yard.env["HOME"] + "/.local/state/trainyard")


def test_the_place_is_added_to_a_config_that_is_there(homeless):
    yard, local = homeless
    folder = yard.env["HOME"] + "/.config/trainyard"
    os.makedirs(folder)
    with open(folder + "/trainyard.yaml", "w") as file:
        file.write("# mine\ndevices: cpu:1")
    for path in (yard.env["HOME"] + "/.config", folder):
        os.chown(path, 65534, 65534)
    yard.up()
    assert open(folder + "/trainyard.yaml").read() == f"# mine\ndevices: cpu:1\npaths:\n  state: {local}\n"
    assert len(yard.devices()) == 1


def test_a_folder_that_somebody_else_put_in_that_place_is_not_used(homeless):
    yard, local = homeless
    os.mkdir(local, 0o777)  # root's
    answer = yard("up", code=2)
    assert "no disk of this machine" in answer.err


def test_a_queue_that_lies_on_the_network_is_not_left_behind_silently(homeless):
    yard, local = homeless
    home = yard.env["HOME"] + "/.local/state/trainyard"
    os.makedirs(home)
    open(home + "/yard.db", "w").close()
    answer = yard("up", code=2)
    assert f"cp -a {home} {local}" in answer.err


# ---- Processes and locks


def test_a_task_gets_none_of_the_daemons_descriptors(yard):
    yard("run", "--wait", "sh", "-c", "ls -l /proc/self/fd > fds")
    with open(os.path.join(yard.work, "fds")) as file:
        targets = re.findall(r"(\d+) -> (.*)", file.read())
    beyond = [(number, target) for number, target in targets if int(number) > 2 and not target.startswith("/proc/")]
    assert not beyond, targets


def test_a_task_starts_with_the_oom_score_of_its_user_not_with_ours(yard):
    with open("/proc/self/oom_score_adj") as file:
        mine = file.read().strip()
    yard("run", "--wait", "sh", "-c", "cat /proc/self/oom_score_adj")
    assert yard("logs", "1").out.strip() == mine


def test_a_copied_state_folder_is_a_yard_of_its_own_and_leaves_the_others_tasks_alone(tmp_path, yard):
    yard("run", "-q", "sleep", "600")
    pid = until(lambda: yard.events("attempt.started", task=1))[0]["data"]["pid"]
    copy = str(tmp_path / "copy")
    subprocess.check_call(["cp", "-a", yard.home, copy])
    answer = yard("up", "--listen", "127.0.0.1:0", env={"TRAINYARD_HOME": copy}, code=1)
    assert copy in answer.err and "task 1" in answer.err, answer.err
    assert os.path.exists(f"/proc/{pid}") and yard.task(1)["state"] == "running"
    yard("cancel", "1")
    yard("wait", "1", code=130)
    yard("up", "--listen", "127.0.0.1:0", env={"TRAINYARD_HOME": copy})
    try:  # once nothing of the original runs it is a yard of its own
        assert yard.json("status", env={"TRAINYARD_HOME": copy})["instance"] != yard.json("status")["instance"]
    finally:
        yard("down", "--cancel", env={"TRAINYARD_HOME": copy})


def test_the_socket_comes_back_when_it_was_tidied_away(yard):
    os.remove(yard.home + "/sock")
    pid = int(open(yard.home + "/daemon.lock").read().split()[0])
    until(lambda: os.path.exists(yard.home + "/sock"))
    assert yard.pid() == pid


def test_restarting_the_daemon_leaves_tasks_running(yard):
    """What systemctl restart does: TERM to the daemon alone (KillMode=process), then a new one."""
    yard("run", "-q", "sleep", "600")
    yard.await_state(1, "running")
    pid = yard.pid()
    os.kill(pid, signal.SIGTERM)
    until(lambda: not os.path.exists(f"/proc/{pid}"))
    yard.up()
    assert yard.task(1)["state"] == "running" and len(yard.task(1)["attempts"]) == 1


def test_a_daemon_that_stood_still_hears_of_the_ends_when_it_goes_on(yard):
    os.mkfifo(os.path.join(yard.work, "go"))
    yard("run", "-q", "sh", "-c", "cat go; exit 7")
    pid = until(lambda: yard.events("attempt.started", task=1))[0]["data"]["pid"]
    daemon = yard.pid()
    os.kill(daemon, signal.SIGSTOP)
    try:
        with open(os.path.join(yard.work, "go"), "w"):
            pass
        until(lambda: not os.path.exists(f"/proc/{pid}"))
    finally:
        os.kill(daemon, signal.SIGCONT)
    yard("wait", "1", code=7)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_daemon_ends_with_0_on_a_signal_and_the_next_adopts(down_yard, number):
    ready, told = os.pipe()
    daemon = down_yard.start("up", "--foreground", "--ready-fd", str(told), "--listen", "127.0.0.1:0", "--devices",
                             "cpu:1", pass_fds=[told])
    os.close(told)
    assert b"pid" in os.read(ready, 4096)
    os.close(ready)
    down_yard("run", "-q", "sleep", "600")
    down_yard.await_state(1, "running")
    daemon.send_signal(number)
    daemon.communicate()
    assert daemon.returncode == 0
    down_yard.up()
    assert down_yard.task(1)["state"] == "running"


# ---- The page


def test_every_test_and_run_that_the_page_names_is_there():
    with open(os.path.join(ROOT, "docs/guarantees.md")) as file:
        page = file.read()
    named = set(re.findall(r"`(test_\w+)`", page)) | {name for _, name in re.findall(r"`(\w+)\.(\w+)`", page)
                                                      if name[0].isupper()}
    assert len(named) > 40
    source = ""
    for pattern in ("tests/**/*.py", "src/**/*_test.cc", "python/tests/*.py", "tools/**/*.py"):
        for path in glob.glob(os.path.join(ROOT, pattern), recursive=True):
            with open(path) as file:
                source += file.read()
    missing = [name for name in sorted(named) if not re.search(rf"\b{name}\b", source)]
    assert not missing, missing
    assert BIN
