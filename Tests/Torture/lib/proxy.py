"""A TCP proxy between daemon and upstream that disturbs the answers like a bad network."""
import socket
import struct
import threading
import time

# What happens to an answer after its first `after` bytes.
CUT, RESET, STALL, DRIP, HALF_OPEN, DOUBLE = "cut", "reset", "stall", "drip", "half_open", "double"
KINDS = [CUT, RESET, STALL, DRIP, HALF_OPEN, DOUBLE]


class Proxy:
    """Listens on its own port and forwards to `target`, unchanged unless a fault is set."""

    def __init__(self, target):
        host, _, port = target.rpartition(":")
        self.target = (host, int(port))
        self.fault, self.after = None, 0
        self.injected = 0
        self.waits = []  # seconds from a request with a fault until the daemon closed its connection
        self.requests = []  # (time, first line) of each request
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def set(self, kind=None, after=0):
        self.after = after
        self.fault = kind
        self.injected = 0
        self.waits = []

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            _Connection(self, near)


class _Connection:
    """A connection with a thread for each direction: `near` is the daemon's side, `far` the upstream's."""

    def __init__(self, proxy, near):
        self.proxy, self.near = proxy, near
        self.asked = None  # when the last request with a fault arrived
        self.passed = 0  # bytes of its answer forwarded so far
        self.is_silent = False
        try:
            self.far = socket.create_connection(proxy.target, timeout=10)
            self.far.settimeout(None)
        except OSError:
            near.close()
            return
        threading.Thread(target=self._forward_requests, daemon=True).start()
        threading.Thread(target=self._forward_answers, daemon=True).start()

    def _forward_requests(self):
        try:
            while data := self.near.recv(65_536):
                self.proxy.requests.append((time.monotonic(), data.split(b"\r\n", 1)[0]))
                if self.proxy.fault:
                    self.asked, self.passed = time.monotonic(), 0
                if self.proxy.fault == HALF_OPEN:
                    self._count_fault()
                    self.is_silent = True
                if not self.is_silent:
                    self.far.sendall(data)
        except OSError:
            pass
        if self.is_silent:
            self.proxy.waits.append(time.monotonic() - self.asked)
        for end in (self.far, self.near):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _forward_answers(self):
        try:
            while data := self.far.recv(65_536):
                if not self._forward(data):
                    break
        except OSError:
            pass
        if not self.is_silent:
            self.near.close()
        self.far.close()

    def _count_fault(self):
        self.proxy.injected += 1

    def _forward(self, data):
        kind, left = self.proxy.fault, self.proxy.after - self.passed
        if not kind or self.asked is None or len(data) <= left:
            self.passed += len(data)
            if not self.is_silent:
                self.near.sendall(data)
            return True
        if self.is_silent:
            return True
        self._count_fault()
        good, rest = data[:left], data[left:]
        self.near.sendall(good)
        if kind == CUT:
            self.near.shutdown(socket.SHUT_RDWR)
            return False
        if kind == RESET:
            self.near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.near.close()
            return False
        if kind == DOUBLE:
            self.near.sendall(good[-50:] + rest[:50] + rest[:50] + rest[50:])
            self.passed = -(1 << 40)  # once is enough
            return True
        self.is_silent = True
        if kind == DRIP:
            for byte in rest:
                self.near.sendall(bytes([byte]))
                time.sleep(1)
        return True
