"""Connections that are slow, broken, many or gone harm nobody else."""
import json
import os
import socket
import time

import pytest

from yard import JSON, Yard, read_all, status_of

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("garbage", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"\x00" * 64 + b"\r\n\r\n", b"GET\r\n\r\n",
                                     b"GET / HTTP/3.0\r\n\r\n", b"SSH-2.0-x\r\n\r\n", b"\xff" * 5000 + b"\r\n\r\n",
                                     b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                                     b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"])
def test_garbage_ends_its_own_connection_alone(yard, garbage, near):
    with yard.connect(near) as good:
        good.sendall(HEALTH)
        assert status_of(good.recv(65536)) == 200
        assert status_of(yard.raw(garbage, near, half_close=True)) == 400
        good.sendall(LAST)
        assert status_of(read_all(good)) == 200


def test_half_a_request_then_gone(yard):
    for half in (b"G", b"GET /healthz HTTP/1.1\r\nHost: loc", b"POST /api/v1/tasks HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"):
        for near in (False, True):
            yard.connect(near).sendall(half)
            connection = yard.connect(near)
            connection.sendall(half)
            connection.close()
    assert yard.alive()
    assert yard.near("GET", "/api/v1/tasks").json["items"] == []


def test_a_slow_stranger_is_closed_and_others_are_served(yard):
    slow = [yard.connect() for _ in range(50)]
    for connection in slow:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nX-")
    assert yard.far("GET", "/healthz").status == 200
    for connection in slow:
        assert read_all(connection) == b""


def test_two_hundred_idle_connections(yard):
    idle = []
    for near in [False] * 100 + [True] * 100:
        idle.append(yard.connect(near))
        idle[-1].sendall(HEALTH)  # at once: a connection may not be silent for long before it has asked something
    for connection in idle:
        assert status_of(connection.recv(65536)) == 200
    assert yard.far("GET", "/healthz").status == 200
    assert yard.near("GET", "/api/v1/status").status == 200
    for connection in idle:
        connection.sendall(HEALTH)
        assert status_of(connection.recv(65536)) == 200
        connection.close()


def test_many_requests_on_one_connection(yard):
    body = json.dumps({"command": ["true"], "workdir": "/tmp", "hold": True}).encode()
    submit = b"POST /api/v1/tasks HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    status = b"GET /api/v1/status HTTP/1.1\r\n\r\n"
    with yard.connect(near=True) as connection:
        connection.sendall((submit + status) * 50 + status.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        data = read_all(connection)
    assert data.count(b"HTTP/1.1 201 Created") == 50
    assert data.count(b"HTTP/1.1 200 OK") == 51
    yard.post("/api/v1/tasks/cancel", {"all": True})
    yard.post("/api/v1/queue/resume", {})


def test_limits(yard):
    assert status_of(yard.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 17000 + b"\r\n\r\n")) == 431
    assert yard.near("POST", "/api/v1/tasks", b" " * (4 * 1024 * 1024 + 1), JSON).status == 413
    huge = b"POST /api/v1/tasks/bulk HTTP/1.1\r\nContent-Type: application/x-ndjson\r\nContent-Length: 99999999999\r\n\r\n"
    assert status_of(yard.raw(huge, near=True)) == 413


def test_a_client_that_never_reads_harms_nobody(yard):
    task = yard.submit("sh", "-c", "head -c 4000000 /dev/zero")
    yard.ended(task)
    with yard.connect(near=True) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.sendall(b"GET /api/v1/tasks/%d/log?limit=4000000 HTTP/1.1\r\n\r\n" % task * 20)
        assert yard.near("GET", "/api/v1/status").status == 200


def test_a_caller_that_goes_ends_its_wait(yard):
    task = yard.submit("sleep", "600")
    for _ in range(100):
        connection = yard.connect(near=True)
        connection.sendall(b"GET /api/v1/tasks/%d?wait=ended&timeout=600 HTTP/1.1\r\n\r\n" % task)
        connection.sendall(b"")
        connection.close()
    assert yard.alive()  # calls are taken in order: once this one is answered, all of those were taken
    deadline = time.monotonic() + 20

    def is_socket(fd):
        try:
            return os.readlink(f"/proc/{yard.process.pid}/fd/{fd}").startswith("socket:")
        except FileNotFoundError:  # closed between the list and the look
            return False

    def sockets():
        return sum(map(is_socket, os.listdir(f"/proc/{yard.process.pid}/fd")))

    while sockets() > 20 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert sockets() <= 20
    yard.post("/api/v1/tasks/cancel", {"tasks": [task]})


def test_the_socket_comes_back_when_it_is_removed(yard):
    os.remove(yard.socket)
    while not os.path.exists(yard.socket):
        time.sleep(0.02)
    assert yard.near("GET", "/api/v1/status").status == 200


def test_few_descriptors_and_many_clients():
    yard = Yard(wrap=["sh", "-c", 'ulimit -n 64; exec "$0" "$@"']).start()
    try:
        clients = []
        for _ in range(200):
            connection = socket.socket()
            connection.settimeout(60)
            connection.connect(("127.0.0.1", yard.port))
            clients.append(connection)
        assert yard.near("GET", "/api/v1/status").status == 200
        for connection in clients:
            connection.close()
        assert yard.far("GET", "/healthz").status == 200
    finally:
        yard.stop()
