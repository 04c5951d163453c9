"""A proxy in front of the upstream, one for each daemon: it writes down which change was under way when."""
import http.client
import select
import socket
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Push:
    daemon: str
    key: str
    begun: float
    # When the answer was passed on, or the daemon closed the connection; none while it is under way.
    ended: float | None = None
    answered: bool = False
    status: int = 0
    # The cable was cut meanwhile, so that nobody here can see when the daemon gave up.
    is_cut: bool = False


@dataclass
class Journal:
    """What all proxies saw, and how they behave."""
    pushes: list = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    # When each daemon's cable to the upstream was last cut.
    cuts: dict = field(default_factory=dict)
    # When a daemon was killed, or cut off from anything.
    disturbances: list = field(default_factory=list)
    delay: float = 0.0
    # Answers changes with 503 while true, so that queues grow.
    is_busy: bool = False

    def note_cut(self, daemon):
        with self.lock:
            self.cuts[daemon] = time.monotonic()
            for push in self.pushes:
                if push.daemon == daemon and push.ended is None:
                    push.is_cut = True

    def disturb(self, daemon):
        self.disturbances.append((daemon, time.monotonic()))

    def begin(self, daemon, key):
        push = Push(daemon, key, time.monotonic())
        with self.lock:
            # It may have arrived just before the cut.
            push.is_cut = push.begun < self.cuts.get(daemon, 0) + 1
            self.pushes.append(push)
        return push


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except (ConnectionError, TimeoutError, OSError):
            pass

    def closed(self):
        """Whether the daemon has given up."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        if not readable:
            return False
        try:
            return self.connection.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        changes = self.command in ("POST", "PATCH", "PUT", "DELETE")
        journal = self.server.journal
        if not changes:
            return self.forward(body)
        push = journal.begin(self.server.daemon, self.headers.get("Idempotency-Key") or "")
        try:
            if journal.is_busy:
                return self.answer(503, b'{"error":"busy"}', "application/json")
            end = time.monotonic() + journal.delay
            while time.monotonic() < end:
                if self.closed():
                    self.close_connection = True
                    return
                time.sleep(0.02)
            push.status = self.forward(body)
            push.answered = True
        finally:
            push.ended = time.monotonic()

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_HEAD = pass_on

    def forward(self, body):
        host, port = self.server.target
        connection = http.client.HTTPConnection(host, port, timeout=20)
        headers = {n: v for n, v in self.headers.items() if n.lower() not in ("host", "connection", "accept-encoding")}
        try:
            connection.request(self.command, self.path, body or None, headers)
            response = connection.getresponse()
            self.answer(response.status, response.read(), response.headers.get("Content-Type"), response.headers)
            return response.status
        finally:
            connection.close()

    def answer(self, status, body, kind, headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            if name.lower() not in ("content-type", "content-length", "transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        if kind:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
            self.wfile.flush()


class Proxy(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address, target, daemon, journal):
        super().__init__((address, 0), Handler)
        self.target, self.daemon, self.journal = target, daemon, journal
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://{self.server_address[0]}:{self.server_address[1]}"


def needlessly_repeated(journal):
    """Two requests of one change, of which the first was answered to a daemon that had the time to settle it; or None."""
    done = {}
    for push in sorted(journal.pushes, key=lambda p: p.begun):
        if first := done.get(push.key):
            return first, push
        if push.answered and 200 <= push.status < 300 and not any(
                name == push.daemon and push.begun - 1 < at < push.ended + 5 for name, at in journal.disturbances):
            done[push.key] = push
    return None


def overlapping(pushes):
    """Two pushes of different daemons that were under way at once; None if there are none."""
    last = {}
    for push in sorted((p for p in pushes if not p.is_cut), key=lambda p: p.begun):
        for other, earlier in last.items():
            if other != push.daemon and (earlier.ended is None or earlier.ended > push.begun):
                return earlier, push
        mine = last.get(push.daemon)
        if mine is None or mine.ended is not None and (push.ended is None or push.ended > mine.ended):
            last[push.daemon] = push
    return None
