"""GPUs of paper under the real program: who gets which, what a share does, and what happens when one breaks."""
import os
import pwd
import re
import signal
import subprocess

import pytest

from yarding import PLAIN_USER, Cards, Yard, open_to_all, public_program, until

PYTHON = "/usr/bin/python3"  # the one with PyTorch
HAS_TORCH = subprocess.run([PYTHON, "-c", "import importlib.util as i; raise SystemExit(not i.find_spec('torch'))"],
                           check=False).returncode == 0


def make_yard(folder, count=2, **more):
    cards = Cards(folder, count)
    yard = Yard(folder, cards=cards, **more)
    yard.cards = cards
    return yard


@pytest.fixture
def down_gpus(tmp_path):
    yard = make_yard(tmp_path)
    yield yard
    yard("down", "--cancel", code=None)


@pytest.fixture
def gpus(down_gpus):
    down_gpus.up()
    return down_gpus


@pytest.fixture
def down_gpu(tmp_path):
    yard = make_yard(tmp_path, 1)
    yield yard
    yard("down", "--cancel", code=None)


@pytest.fixture
def gpu(down_gpu):
    down_gpu.up()
    return down_gpu


@pytest.fixture(params=["whoever runs this", pytest.param("a plain user", marks=pytest.mark.skipif(
    os.getuid() != 0, reason="needs root to become another user"))])
def anyones(request, tmp_path):
    """Two cards and a yard that is not up."""
    if request.param == "whoever runs this":
        yard = make_yard(tmp_path)
    else:
        home = tmp_path / "plain"
        home.mkdir()
        yard = make_yard(home, prefix=PLAIN_USER, program=public_program(tmp_path))
        open_to_all(home)
        for folder in (home, home / "work"):
            os.chown(folder, 65534, 65534)
    yield yard
    yard("down", "--cancel", code=None)


# A task that says something, and what ends it.
def lasting(yard, *options, name="lasting", code=0, say="echo $$", stop=None):
    stop = os.path.join(yard.work, stop or f"stop-{name}")
    script = f"{say}; until [ -e {stop} ]; do sleep 0.02; done; exit {code}"
    return int(yard("run", "-q", "-n", name, *options, "sh", "-c", script).out)


