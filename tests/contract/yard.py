"""A real daemon in a temporary state folder, and a client that says exactly what a test wants said."""
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("TRAINYARD_BIN", ROOT / "build/release/bin/trainyard"))
CONTRACT = yaml.safe_load((ROOT / "api/openapi.yaml").read_text(encoding="utf-8"))
JSON = {"Content-Type": "application/json"}
NDJSON = {"Content-Type": "application/x-ndjson"}


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:500]!r}"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Yard:
    """A daemon: `near` asks over its socket, `far` over TCP."""

    def __init__(self, *options, wrap=()):
        self.home = tempfile.mkdtemp(prefix="ty-")
        self.options = options
        self.wrap = list(wrap)
        self.process = None

    def start(self):
        environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": self.home,
            "LANG": "C.UTF-8",
            "TRAINYARD_HOME": self.home + "/state",
        }
        self.state = environment["TRAINYARD_HOME"]
        self.log = open(self.home + "/daemon.out", "ab")
        self.process = subprocess.Popen(
            [*self.wrap, str(PROGRAM), "up", "--foreground", "--listen", "127.0.0.1:0", "--devices", "cpu:2", *self.options],
            env=environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True)
        self.socket = self.state + "/sock"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            with contextlib.suppress(OSError):
                status = self.near("GET", "/api/v1/status")
                if status.status == 200:
                    self.url = status.json["url"]
                    self.port = int(self.url.rsplit(":", 1)[1])
                    return self
            time.sleep(0.02)
        raise RuntimeError("the daemon did not start: " + pathlib.Path(self.home, "daemon.out").read_text(errors="replace"))

    def stop(self):
        if self.process and self.process.poll() is None:
            with contextlib.suppress(OSError):
                self.near("POST", "/api/v1/down", b'{"cancel":true}', JSON)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.send_signal(signal.SIGKILL)
                self.process.wait()
        self.log.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def alive(self):
        return self.process.poll() is None and self.near("GET", "/healthz").status == 200

    def near(self, method, path, body=None, headers=None):
        return self._ask(UnixConnection(self.socket), method, path, body, headers)

    def far(self, method, path, body=None, headers=None):
        return self._ask(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60), method, path, body, headers)

    def post(self, path, value, headers=None):
        return self.near("POST", path, json.dumps(value).encode(), {**JSON, **(headers or {})})

    def code(self):
        answer = self.post("/api/v1/session/code", {})
        assert answer.status == 200, answer
        return answer.json["code"]

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.port}"

    def sign_in(self, code=None):
        """The headers of a browser that is signed in."""
        answer = self.far("POST", "/api/v1/session", json.dumps({"code": code or self.code()}).encode(), JSON)
        assert answer.status == 200, answer
        return {"Cookie": answer.headers["set-cookie"].split(";")[0], "Origin": self.origin}

    def kill(self):
        """As kill -9 does; `start` goes on in the same folder."""
        self.process.kill()
        self.process.wait()
        self.log.close()

    def submit(self, *command, **more):
        answer = self.post("/api/v1/tasks", {"command": list(command), "workdir": "/tmp", **more})
        assert answer.status == 201, answer
        return answer.json["id"]

    def ended(self, task):
        answer = self.near("GET", f"/api/v1/tasks/{task}?wait=ended&timeout=60")
        assert answer.status == 200 and answer.json["state"] == "ended", answer
        return answer.json

    @staticmethod
    def _ask(connection, method, path, body, headers):
        try:
            connection.request(method, path, body=body, headers=headers or {})
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def raw(self, bytes_, near=False, half_close=False):
        """Sends the bytes as they are; returns all that comes until the other side closes."""
        with self.connect(near) as connection:
            connection.sendall(bytes_)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
            return read_all(connection)

    def connect(self, near=False):
        connection = socket.socket(socket.AF_UNIX if near else socket.AF_INET)
        connection.settimeout(60)
        connection.connect(self.socket if near else ("127.0.0.1", self.port))
        return connection


def read_all(connection):
    data = b""
    with contextlib.suppress(ConnectionError):
        while piece := connection.recv(65536):
            data += piece
    return data


def status_of(data):
    return int(data.split(b" ", 2)[1]) if data.startswith(b"HTTP/1.1 ") else None


def operations():
    """Every operation of the contract: method, path, operation."""
    for path, item in CONTRACT["paths"].items():
        for method, operation in item.items():
            if method != "parameters":
                yield method.upper(), path, operation


def find_operation(method, path):
    """The operation of a real path; plain words are nearer than {task}."""
    words = path.split("?")[0].split("/")
    found = None
    for verb, pattern, operation in operations():
        parts = pattern.split("/")
        fits = len(parts) == len(words) and all(p == w or (w and p.startswith("{")) for p, w in zip(parts, words))
        if verb == method and fits and (found is None or "{" not in pattern):
            found = operation
    return found


def resolve(node):
    while "$ref" in node:
        target = CONTRACT
        for word in node["$ref"].removeprefix("#/").split("/"):
            target = target[word]
        node = target
    return node


def check(method, path, answer):
    """The answer is one that the contract describes: its status, its type, its headers, its body."""
    operation = find_operation(method, path)
    assert operation, f"{method} {path} is not in the contract"
    responses = operation["responses"]
    described = responses.get(str(answer.status))
    if described is None:
        assert answer.status >= 400, f"{method} {path}: status {answer.status} is not described"
        described = responses["default"]
    described = resolve(described)
    kind = answer.headers["content-type"].split(";")[0]
    assert kind in described["content"], f"{method} {path}: {kind} is not described for {answer.status}"
    for name, header in described.get("headers", {}).items():
        if header.get("required"):
            assert name.lower() in answer.headers, f"{method} {path}: header {name} is missing"
    if kind.endswith("json"):
        schema = {**described["content"][kind]["schema"], "components": CONTRACT["components"]}
        validator = jsonschema.Draft202012Validator(schema)
        faults = [f"{list(e.absolute_path)}: {e.message}" for e in validator.iter_errors(answer.json)]
        assert not faults, f"{method} {path} {answer.status}: {faults[:5]}\n{answer.body[:2000]!r}"
        if answer.status >= 400:
            assert answer.json["status"] == answer.status
            assert answer.json["detail"] == answer.json["message"]["text"] != ""
    return answer
