"""A small HTTP client that keeps many connections busy: for a number of calls, for a time, or at a given pace."""

import re
import select
import socket
import time
from dataclasses import dataclass

from figures import percentile

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


@dataclass
class Load:
    """The result of a load: answers a second and their latencies in milliseconds."""

    answers: int
    rate: float
    median: float
    p99: float


def request(method, path, headers=None, body=""):
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    if body:
        lines += [f"Content-Length: {len(body.encode())}", "Content-Type: application/json"]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


class Connection:
    """One kept connection with at most one request in flight."""

    def __init__(self, address):
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answer = b""
        self.asked = None

    def ask(self, text, asked=None):
        self.asked = asked or time.perf_counter()
        self.socket.sendall(text)

    def take(self):
        """Reads what has arrived. True when the answer is complete; anything but a 2xx or 304 is an error."""
        part = self.socket.recv(1 << 20)
        if not part:
            raise ConnectionError("the server closed the connection")
        self.answer += part
        head, end, body = self.answer.partition(b"\r\n\r\n")
        if not end:
            return False
        # A 304 has the length of what it does not send.
        length = None if head.startswith(b"HTTP/1.1 304") else LENGTH.search(head)
        if len(body) < (int(length[1]) if length else 0):
            return False
        if not head.startswith((b"HTTP/1.1 2", b"HTTP/1.1 304")):
            raise ConnectionError(self.answer[:400].decode(errors="replace"))
        self.answer = b""
        return True


def drive(address, requests, connections, count=None, seconds=None, pace=None):
    """Sends the requests that the iterator `requests` yields over that many connections, one at a time on each.

    Ends after `count` answers or `seconds`. With `pace`, that many requests are sent a second whatever the server does,
    and waiting for a free connection counts.
    """
    poll = select.epoll()
    open_connections = {}
    for _ in range(connections):
        connection = Connection(address)
        open_connections[connection.socket.fileno()] = connection
        poll.register(connection.socket, select.EPOLLIN)
    free = list(open_connections.values())
    latencies, sent, begin = [], 0, time.perf_counter()
    try:
        while True:
            now = time.perf_counter()
            over = (seconds is not None and now - begin >= seconds) or (count is not None and sent >= count)
            if over and len(free) == connections:
                break
            while free and not over:
                due = begin + sent / pace if pace else None
                if due and due > now:
                    break
                free.pop().ask(next(requests), due)
                sent += 1
                over = count is not None and sent >= count
            wait = max(0, begin + sent / pace - now) if pace and free and not over else 1
            for descriptor, _ in poll.poll(wait):
                connection = open_connections[descriptor]
                if connection.take():
                    latencies.append((time.perf_counter() - connection.asked) * 1000)
                    free.append(connection)
    finally:
        for connection in open_connections.values():
            connection.socket.close()
        poll.close()
    elapsed = time.perf_counter() - begin
    return Load(len(latencies), len(latencies) / elapsed, percentile(latencies, 0.5), percentile(latencies, 0.99))
