"""A yard under fire: the real daemon in a folder of its own under a bare environment, and a client that keeps what was
acknowledged. It speaks HTTP over the yard's socket and knows nothing else of the product."""
import http.client
import json
import os
import select
import signal
import socket
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.abspath(os.environ.get("TRAINYARD_BIN", os.path.join(ROOT, "build/release/bin/trainyard")))
DEADLINE = 120  # of anything that is waited for


class Gone(Exception):
    """The daemon did not answer, or only half: nothing is known about what was asked."""


class Refused(Exception):
    """The daemon answered with a problem (RFC 9457)."""

    def __init__(self, status, problem):
        super().__init__(f"{status}: {problem.get('detail', problem)}")
        self.status, self.problem = status, problem


class Line(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Yard:
    """`folder` is made; state, work and log lie inside. `env` is added to a bare environment, `prefix` goes before the
    program (another user, another clock, a limit)."""

    def __init__(self, folder, devices="cpu:2", program=BIN, prefix=(), env=None, home=None):
        self.folder = str(folder)
        self.home = home or os.path.join(self.folder, "state")
        self.work = os.path.join(self.folder, "work")
        self.devices, self.prefix, self.program = devices, list(prefix), program
        os.makedirs(self.work, exist_ok=True)
        self.env = {"HOME": self.folder, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C",
                    "TRAINYARD_HOME": self.home, **(env or {})}
        self.daemon = None  # Popen, our own child
        self.starts = 0
        self.acknowledged = {}  # id: {"uid", "key", "spec"}, as the daemon promised

    # ---- The daemon

    def start(self, *options, env=None, prefix=None, kill_after=None):
        """Starts it and waits until it is ready. Returns its address, or None when it died or refused before that;
        `refusal` then has its error (a Message), if it gave one. `kill_after`: seconds after which it is killed, ready
        or not."""
        self.end_of_daemon()
        ready, told = os.pipe()
        command = [*(self.prefix if prefix is None else prefix), self.program, "up", "--foreground",
                   "--ready-fd", str(told), "--listen", "127.0.0.1:0",
                   *(["--devices", self.devices] if self.devices else []), *options]
        with open(os.path.join(self.folder, "daemon.log"), "ab") as log:
            self.daemon = subprocess.Popen(command, env={**self.env, **(env or {})}, cwd="/", stdin=subprocess.DEVNULL,
                                           stdout=log, stderr=log, pass_fds=[told], start_new_session=True)
        os.close(told)
        self.starts += 1
        self.refusal = None
        with os.fdopen(ready, "rb") as file:
            if kill_after is not None and not select.select([ready], [], [], kill_after)[0]:
                self.daemon.kill()
            line = file.readline()
        try:
            said = json.loads(line)
        except ValueError:
            return None
        self.refusal = said.get("error")
        return said.get("url")

    def kill(self):
        """kill -9 of the daemon alone."""
        if self.daemon is not None:
            self.daemon.kill()
        self.end_of_daemon()

    def end_of_daemon(self):
        if self.daemon is not None:
            self.daemon.wait()
            self.daemon = None

    def alive(self):
        return self.daemon is not None and self.daemon.poll() is None

    def down(self):
        """As `down`: tasks go on. Returns the daemon's exit code."""
        if self.daemon is None:
            return None
        self.daemon.send_signal(signal.SIGTERM)
        self.daemon.wait(DEADLINE)
        code, self.daemon = self.daemon.returncode, None
        return code

    def run(self, *words, code=None, **more):
        """The command line, to its end."""
        done = subprocess.run([*self.prefix, self.program, *words], env=self.env, cwd=self.work, timeout=DEADLINE,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, **more)
        assert code is None or done.returncode == code, (words, done)
        return done

    # ---- The client

    def request(self, method, path, body=None, headers=None, timeout=DEADLINE):
        """The answer's JSON. Raises Gone when there was none, Refused when it was a problem."""
        line = Line(os.path.join(self.home, "sock"), timeout)
        try:
            head = {"Accept": "application/json", **(headers or {})}
            if method != "GET":
                head.setdefault("Content-Type", "application/json")
                if not isinstance(body, (bytes, str)):
                    body = json.dumps(body if body is not None else {})
            line.request(method, path, body, head)
            answer = line.getresponse()
            text = answer.read()
            status = answer.status
        except (OSError, http.client.HTTPException) as error:
            raise Gone(repr(error)) from error
        finally:
            line.close()
        found = json.loads(text) if text else {}
        if status >= 400:
            raise Refused(status, found)
        return found

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def submit(self, spec, key=None):
        """The task's number, once the daemon has acknowledged it; it is then kept in `acknowledged`."""
        spec = {"workdir": self.work, **spec}
        # As the command line says it: a program that is not there is for the supervisor to find.
        receipt = self.request("POST", "/api/v1/tasks?looked=yes", spec, {"Idempotency-Key": key} if key else None)
        self.acknowledged[receipt["id"]] = {"uid": receipt["uid"], "key": key, "spec": spec}
        return receipt["id"]

    def submit_bulk(self, specs, key=None):
        """First and last number of a bulk, acknowledged as one."""
        lines = "\n".join(json.dumps({"workdir": self.work, **spec}) for spec in specs)
        head = {"Content-Type": "application/x-ndjson", **({"Idempotency-Key": key} if key else {})}
        receipt = self.request("POST", "/api/v1/tasks/bulk", lines, head)
        for number, spec in zip(range(receipt["first"], receipt["last"] + 1), specs):
            self.acknowledged[number] = {"uid": None, "key": key, "spec": spec}
        return receipt["first"], receipt["last"]

    def cancel(self, *tasks):
        return self.request("POST", "/api/v1/tasks/cancel", {"tasks": list(tasks)})

    def task(self, task):
        return self.get(f"/api/v1/tasks/{task}")

    def status(self):
        return self.get("/api/v1/status")

    def events(self):
        """All of them, in order."""
        events, since = [], 0
        while True:
            page = self.get(f"/api/v1/events?since={since}&limit=10000")["items"]
            if not page:
                return events
            events += page
            since = page[-1]["seq"]

    def tasks(self):
        """Every task the yard knows, whatever its state."""
        found, more = [], ""
        while True:
            page = self.get("/api/v1/tasks?state=all&limit=10000" + more)
            found += page["items"]
            if not page["next"]:
                return found
            more = "&" + page["next"]

    def wait_ended(self, task, seconds=DEADLINE):
        """The task, ended, or as it was when the time was over."""
        return self.get(f"/api/v1/tasks/{task}?wait=ended&timeout={seconds}", timeout=seconds + 30)

    def wait_all_ended(self, seconds=DEADLINE):
        """Those acknowledged that are still open when the time is over (none is what one wants)."""
        end, left = time.monotonic() + seconds, []
        for task in sorted(self.acknowledged):
            try:
                seen = self.wait_ended(task, max(0, end - time.monotonic()))
            except Refused:
                continue  # not there: whoever counts the lost will see
            if seen["state"] != "ended":
                left.append(task)
        return left


def until(what, seconds=DEADLINE):
    """What `what` gives once that is true; None when the time is over."""
    end = time.monotonic() + seconds
    while True:
        value = what()
        if value or time.monotonic() > end:
            return value or None
        time.sleep(0.005)
