"""The network between one daemon and the upstream: it loses requests and answers, goes down, and remembers what was
sent."""
import socket
import threading
from dataclasses import dataclass


@dataclass(frozen=True)
class Sent:
    """A change as the daemon sent it, whether or not it arrived."""
    machine: int
    method: str
    path: str
    key: str
    body: bytes


class Tap:
    """Listens on a port of its own and forwards to `target`."""

    def __init__(self, target, machine, random):
        host, _, port = target.rpartition(":")
        self.target, self.machine, self.random = (host, int(port)), machine, random
        self.sent = []
        self.lost = 0
        self.losses = 0.0  # the share of changes that lose their request, and of those that lose their answer
        self.lock = threading.Lock()
        self.connections = set()
        self.is_down = False
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def set_down(self, is_down):
        """While it is down, new connections end at once, and those that are open are cut."""
        self.is_down = is_down
        if is_down:
            self._cut()

    def close(self):
        self.is_down = True
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self._cut()

    def _cut(self):
        with self.lock:
            connections = list(self.connections)
        for connection in connections:
            connection.close()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if self.is_down:
                near.close()
                continue
            threading.Thread(target=_Connection(self, near).run, daemon=True).start()

    def take(self, head, body):
        """Remembers a request; returns whether it is forwarded, and whether its answer is."""
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path = first.split(" ")[:2]
        if method == "GET":
            return True, True
        key = next((line.split(":", 1)[1].strip() for line in lines if line.lower().startswith("idempotency-key:")), "")
        with self.lock:
            self.sent.append(Sent(self.machine, method, path, key, body))
            chance = self.random.random()
            self.lost += chance < 2 * self.losses
        return chance >= self.losses, not self.losses <= chance < 2 * self.losses


class _Connection:
    def __init__(self, tap, near):
        self.tap, self.near, self.far = tap, near, None
        self.is_answered = True

    def run(self):
        try:
            self.far = socket.create_connection(self.tap.target, timeout=10)
            self.far.settimeout(None)
        except OSError:
            self.near.close()
            return
        with self.tap.lock:
            self.tap.connections.add(self)
        threading.Thread(target=self._answers, daemon=True).start()
        try:
            self._requests()
        except OSError:
            pass
        finally:
            self.close()

    def _requests(self):
        waiting = b""
        while True:
            data = self.near.recv(65_536)
            if not data:
                return
            waiting += data
            while (request := _whole(waiting)) is not None:
                head, body, waiting = request
                arrives, self.is_answered = self.tap.take(head, body)
                if not arrives:
                    return
                self.far.sendall(head + b"\r\n\r\n" + body)

    def _answers(self):
        try:
            while data := self.far.recv(65_536):
                if not self.is_answered:  # the upstream has applied it
                    break
                self.near.sendall(data)
        except OSError:
            pass
        finally:
            self.close()

    def close(self):
        with self.tap.lock:
            self.tap.connections.discard(self)
        for end in (self.near, self.far):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except (OSError, AttributeError):
                pass
            if end:
                end.close()


def _whole(data):
    """The head and body of the first request, and what comes after it; None while it is not whole."""
    head, end, rest = data.partition(b"\r\n\r\n")
    if not end:
        return None
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
        if name.lower() == b"transfer-encoding":
            raise OSError("this tap cannot read chunks")
    if len(rest) < length:
        return None
    return head, rest[:length], rest[length:]
