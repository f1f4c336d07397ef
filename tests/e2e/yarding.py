"""A yard of the test's own, driven through the real program under a bare environment."""
import json
import os
import shutil
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.abspath(os.environ.get("TRAINYARD_BIN", os.path.join(ROOT, "build/release/bin/trainyard")))
DEADLINE = 60  # of anything that is waited for; nothing is timed


def public_program(folder):
    """The program with all it needs where every user may run it: a clone in root's home is closed to others."""
    build = os.path.dirname(os.path.dirname(BIN))
    os.mkdir(folder / "bin")
    for name in ("trainyard", "trainyard-shim"):
        shutil.copy(os.path.join(build, "bin", name), folder / "bin" / name)
    shutil.copytree(os.path.join(build, "share"), folder / "share", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.check_call(["chmod", "-R", "a+rX", str(folder / "bin"), str(folder / "share")])
    for parent in [folder, *folder.parents]:  # pytest's folders are private to who runs it
        if str(parent).startswith("/tmp/"):
            os.chmod(parent, 0o755)
    return str(folder / "bin" / "trainyard")


PLAIN_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


class Yard:
    """`prefix` goes before the program: setpriv, to be another user."""

    def __init__(self, folder, prefix=(), program=BIN):
        self.home = str(folder / "state")
        self.work = str(folder / "work")
        self.command = [*prefix, program]
        os.mkdir(self.work)
        self.env = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "TRAINYARD_HOME": self.home}

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