def finish(yard, name):
    with open(os.path.join(yard.work, f"stop-{name}"), "w"):
        pass


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def helper_of(yard):
    """The process that reads the cards for the yard."""
    daemon = yard.pid()

    def found():
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
                with open(f"/proc/{pid}/stat") as file:
                    parent = int(file.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if parent == daemon and b"probe-devices" in words:
                return int(pid)
        return None

    return until(found)


def health(yard, label):
    return (yard.devices()[label]["reading"] or {}).get("health")


def probe(yard):
    return yard.json("devices")["probe"]["state"]


# ---- Processes of a run


def test_one_process_sees_both_cards_by_their_uuids(gpus):
    show = "echo $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER ${RANK-none} ${WORLD_SIZE-none}"
    stale = {"RANK": "7", "WORLD_SIZE": "9", "CUDA_VISIBLE_DEVICES": "5"}  # of the shell it was typed in
    receipt = gpus("run", "--wait", "-g", "2", "sh", "-c", show, env=stale).out
    assert "1 process, sees GPU0, GPU1" in receipt
    log = gpus("logs", "1")
    assert log.out == f"{','.join(gpus.cards.ids)} PCI_BUS_ID none none\n"
    assert "NVIDIA GeForce RTX 3080 ×2" in log.out + log.err
    assert gpus.task(1)["attempts"][0]["processes"] == 1 and gpus.task(1)["attempts"][0]["ranks"] == []


def test_on_request_cards_go_by_their_numbers(gpus):
    gpus("run", "--wait", "-g", "2", "--gpu-ids", "index", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES")
    assert gpus("logs", "1").out == "0,1\n"


def test_without_a_card_a_task_sees_none(gpus):
    gpus("run", "--wait", "-g", "0", "sh", "-c", "echo \"[$CUDA_VISIBLE_DEVICES]\"")
    assert gpus("logs", "1").out == "[]\n"


def test_ranks_start_one_process_for_each_card(gpus):
    show = "echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $MASTER_ADDR $MASTER_PORT $CUDA_VISIBLE_DEVICES"
    receipt = gpus("run", "--wait", "-g", "2", "--ranks", "sh", "-c", show).out
    assert "2 processes, one per device: GPU0, GPU1" in receipt
    said = [gpus("logs", "--rank", str(rank), "1").out.split() for rank in (0, 1)]
    assert [words[:5] for words in said] == [[str(rank), str(rank), "2", "2", "127.0.0.1"] for rank in (0, 1)]
    assert said[0][5:] == said[1][5:] and said[0][6] == ",".join(gpus.cards.ids)
    assert 20000 <= int(said[0][5]) <= 27999
    assert gpus("logs", "1").out.split()[0] == "0"
    attempt = gpus.task(1)["attempts"][0]
    assert attempt["processes"] == 2
    assert attempt["ranks"] == [{"rank": rank, "exit_code": 0, "signal": None} for rank in (0, 1)]
    folder = os.path.dirname(attempt["log_path"])
    assert {"log.0", "log.1"} <= set(os.listdir(folder)) and "log" not in os.listdir(folder)


def test_one_rank_is_told_as_one_process(gpu):
    assert "1 process, one per device: GPU0" in gpu("run", "--wait", "-g", "1", "--ranks", "true").out


def test_the_rank_that_fails_first_is_the_tasks_end_and_the_others_are_stopped(anyones):
    yard = anyones
    # Rank 1 fails once rank 0 has said who it is.
    script = "test $RANK = 0 && { echo $$; : > said; exec sleep 1000; }; until test -e said; do sleep 0.01; done; exit 9"
    yard("run", "--wait", "-g", "2", "--ranks", "sh", "-c", script, code=9)
    attempt = yard.task(1)["attempts"][0]
    assert attempt["outcome"]["exit_code"] == 9
    assert attempt["ranks"][1] == {"rank": 1, "exit_code": 9, "signal": None}
    assert attempt["ranks"][0] == {"rank": 0, "exit_code": None, "signal": signal.SIGTERM}
    assert not alive(int(yard("logs", "--rank", "0", "1").out))


def test_a_command_that_launches_its_own_ranks_stays_one_process(gpus):
    script = "for i in 0 1; do RANK=$i sh -c 'echo rank $RANK' & done; wait"
    assert "1 process" in gpus("run", "--wait", "-g", "2", "sh", "-c", script).out
    assert sorted(gpus("logs", "1").out.splitlines()) == ["rank 0", "rank 1"]
    assert gpus.task(1)["attempts"][0]["processes"] == 1


@pytest.mark.skipif(not HAS_TORCH, reason="no PyTorch here")
def test_real_ranks_of_pytorch_add_up_their_numbers(down_yard):
    down_yard.up("--devices", "cpu:2")
    script = ("import torch, torch.distributed as dist\n"
              "dist.init_process_group('gloo')\n"
              "one = torch.tensor([dist.get_rank() + 1.0])\n"
              "dist.all_reduce(one)\n"
              "print(dist.get_rank(), one.item())\n"
              "dist.destroy_process_group()\n")
    with open(os.path.join(down_yard.work, "sum.py"), "w") as file:
        file.write(script)
    down_yard("run", "--wait", "-g", "2", "--ranks", PYTHON, "sum.py")
    assert [down_yard("logs", "--rank", rank, "1").out for rank in "01"] == ["0 3.0\n", "1 3.0\n"]


# ---- Refused at submit


@pytest.mark.parametrize("words, named", [
    (["-g", "16"], "-g"),
    (["--gpu-memory", "100G"], "--gpu-memory"),
    (["-g", "2", "--ranks", "--share", "0.5:turns"], "--share"),
    (["-g", "2", "--share", "0.5:turns"], "--share"),
    (["--share", "1.5"], "--share"),
    (["--share", "0.5:sometimes"], "--share"),
    (["--gpu-ids", "name"], "--gpu-ids"),
])
def test_what_can_never_run_is_refused_with_the_option_to_change(gpus, words, named):
    answer = gpus("run", *words, "true", code=2)
    assert named in answer.err and len(answer.err.strip().splitlines()) <= 2
    assert gpus.json("ls", "-a")["items"] == []


def test_a_card_is_of_the_size_it_is_sold_as_and_a_share_of_what_it_has(down_gpu):
    gpu = beside(down_gpu, "memory 24564 0 420")
    gpu("run", "--wait", "--gpu-memory", "24G", "true")
    refused = gpu("run", "--gpu-memory", "25G", "true", code=2).err
    assert "25 GiB" in refused and "24 GiB" in refused
    refused = gpu("run", "--share", "0.9", "--gpu-memory", "24G", "true", code=2).err
    assert "24 GiB" in refused and "23.6 GiB" in refused


# ---- Use from outside the yard (queues 4.7: 82, 83)


@pytest.fixture
def stranger():
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def beside(yard, *lines):
    """An idle yard looks seldom: it begins with this."""
    yard.cards(own={0: lines})
    yard.up()
    return yard


def test_a_strangers_process_is_named_and_waited_for_until_it_is_dead_though_the_list_still_has_it(down_gpu, stranger):
    gpu = beside(down_gpu, f"process {stranger.pid} compute 900")
    assert gpu.devices()["GPU0"]["state"] == "foreign"
    task = lasting(gpu)
    why = gpu.why(task)["text"]
    assert str(stranger.pid) in why and pwd.getpwuid(os.getuid()).pw_name in why and "sleep 600" in why
    process, = gpu.devices()["GPU0"]["processes"]
    assert process["foreign"] and process["memory"] == 900 << 20 and process["task"] is None
    assert gpu.events("device.foreign")[0]["data"]["processes"][0]["pid"] == stranger.pid
    stranger.kill()
    stranger.wait()
    gpu.await_state(task, "running")
    assert gpu.devices()["GPU0"]["processes"] == []


@pytest.mark.parametrize("kind, memory", [("graphics", 300), ("graphics", 900), ("compute", 400)])
def test_neither_a_desktop_nor_a_small_process_keeps_a_card_busy(down_gpu, stranger, kind, memory):
    gpu = beside(down_gpu, f"process {stranger.pid} {kind} {memory}", f"memory 10240 {memory} 300")
    assert gpu.devices()["GPU0"]["processes"][0]["pid"] == stranger.pid
    gpu("run", "--wait", "true")
    assert gpu.events("device.foreign") == []


def test_a_process_that_cannot_tell_its_memory_has_what_nobody_else_accounts_for(down_gpu, stranger):
    gpu = beside(down_gpu, f"process {stranger.pid} compute -", "memory 10240 8000 300", "load 60 10")
    assert gpu.devices()["GPU0"]["state"] == "foreign"
    task = lasting(gpu)
    assert str(stranger.pid) in gpu.why(task)["text"] and "7.8 GiB" in gpu.why(task)["text"]
    process, = gpu.devices()["GPU0"]["processes"]
    assert process["foreign"] and process["memory"] is None
    assert gpu.events("device.foreign")[0]["data"]["processes"][0]["memory"] is None
    gpu.cards()
    gpu.await_state(task, "running")


def test_a_task_on_a_card_that_it_does_not_hold_is_named_and_waited_for(gpus):
    one, two = (lasting(gpus, "-g", "1", name=name) for name in ("one", "two"))
    pid = int(gpus.out(two))
    assert gpus.task(two)["devices"] == [gpus.cards.ids[1]]
    gpus.cards(own={0: ["memory 10240 9900 300", f"process {pid} compute 9900", "load 10 10"]})
    process, = until(lambda: gpus.devices()["GPU0"]["processes"])
    assert process["task"] == two and process["foreign"]
    finish(gpus, "one")
    gpus("wait", str(one))
    three = lasting(gpus, "-g", "1", name="three")
    assert gpus.why(three)["id"] == "why.gpus_some_out", "it starts when two ends as well"
    reason = gpus.devices()["GPU0"]["reason"]
    assert reason["id"] == "device.astray" and f"task {two} (two)" in reason["text"]
    assert "used without a lease" in gpus("devices").out and "outside" not in gpus("devices").out
    gpus.cards(own={1: [f"process {pid} compute 9900"]})
    gpus.await_state(three, "running")
    assert gpus.devices()["GPU1"]["state"] == "leased"


def test_memory_that_nobody_holds_is_waited_for_and_then_takes_the_card_out(down_gpu):
    gpu = beside(down_gpu, "memory 10240 3000 300")
    task = lasting(gpu)
    until(lambda: gpu.why(task)["id"] in ("device.freeing", "device.memory_held"))
    out, = until(lambda: gpu.events("device.quarantined"))
    assert out["data"]["why"] == "memory_held" and gpu.task(task)["state"] == "waiting"
    gpu.cards()
    gpu.await_state(task, "running")


def test_load_that_nobody_is_seen_to_make_is_waited_for(down_gpu):
    gpu = beside(down_gpu, "load 97 40")
    task = lasting(gpu)
    assert "97" in gpu.why(task)["text"]
    gpu.cards()
    gpu.await_state(task, "running")


def test_an_exclusive_task_wants_not_even_a_desktop(down_gpu, stranger):
    gpu = beside(down_gpu, f"process {stranger.pid} graphics 300", "memory 10240 300 300")
    task = lasting(gpu, "--exclusive")
    assert "nobody else on it, not even a desktop" in gpu.why(task)["text"]
    gpu.cards()
    gpu.await_state(task, "running")


def test_a_released_card_is_used_beside_the_stranger(down_gpu, stranger):
    gpu = beside(down_gpu, f"process {stranger.pid} compute 900")
    task = lasting(gpu)
    assert gpu.task(task)["state"] == "waiting"
    gpu("devices", "release", "0")
    gpu.await_state(task, "running")


def test_a_held_card_is_given_to_nobody_until_it_is_released(gpu):
    gpu("devices", "hold", "0", "--until", "1h")
    assert gpu.devices()["GPU0"]["state"] == "held" and gpu.devices()["GPU0"]["held_until"]
    task = lasting(gpu)
    assert "on hold" in gpu.why(task)["text"]
    gpu("devices", "release", "GPU0")
    gpu.await_state(task, "running")
    assert gpu.devices()["GPU0"]["state"] == "leased"


# ---- A card that breaks (queues 4.7: 85, 86, 88, 91, 92)


def test_a_lost_card_sends_its_task_to_the_other_and_leaves_that_ones_alone(gpus):
    first, second = (lasting(gpus, "-g", "1", name=name) for name in ("one", "two"))
    for task in (first, second):
        gpus.await_state(task, "running")
    assert gpus.task(first)["devices"] == [gpus.cards.ids[0]]
    gpus.cards(own={0: ["lost"]})
    gpus.await_state(first, "waiting")
    lost, = gpus.events("device.lost")
    assert lost["data"]["device"] == gpus.cards.ids[0]
    attempt = gpus.task(first)["attempts"][0]
    assert attempt["outcome"]["kind"] == "preempted" and "GPU0" in attempt["outcome"]["reason"]["text"]
    card = gpus.devices()["GPU0"]
    assert card["state"] == "lost" and not card["usable"] and card["out_since"]
    assert "fell off the bus" in gpus("devices").out
    assert "GPU0" in gpus("devices", "release", "0", code=1).err
    assert gpus.devices()["GPU0"]["state"] == "lost"
    assert gpus.task(second)["state"] == "running" and len(gpus.task(second)["attempts"]) == 1

    finish(gpus, "two")
    gpus("wait", str(second))
    again = gpus.await_state(first, "running")
    assert again["attempt"] == 2 and again["devices"] == [gpus.cards.ids[1]] and again["retries"] == 0

    gpus.cards()
    until(lambda: health(gpus, "GPU0") == "good")
    assert gpus.devices()["GPU0"]["state"] == "lost"  # who has looked at it says so
    gpus("devices", "release", "0")
    assert gpus.devices()["GPU0"]["state"] == "free"
    assert len(gpus.events("device.restored")) == 1


def test_a_bad_handle_hides_only_itself(tmp_path):
    yard = make_yard(tmp_path, 4)
    yard.cards(own={2: ["error nvmlDeviceGetHandleByIndex UNKNOWN"]})
    try:
        yard.up()
        assert [card["usable"] for card in yard.devices().values()] == [True, True, False, True]
        yard("run", "--wait", "-g", "3", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES")
        ids = yard.cards.ids
        assert yard("logs", "1").out.strip().split(",") == [ids[0], ids[1], ids[3]]
    finally:
        yard("down", "--cancel", code=None)


def test_seven_of_eight_cards_are_used_and_the_missing_one_is_told(tmp_path):
    yard = make_yard(tmp_path, 8)
    try:
        yard.up()
        yard("down")
        yard.cards(order=range(7))
        yard.up()
        lost = until(lambda: yard.events("device.lost"))
        assert [event["data"]["device"] for event in lost] == [yard.cards.ids[7]]
        states = [card["state"] for card in yard.devices().values()]
        assert states == ["free"] * 7 + ["lost"]
        yard("run", "--wait", "-g", "7", "true")
        task = lasting(yard, "-g", "8")
        assert yard.task(task)["state"] == "waiting" and "GPU7" in yard.why(task)["text"] + yard("devices").out
        yard.cards()
        until(lambda: health(yard, "GPU7") == "good")
        yard("devices", "release", "7")
        yard.await_state(task, "running")
    finally:
        yard("down", "--cancel", code=None)


def test_a_lost_card_stays_one_card_over_a_restart(down_gpus):
    yard = down_gpus
    yard.up()
    yard("down")
    yard.cards(own={0: ["lost"]})
    yard.up()
    until(lambda: yard.events("device.lost"))
    cards = yard.json("devices")["items"]
    assert [(card["id"], card["state"]) for card in cards] == list(zip(yard.cards.ids, ["lost", "free"]))
    assert "1 of 2 GPUs can be given out" in yard("doctor", code=None).out


def test_a_number_that_no_card_has_is_not_a_card_that_broke(down_gpu):
    gpu = down_gpu
    gpu.up("--devices", "gpu:0,5")
    card = gpu.devices()["GPU5"]
    assert card["state"] == "unknown" and card["reason"]["id"] == "device.absent"
    assert "here are GPU0." in card["reason"]["text"]
    assert gpu.events("device.lost") == []
    doctor = gpu("doctor", code=None).out
    assert "1 GPU to give out" in doctor and "no GPU of this number" in doctor
    gpu("run", "--wait", "true")


def test_a_card_that_counts_memory_errors_says_how_to_clear_them(gpu):
    lasting(gpu)  # a busy yard looks often
    gpu.cards(own={0: ["ecc 3"]})
    until(lambda: gpu.devices()["GPU0"]["state"] == "quarantined")
    refused = gpu("devices", "release", "0", code=1).err
    assert "uncorrectable" in refused and "--gpu-reset" in refused


def test_an_applications_fault_is_the_tasks_and_a_hardware_fault_the_cards(gpu):
    task = lasting(gpu, name="one")
    gpu.await_state(task, "running")
    gpu.cards(own={0: ["xid 31", "temperature 71"]})
    until(lambda: gpu.devices()["GPU0"]["reading"]["temperature_c"] == 71)
    assert gpu.devices()["GPU0"]["state"] == "leased"
    gpu.cards(own={0: ["xid 31", "xid 79", "temperature 72"]})
    out, = until(lambda: gpu.events("device.quarantined"))
    assert out["data"]["why"] == "xid" and out["data"]["reason"]["args"]["xid"] == 79
    card = gpu.devices()["GPU0"]
    assert card["state"] == "quarantined" and "79" in card["reason"]["text"]
    assert gpu.task(task)["state"] == "running"
    after = lasting(gpu, name="two")
    finish(gpu, "one")
    gpu("wait", str(task))
    ended, = gpu.events("attempt.ended", task=task)
    assert ended["data"]["xids"] == [31, 79]
    assert gpu.task(after)["state"] == "waiting"
    gpu("devices", "release", "0")
    gpu.await_state(after, "running")


def test_what_the_driver_saw_last_explains_an_end_the_log_says_nothing_of(gpu):
    task = lasting(gpu, name="one", code=1)
    gpu.await_state(task, "running")
    gpu.cards(own={0: ["xid 31"]})  # and the task ends before anybody has looked again
    finish(gpu, "one")
    gpu("wait", str(task), code=1)
    attempt, = gpu.task(task)["attempts"]
    assert attempt["outcome"]["class"] == "cuda_fault"
    assert "XID 31 on GPU0" in attempt["outcome"]["reason"]["text"]
    assert attempt["rule"]["id"] == "retry.no_progress"
    assert attempt["rule"]["text"] in " ".join(gpu("show", str(task)).out.split())


def test_a_run_that_a_broken_card_ended_says_why_it_ran_again(gpus):
    task = lasting(gpus, "-g", "1", name="one", code=1)
    gpus.await_state(task, "running")
    gpus.cards(own={0: ["xid 79"]})
    until(lambda: gpus.events("device.quarantined"))
    finish(gpus, "one")
    gpus("wait", str(task), code=1)
    first, second = gpus.task(task)["attempts"]
    assert "XID 79 on GPU0" in first["outcome"]["reason"]["text"] and first["rule"]["id"] == "retry.device_broken"
    assert second["outcome"]["reason"]["id"] == "outcome.exit_code"
    assert "After run 1: " in gpus("show", str(task)).out


def test_whoever_waits_for_another_cards_holder_is_told_so_though_a_card_is_lost(gpus):
    lasting(gpus, "-g", "1", name="one")
    gpus.await_state(1, "running")
    gpus.cards(own={1: ["lost"]})
    until(lambda: gpus.events("device.lost"))
    waits = lasting(gpus, "-g", "1", name="two")
    reason = gpus.why(waits)
    assert reason["id"] == "why.gpus_some_out" and "one" in reason["text"] and "GPU1" in reason["text"]
    finish(gpus, "one")
    gpus.await_state(waits, "running")


def test_numbers_follow_the_cards_and_a_hold_follows_its_uuid(gpus):
    first, second = gpus.cards.ids
    gpus("devices", "hold", "0")
    task = lasting(gpus)
    assert gpus.await_state(task, "running")["devices"] == [second]
    gpus("down")
    gpus.cards(order=[1, 0])
    gpus.up()
    until(lambda: gpus.devices()["GPU0"]["id"] == second)
    assert gpus.devices()["GPU1"]["id"] == first and gpus.devices()["GPU1"]["state"] == "held"
    assert gpus.devices()["GPU0"]["state"] == "leased"
    assert gpus.devices()["GPU0"]["leases"][0]["task"] == task
    assert gpus.task(task)["state"] == "running" and len(gpus.task(task)["attempts"]) == 1


def test_slices_of_a_card_are_given_out_by_their_own_uuids(tmp_path):
    yard = make_yard(tmp_path, 1)
    slices = {place: yard.cards.ids[0].replace("GPU-", "MIG-")[:-1] + str(place) for place in (0, 2, 5)}
    yard.cards(own={0: [line for place, uid in slices.items()
                        for line in (f"mig {place} {uid} {place + 1}", "name MIG 1g.5gb", "memory 4864 0 0")]})
    try:
        yard.up()
        assert sorted(yard.devices()) == ["GPU0/0", "GPU0/2", "GPU0/5"]
        tasks = [lasting(yard, "--gpu-ids", form, name=f"t{i}", say="echo $CUDA_VISIBLE_DEVICES")
                 for i, form in enumerate(("uuid", "uuid", "index"))]  # CUDA knows no number of a slice
        assert sorted(yard.out(task) for task in tasks) == sorted(slices.values())
    finally:
        yard("down", "--cancel", code=None)


# ---- A driver that does not answer


def test_a_driver_that_hangs_from_the_start_keeps_nobody_waiting_but_the_tasks_that_need_it(down_gpus):
    yard = down_gpus
    yard.cards("hang nvmlInit")
    yard.up()
    # Nothing lets the driver go before all of these have answered.
    until(lambda: probe(yard) == "hanging")
    assert yard.json("ls")["items"] == [] and yard.json("status")["pid"]
    yard("run", "--wait", "-g", "0", "true")
    task = lasting(yard, "-g", "1")
    assert yard.why(task)["id"] == "probe.hanging"
    assert "does not answer" in yard("why", str(task)).out
    assert "does not answer" in yard("devices").out and "does not answer" in yard("doctor", code=None).out
    yard.cards()
    os.kill(helper_of(yard), signal.SIGKILL)  # which the watch would do itself, later
    yard.await_state(task, "running")
    assert probe(yard) == "good"


def test_a_driver_that_hangs_later_stops_nothing_that_runs(gpus):
    running = lasting(gpus, "-g", "1", name="runs")
    gpus.await_state(running, "running")
    gpus.cards("hang nvmlDeviceGetUtilizationRates")
    until(lambda: probe(gpus) == "hanging")
    assert [card["state"] for card in gpus.devices().values()] == ["unknown", "unknown"]
    waits = lasting(gpus, "-g", "1", name="waits")
    assert gpus.task(waits)["state"] == "waiting" and gpus.why(waits)["id"] == "probe.hanging"
    gpus("run", "--wait", "-g", "0", "true")
    assert gpus.task(running)["state"] == "running" and "does not answer" in gpus("devices").out
    finish(gpus, "runs")
    gpus("wait", str(running))
    gpus.cards()
    gpus.await_state(waits, "running")


def test_a_driver_that_was_upgraded_under_the_yard_lets_what_runs_go_on_and_asks_for_a_reboot(gpus):
    running = lasting(gpus, "-g", "1", name="runs")
    gpus.await_state(running, "running")
    gpus.cards("init LIB_RM_VERSION_MISMATCH")
    os.kill(helper_of(gpus), signal.SIGKILL)  # the next one loads the new library
    until(lambda: probe(gpus) == "mismatch")
    waits = lasting(gpus, "-g", "1", name="waits")
    assert gpus.why(waits)["id"] == "probe.mismatch" and "rebooted" in gpus.why(waits)["text"]
    assert "rebooted" in gpus("devices").out and "reboot" in gpus("doctor", code=None).out
    assert gpus.task(running)["state"] == "running" and len(gpus.devices()) == 2
    gpus.cards()
    gpus.await_state(waits, "running")


def test_devices_come_back_after_their_reader_crashed(gpus):
    running = lasting(gpus, "-g", "1", name="runs")
    gpus.await_state(running, "running")
    gpus.cards("crash nvmlDeviceGetCount")
    until(lambda: probe(gpus) == "crashed")
    waits = lasting(gpus, "-g", "1", name="waits")
    assert gpus.why(waits)["id"] == "probe.crashed"
    gpus.cards()
    gpus.await_state(waits, "running")
    assert gpus.task(running)["state"] == "running" and probe(gpus) == "good"


# ---- Shares


COUNTING = "i=0; until [ -e {stop} ]; do i=$((i+1)); echo $i; sleep 0.02; done; exit {code}"


def counting(yard, name, code, share):
    script = COUNTING.format(stop=os.path.join(yard.work, f"stop-{name}"), code=code)
    return int(yard("run", "-q", "-n", name, "-g", "1", "--share", share, "sh", "-c", script).out)


def turns_of(yard, task, before=None):
    return [event["kind"] for event in yard.events("attempt.frozen", "attempt.thawed", task=task)
            if before is None or event["seq"] < before]


def test_a_dead_daemon_freezes_nobody_and_turns_go_on_with_the_next(anyones):
    yard = anyones
    yard.up("--devices", "cpu:1")
    # Long enough that b stays frozen from the look at it to the daemon's death.
    b, c = counting(yard, "b", 3, "0.5:turns:4s"), counting(yard, "c", 4, "0.5:turns:4s")
    log = yard.await_state(b, "running")["log_path"]
    daemon = yard.pid()
    # By its events, for what only the daemon's memory knows dies with it.
    until(lambda: turns_of(yard, b)[-1:] == ["attempt.thawed"])
    until(lambda: turns_of(yard, b)[-1:] == ["attempt.frozen"])  # just now
    os.kill(daemon, signal.SIGKILL)
    until(lambda: not alive(daemon))
    size = os.path.getsize(log)
    until(lambda: os.path.getsize(log) > size)  # and nobody has asked the yard for anything
    yard("ls")
    assert yard.pid() != daemon
    started = yard.events("daemon.started")[-1]["seq"]
    assert turns_of(yard, b, before=started)[-1] == "attempt.frozen", "the daemon died while b was frozen"
    for task in (b, c):
        until(lambda: {"attempt.frozen", "attempt.thawed"} <= {
            event["kind"] for event in yard.events("attempt.frozen", "attempt.thawed", task=task)
            if event["seq"] > started})
    for name, task, code in (("b", b, 3), ("c", c, 4)):
        finish(yard, name)
        yard("wait", str(task), code=code)
        assert len(yard.task(task)["attempts"]) == 1


def test_when_a_sharer_ends_the_others_part_grows_and_it_is_frozen_no_more(gpu):
    b, c = counting(gpu, "b", 0, "0.5:turns:1s"), counting(gpu, "c", 0, "0.5:turns:1s")
    until(lambda: gpu.events("attempt.frozen", task=c))
    lease = {lease["task"]: lease for lease in gpu.devices()["GPU0"]["leases"]}
    assert gpu.devices()["GPU0"]["state"] == "shared"
    assert [lease[task]["share"] for task in (b, c)] == [0.5, 0.5] and lease[b]["mode"] == "turns"
    finish(gpu, "b")
    gpu("wait", str(b))
    left, = gpu.devices()["GPU0"]["leases"]
    assert left["task"] == c and left["share"] == 1 and left["asked"] == 0.5
    until(lambda: not gpu.task(c)["frozen"])
    finish(gpu, "c")
    gpu("wait", str(c))


def test_whoever_is_over_its_part_of_the_memory_is_stopped_and_runs_again_alone(gpu):
    over, other = (lasting(gpu, "--share", "0.5", name=name) for name in ("over", "other"))
    pids = {task: int(gpu.out(task)) for task in (over, other)}
    assert len(gpu.devices()["GPU0"]["leases"]) == 2
    # The older one is over its half; the card is full, but for what its driver keeps.
    assert [lease["memory"] for lease in gpu.devices()["GPU0"]["leases"]] == [4970 << 20] * 2
    gpu.cards(own={0: ["memory 10240 9940 300", f"process {pids[over]} compute 6940",
                       f"process {pids[other]} compute 3000"]})
    gpu.await_state(over, "waiting")
    stopped = gpu.task(over)["attempts"][0]["outcome"]
    assert stopped["kind"] == "preempted" and stopped["reason"]["id"] == "outcome.share_memory"
    gpu.cards(own={0: ["memory 10240 3000 300", f"process {pids[other]} compute 3000"]})
    until(lambda: len(gpu.devices()["GPU0"]["processes"]) == 1)
    lease, = gpu.devices()["GPU0"]["leases"]
    assert lease["task"] == other and gpu.task(over)["state"] == "waiting"  # there is room, but not alone
    assert gpu.task(other)["state"] == "running" and len(gpu.task(other)["attempts"]) == 1
    third = lasting(gpu, "--share", "0.5", name="third", stop="stop-other")
    finish(gpu, "other")
    gpu("wait", str(other))
    gpu("wait", str(third))
    gpu.cards()
    assert gpu.await_state(over, "running")["attempt"] == 2
    lease, = gpu.devices()["GPU0"]["leases"]
    assert lease["task"] == over and lease["asked"] == 1


def test_the_smallest_share_is_told_as_what_it_is(gpu):
    receipt = gpu("run", "--wait", "--share", "0.005", "true").out
    assert "has 0.5 % (49.7 MiB of memory)" in receipt


def test_a_share_that_does_not_fit_beside_the_others_waits_and_names_them(gpu):
    big = lasting(gpu, "--share", "0.7", name="big")
    gpu.await_state(big, "running")
    small = lasting(gpu, "--share", "0.5", name="small")
    assert "big" in gpu.why(small)["text"]
    turns = lasting(gpu, "--share", "0.1:turns", name="turns")
    assert "do not mix" in gpu.why(turns)["text"]
    fits = lasting(gpu, "--share", "0.3", name="fits")
    gpu.await_state(fits, "running")
    finish(gpu, "big")
    gpu.await_state(small, "running")
    assert gpu.task(turns)["state"] == "waiting"


def test_a_paused_queue_starts_no_second_sharer_until_it_goes_on(gpu):
    gpu.await_state(lasting(gpu, "--share", "0.5", name="one"), "running")
    gpu("pause")
    late, first = (lasting(gpu, "--share", "0.5", name=name) for name in ("late", "first"))
    gpu("priority", "--first", str(first))
    assert "paused" in gpu.why(first)["text"]
    gpu("resume")
    gpu.await_state(first, "running")
    assert gpu.task(late)["state"] == "waiting"
    assert {lease["task_name"] for lease in gpu.devices()["GPU0"]["leases"]} == {"one", "first"}


# ---- In the reader's language


def test_devices_and_log_heads_speak_chinese(gpus):
    chinese = {"LANG": "zh_CN.UTF-8"}
    gpus("run", "--wait", "-g", "2", "true")
    log = gpus("logs", "1", env=chinese)
    assert "找到 2 块显卡：NVIDIA GeForce RTX 3080 ×2" in log.out + log.err
    lasting(gpus, "-g", "1")  # a busy yard looks often
    gpus.cards(own={1: ["lost"]})
    until(lambda: gpus.devices()["GPU1"]["state"] == "lost")
    table = gpus("devices", env=chinese).out
    assert "使用中" in table and "丢失" in table and "从总线上掉线" in table
    assert not re.search("fell off|in use|lost", table)
