"""A yard of the test's own, driven through the real program under a bare environment."""
import atexit
import contextlib
import glob
import json
import os
import shutil
import subprocess
import time
import uuid

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.abspath(os.environ.get("TRAINYARD_BIN", os.path.join(ROOT, "build/release/bin/trainyard")))
DEADLINE = 240  # of anything that is waited for; nothing is timed
FAKE_NVML = os.path.join(os.path.dirname(os.path.dirname(BIN)), "impostors", "libfake-nvml.so")


def public_program(folder):
    """The program with all it needs where every user may run it: a clone in root's home is closed to others."""
    build = os.path.dirname(os.path.dirname(BIN))
    os.mkdir(folder / "bin")
    for name in ("trainyard", "trainyard-shim"):
        shutil.copy(os.path.join(build, "bin", name), folder / "bin" / name)
    shutil.copytree(os.path.join(build, "share"), folder / "share", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.check_call(["chmod", "-R", "a+rX", str(folder / "bin"), str(folder / "share")])
    open_to_all(folder)
    return str(folder / "bin" / "trainyard")


def open_to_all(folder):
    for parent in [folder, *folder.parents]:  # pytest's folders are private to who runs it
        if str(parent).startswith("/tmp/") and os.stat(parent).st_mode & 0o055 != 0o055:
            os.chmod(parent, 0o755)


PLAIN_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


class Yard:
    """`prefix` goes before the program: setpriv, to be another user. `cards`: the GPUs it is to see."""

    def __init__(self, folder, prefix=(), program=BIN, cards=None):
        self.home = str(folder / "state")
        self.work = str(folder / "work")
        self.command = [*prefix, program]
        os.mkdir(self.work)
        self.env = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "TRAINYARD_HOME": self.home}
        if cards is not None:
            self.env.update(cards.env)

    def start(self, *words, cwd=None, env=None, **more):
        return subprocess.Popen([*self.command, *words], cwd=cwd or self.work, env={**self.env, **(env or {})},
                                stdin=more.pop("stdin", subprocess.DEVNULL), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **more)

    def __call__(self, *words, code=0, **more):
        process = self.start(*words, **more)
        out, err = process.communicate(timeout=DEADLINE)
        assert code is None or process.returncode == code, (words, process.returncode, out, err)
        return Answer(process.returncode, out.decode(), err.decode())

    def json(self, *words, **more):
        return json.loads(self(*words, "--json", **more).out)

    def up(self, *words):
        return self("up", "--listen", "127.0.0.1:0", *words)

    def pid(self):
        return self.json("status")["pid"]

    def task(self, task):
        return self.json("show", str(task))

    def why(self, task):
        return self.json("why", str(task))["reason"]

    def devices(self):
        """By their labels."""
        return {device["label"]: device for device in self.json("devices")["items"]}

    def events(self, *kinds, task=None):
        events = map(json.loads, self("events", "--json").out.splitlines())
        return [event for event in events
                if event["kind"] in kinds and (task is None or event.get("task") == task)]

    def await_state(self, task, state):
        return until(lambda: (found := self.task(task))["state"] == state and found)

    def out(self, task):
        """Of a task that says one thing and goes on: what it said."""
        return until(lambda: self("logs", str(task), code=None).out.strip())


class Cards:
    """GPUs of paper, each of these with a UUID of its own, so that no two yards of tests meet. Calling it makes
    them so at one instant: `heads` are lines for all of them, `own` maps a card to lines of its own (the format is
    told in tests/impostors/nvml), `order` says which are there and how they are numbered."""

    def __init__(self, folder, count=2, name="NVIDIA GeForce RTX 3080"):
        self.ids = [f"GPU-{uuid.uuid4()}" for _ in range(count)]
        self.name = name
        self.path = str(folder / "cards")
        self.library = shutil.copy(FAKE_NVML, folder / "libfake-nvml.so")  # where every user may read it
        # The PIDs in the list are those of these tests, whatever namespace they run in.
        self.env = {"TRAINYARD_NVML": str(self.library), "TRAINYARD_NVML_PIDS": "ours", "FAKE_NVML": self.path}
        atexit.register(self.leave)
        self()

    def __call__(self, *heads, own=None, order=None):
        lines = ["driver 550.54.14", "cuda 12.4", *heads]
        for place, card in enumerate(range(len(self.ids)) if order is None else order):
            lines += [f"card {self.ids[card]}", f"name {self.name}", f"pci 0000:{place + 1:02x}:00.0",
                      "memory 10240 0 300", "load 0 0", *(own or {}).get(card, [])]
        with open(self.path + ".new", "w") as file:
            file.write("\n".join(lines) + "\n")
        os.chmod(self.path + ".new", 0o644)
        os.rename(self.path + ".new", self.path)

    def leave(self):
        """The host's lock files of a card stay for good, and these cards never come again."""
        for card in self.ids:
            mine = f"trainyard/*{card[4:-1]}*"  # and those of its slices
            for file in glob.glob("/run/lock/" + mine) + glob.glob("/dev/shm/" + mine):
                with contextlib.suppress(OSError):
                    os.unlink(file)


class Answer:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


def until(what):
    """Waits for a fact outside any process of ours."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        value = what()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError("it never came true")
