"""An HTTP server for one convention, and the calls below `/_test/` that give it a server's habits.

| call | does |
| --- | --- |
| `POST /_test/create {entity, fields}` | creates a record, as someone else would: `{id}` |
| `POST /_test/edit {entity, id, fields}` | edits one |
| `POST /_test/delete {entity, id}` | deletes one |
| `POST /_test/answer {status, times, headers, body, methods}` | the next requests are answered so and do nothing |
| `POST /_test/drop {times, methods}` | the next writes are applied, and the connection is closed without an answer |
| `POST /_test/expire` | tokens that were handed out (delta tokens, cursors) are no longer known |
| `GET /_test/records/ENTITY` | all records, without anything of the convention |
| `GET /_test/applied` | all changes, as `[who, operation, entity, id]` |
"""
import http.server
import json
import socket
import threading
from dataclasses import dataclass, field
from decimal import Decimal
from urllib.parse import parse_qsl, unquote, urlsplit
from urllib.request import urlopen

from .store import Invalid, Missing, Store, plain

WRITES = ("POST", "PUT", "PATCH", "DELETE")


@dataclass
class Request:
    method: str
    path: str
    query: dict  # the last value of each parameter
    headers: object  # case does not matter
    body: bytes
    target: str = ""  # path and query as they came

    @property
    def json(self):
        """The body; amounts keep their digits. Raises `ValueError`."""
        return json.loads(self.body, parse_float=Decimal)

    @property
    def type(self):
        return (self.headers.get("Content-Type") or "").split(";")[0].strip().lower()


@dataclass
class Response:
    status: int
    body: object = None  # what JSON can write, or bytes
    headers: dict = field(default_factory=dict)
    type: str = "application/json"


class Refused(Exception):
    """Ends a request with this response."""

    def __init__(self, response):
        super().__init__(response.status)
        self.response = response


def dumps(value):
    """JSON in which a `Decimal` is a number with its own digits."""
    marks = []

    def marked(part):
        if isinstance(part, Decimal):
            marks.append(str(part))
            return f"\0{len(marks) - 1}\0"
        if isinstance(part, dict):
            return {name: marked(member) for name, member in part.items()}
        return [marked(member) for member in part] if isinstance(part, (list, tuple)) else part

    text = json.dumps(marked(value), ensure_ascii=False, separators=(",", ":"))
    for number, digits in enumerate(marks):
        text = text.replace(f'"\\u0000{number}\\u0000"', digits, 1)
    return text.encode()


class Convention:
    """A server of one convention: subclasses answer requests from `self.store`.

    `KEY` is the key that requests must carry, in whatever way the convention has it.
    """
    KEY = "test-key"
    DIGITS = 6  # of the fraction of a second
    PORT = 0  # one that is free

    def __init__(self, seed=1):
        self.store = Store(self.make_id, seed, digits=self.DIGITS)
        self.lock = threading.Lock()
        self.answers, self.drops = [], []
        self.requests = []  # (method, target) of each
        convention = self

        class Handler(_Handler):
            server_side = convention

        self.server = _Server(("127.0.0.1", self.PORT), Handler)
        self.address = f"127.0.0.1:{self.server.server_port}"
        self.url = f"http://{self.address}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    # What a convention has

    def make_id(self, entity, number):
        return number

    def answer(self, request):
        """The response to a request; may raise `Refused`, `Invalid` or `Missing`."""
        raise NotImplementedError

    def invalid(self, request, errors):
        raise NotImplementedError

    def missing(self, request):
        raise NotImplementedError

    def broken(self, request):
        """The response to a body that cannot be read."""
        return Response(400, {"error": "the body is not readable"})

    def expire(self):
        """Forgets the tokens that were handed out."""

    def renew(self):
        """Accepts another key from now on."""
        self.KEY += "+"
        self.expire()

    def test(self, name, **asked):
        """Makes the call `/_test/name`."""
        body = json.dumps(asked).encode()
        with urlopen(f"{self.url}/_test/{name}", body) as answer:
            return json.load(answer)

    # Answering

    def respond(self, request):
        with self.lock:
            if request.path.startswith("/_test/"):
                return self._test(request)
            self.requests.append((request.method, request.target))
            for rule in self.answers:
                if rule["times"] > 0 and request.method in rule.get("methods", (*WRITES, "GET")):
                    rule["times"] -= 1
                    return Response(rule["status"], rule.get("body", {"error": "later"}), rule.get("headers", {}))
            before = len(self.store.applied)
            response = self._answered(request)
            if len(self.store.applied) > before and request.method in WRITES:
                for rule in self.drops:
                    if rule["times"] > 0 and request.method in rule.get("methods", WRITES):
                        rule["times"] -= 1
                        return None
            return response

    def _answered(self, request):
        try:
            return self.answer(request)
        except Refused as refused:
            return refused.response
        except Invalid as invalid:
            return self.invalid(request, invalid.errors)
        except Missing:
            return self.missing(request)
        except ValueError:
            return self.broken(request)

    def _test(self, request):
        name = request.path.removeprefix("/_test/")
        if request.method == "GET":
            if name == "applied":
                return Response(200, self.store.applied)
            return Response(200, [plain(row) for row in self.store.listed(name.removeprefix("records/"))])
        asked = request.json if request.body else {}
        if name == "create":
            return Response(200, {"id": self.store.create(asked["entity"], asked["fields"], "person")["id"]})
        if name == "edit":
            self.store.update(asked["entity"], asked["id"], asked["fields"], "person")
        elif name == "delete":
            self.store.delete(asked["entity"], asked["id"], "person")
        elif name == "answer":
            self.answers = [asked]
        elif name == "drop":
            self.drops = [asked]
        elif name == "expire":
            self.expire()
        else:
            return Response(404, {"error": f"no call {name}"})
        return Response(200, {})

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def finish_request(self, request, client_address):
        try:
            super().finish_request(request, client_address)
        except OSError:
            pass  # the caller has gone, or was killed


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version, disable_nagle_algorithm = "HTTP/1.1", True
    server_side = None

    def do(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        response = self.server_side.respond(
            Request(self.command, unquote(parts.path), query, self.headers, body, self.path))
        if response is None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send(response)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do

    def send(self, response):
        if hasattr(response.body, "__next__"):
            self.stream(response)
            return
        data = response.body if isinstance(response.body, bytes) else b"" if response.body is None else dumps(response.body)
        self.send_response(response.status)
        if data:
            self.send_header("Content-Type", response.type)
        for name, value in response.headers.items():
            self.send_header(name, str(value))
        if response.status != 204 and response.status != 304:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD" and response.status not in (204, 304):
            self.wfile.write(data)

    def stream(self, response):
        """Sends pieces of bytes as they come, until there are no more."""
        self.close_connection = True
        self.send_response(response.status)
        self.send_header("Content-Type", response.type)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.flush()
        for piece in response.body:
            self.wfile.write(piece)
            self.wfile.flush()

    def log_message(self, *_):
        pass


__all__ = ["Convention", "Invalid", "Missing", "Refused", "Request", "Response"]
