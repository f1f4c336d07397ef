"""A WebSocket client that does no more than a test needs, and says exactly what it is told to (RFC 6455)."""
import base64
import hashlib
import json
import os
import struct

from yard import Answer, read_all

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Closed(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


class Stream:
    """`far` streams need the headers of a browser; `near` ones come over the socket."""

    def __init__(self, yard, headers=None, path="/api/v1/live", near=False, without=()):
        self.connection = yard.connect(near)
        key = base64.b64encode(os.urandom(16))
        all_headers = {"Host": f"127.0.0.1:{yard.port}", "Upgrade": "websocket", "Connection": "keep-alive, Upgrade",
                       "Sec-WebSocket-Key": key.decode(), "Sec-WebSocket-Version": "13", **(headers or {})}
        lines = [f"GET {path} HTTP/1.1", *(f"{k}: {v}" for k, v in all_headers.items() if k not in without)]
        self.connection.sendall("\r\n".join([*lines, "", ""]).encode())
        self.kept = b""
        while b"\r\n\r\n" not in self.kept:
            piece = self.connection.recv(65536)
            assert piece, self.kept
            self.kept += piece
        head, self.kept = self.kept.split(b"\r\n\r\n", 1)
        status, *lines = head.decode().split("\r\n")
        self.status = int(status.split()[1])
        self.headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        if self.status == 101:
            accept = base64.b64encode(hashlib.sha1(key + MAGIC).digest()).decode()
            assert self.headers["sec-websocket-accept"] == accept
            self.hello = self.next()["hello"]

    def answer(self):
        """Of a handshake that was refused."""
        length = int(self.headers["content-length"])
        while len(self.kept) < length:
            self.kept += self.connection.recv(65536)
        return Answer(self.status, self.headers, self.kept[:length])

    def send(self, value, opcode=1):
        data = value if isinstance(value, bytes) else (value if isinstance(value, str) else json.dumps(value)).encode()
        mask = os.urandom(4)
        size = len(data)
        head = bytes([0x80 | opcode]) + (bytes([0x80 | size]) if size < 126 else
                                         b"\xfe" + struct.pack(">H", size) if size < 65536 else b"\xff" + struct.pack(">Q", size))
        self.connection.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)))

    def take(self, count):
        while len(self.kept) < count:
            piece = self.connection.recv(65536)
            if not piece:
                raise Closed(None)
            self.kept += piece
        data, self.kept = self.kept[:count], self.kept[count:]
        return data

    def frame(self):
        first, size = self.take(2)
        assert first & 0x80 and not size & 0x80
        if size == 126:
            size, = struct.unpack(">H", self.take(2))
        elif size == 127:
            size, = struct.unpack(">Q", self.take(8))
        return first & 0x0F, self.take(size)

    def next(self, topic=None):
        """The next frame, or the next about a topic; Closed when the yard ends the stream."""
        while True:
            opcode, data = self.frame()
            if opcode == 9:
                self.send(data, 10)
            elif opcode == 8:
                raise Closed(struct.unpack(">H", data[:2])[0] if data else None)
            elif opcode == 1:
                value = json.loads(data)
                if topic is None or value.get("topic") == topic:
                    return value

    def until(self, topic, fits):
        while True:
            value = self.next(topic)
            if fits(value):
                return value

    def closed(self):
        """The close code, after whatever came before it."""
        try:
            while True:
                self.next()
        except Closed as closed:
            return closed.code

    def close(self):
        self.connection.close()

    def rest(self):
        return read_all(self.connection)
