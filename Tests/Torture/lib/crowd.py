"""Hostile callers, in their own process and, when run as root, as another user of the machine.

Run as a program, `crowd.py KIND ADDRESS COUNT [TOKEN]` is that process: it opens the connections, prints `ready` and
their number, keeps them open until its input ends, and then prints `over` with the outcome.
"""
import os
import selectors
import socket
import subprocess
import sys
import time
from pathlib import Path

STRANGER = 54_321


class Crowd:
    """`count` connections of one kind: idle, heads, bodies, stalled or streams."""

    def __init__(self, kind, address, count, token="", as_stranger=True):
        command = [sys.executable, Path(__file__), kind, address, str(count), token]
        if as_stranger and os.geteuid() == 0:
            command = ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups", *command]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/")

    def await_ready(self):
        """Returns the number of connections it could open."""
        return int(self.process.stdout.readline().split()[1])

    def close(self):
        """Returns how many connections the daemon had closed by then, and the count of each status."""
        self.process.stdin.close()
        words = self.process.stdout.readline().split()
        self.process.wait()
        self.process.stdout.close()
        return int(words[1]), dict((status, int(count)) for status, count in (word.split(":") for word in words[2:]))


def _connect(address, kind):
    host, _, port = address.rpartition(":")
    connection = socket.socket()
    if kind == "stalled":  # keeps the kernel's buffer small
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(10)
    connection.connect((host, int(port)))
    connection.setblocking(False)
    return connection


class _Member:
    def __init__(self, kind, address, token):
        self.connection = _connect(address, kind)
        self.answer = b""
        self.is_over = False
        self.reads = kind != "stalled"
        head = f"Host: 127.0.0.1\r\n{f'Authorization: Bearer {token}' if token else 'X-Filler: 1'}\r\n"
        if kind == "heads":
            self.drip = f"GET /v1/status HTTP/1.1\r\n{head}X-Long: {'a' * 10_000}".encode()
        elif kind == "bodies":
            self._send(f"POST /v1/notes HTTP/1.1\r\n{head}Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n".encode())
            self.drip = b'{"text":"' + b"a" * 5000
        elif kind == "stalled":
            self._send(f"GET /v1/notes?limit=1000 HTTP/1.1\r\n{head}\r\n".encode() * 3)
        elif kind == "streams":
            self._send(f"GET /v1/events HTTP/1.1\r\n{head}\r\n".encode())
        if kind not in ("heads", "bodies"):
            self.drip = b""

    def _send(self, data):
        try:
            self.connection.send(data)
        except OSError:
            self.is_over = True

    def step(self):
        """Sends one more byte."""
        if self.drip and not self.is_over:
            byte, self.drip = self.drip[:1], self.drip[1:]
            self._send(byte)

    def receive(self):
        try:
            data = self.connection.recv(65_536)
            self.answer = (self.answer + data)[:200]
            self.is_over |= not data
        except BlockingIOError:
            pass
        except OSError:
            self.is_over = True

    @property
    def status(self):
        return self.answer[9:12].decode(errors="replace") if self.answer.startswith(b"HTTP/1.1 ") else "none"


def _run(kind, address, count, token=""):
    members, selector = [], selectors.DefaultSelector()
    for _ in range(int(count)):
        try:
            member = _Member(kind, address, token)
        except OSError:
            continue
        members.append(member)
        if member.reads:
            selector.register(member.connection, selectors.EVENT_READ, member)
    selector.register(sys.stdin, selectors.EVENT_READ)
    print("ready", len(members), flush=True)
    next_step = time.monotonic()
    while True:
        for key, _ in selector.select(max(0, next_step - time.monotonic())):
            if key.data is None:
                return _report(members)
            key.data.receive()
            if key.data.is_over:
                selector.unregister(key.fileobj)
        if time.monotonic() >= next_step:
            next_step = time.monotonic() + 0.5
            for member in members:
                member.step()


def _report(members):
    statuses = {}
    for member in members:
        if not member.reads:
            member.receive()
        statuses[member.status] = statuses.get(member.status, 0) + 1
    print("over", sum(member.is_over for member in members),
          *(f"{status}:{count}" for status, count in sorted(statuses.items())), flush=True)


if __name__ == "__main__":
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    _run(*sys.argv[1:])
