"""A caller's connection: HTTP/1.1 over TCP or a Unix socket, kept open between calls."""
import http.client
import json
import socket
from dataclasses import dataclass


class Unanswered(Exception):
    """The connection broke before the whole answer arrived: the outcome of the request is unknown."""


@dataclass
class Answer:
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def lines(self):
        return [json.loads(line) for line in self.body.splitlines() if line]

    @property
    def is_problem(self):
        return self.headers.get("content-type") == "application/problem+json"


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Client:
    """`address` is the path of a Unix socket, or `host:port`. Not thread-safe."""

    def __init__(self, address, timeout=30.0, headers=None):
        self.headers = headers or {}
        if address.startswith("/"):
            self.connection = _UnixConnection(address, timeout)
        else:
            host, _, port = address.rpartition(":")
            self.connection = http.client.HTTPConnection(host, int(port), timeout=timeout)

    def call(self, method, path, body=None, headers=None):
        """Returns the whole answer, whatever its status; raises `Unanswered`. A body that is not bytes is sent as
        JSON."""
        headers = {**self.headers, **(headers or {})}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        try:
            self.connection.request(method, path, body, headers)
            answer = self.connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            raise Unanswered(f"{method} {path}: {error!r}") from error

    def get(self, path, **more):
        return self.call("GET", path, **more)

    def close(self):
        self.connection.close()
