"""A TCP proxy between daemon and upstream that does to the answers what bad networks do."""
import socket
import struct
import threading
import time

# What becomes of an answer after its first `after` bytes.
CUT, RESET, STALL, DRIP, HALF_OPEN, DOUBLE = "cut", "reset", "stall", "drip", "half_open", "double"
KINDS = [CUT, RESET, STALL, DRIP, HALF_OPEN, DOUBLE]


class Proxy:
    """Listens on a port of its own and carries to `target`. Without a fault it carries faithfully."""

    def __init__(self, target):
        host, _, port = target.rpartition(":")
        self.target = (host, int(port))
        self.fault, self.after = None, 0
        self.struck = 0
        self.waits = []  # seconds from a request that a fault met to the end of its connection by the daemon
        self.heard = []  # when something was asked
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def set(self, kind=None, after=0):
        self.after = after
        self.fault = kind
        self.struck = 0
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
            _Passage(self, near)


class _Passage:
    """One connection: a thread each way."""

    def __init__(self, proxy, near):
        self.proxy, self.near = proxy, near
        self.asked = None  # when the last request came that a fault meets
        self.passed = 0  # bytes of the answer to it
        self.is_silent = False
        try:
            self.far = socket.create_connection(proxy.target, timeout=10)
            self.far.settimeout(None)
        except OSError:
            near.close()
            return
        threading.Thread(target=self._ask, daemon=True).start()
        threading.Thread(target=self._answer, daemon=True).start()

    def _ask(self):
        try:
            while data := self.near.recv(65_536):
                self.proxy.heard.append((time.monotonic(), data.split(b"\r\n", 1)[0]))
                if self.proxy.fault:
                    self.asked, self.passed = time.monotonic(), 0
                if self.proxy.fault == HALF_OPEN:
                    self._strike()
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

    def _answer(self):
        try:
            while data := self.far.recv(65_536):
                if not self._carry(data):
                    break
        except OSError:
            pass
        if not self.is_silent:
            self.near.close()
        self.far.close()

    def _strike(self):
        self.proxy.struck += 1

    def _carry(self, data):
        kind, left = self.proxy.fault, self.proxy.after - self.passed
        if not kind or self.asked is None or len(data) <= left:
            self.passed += len(data)
            if not self.is_silent:
                self.near.sendall(data)
            return True
        if self.is_silent:
            return True
        self._strike()
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
