"""A well-behaved caller with many connections. Each sends the next request as soon as the last is answered."""
import multiprocessing
import selectors
import socket
import time


def measure(address, path, connections, seconds):
    """Returns the sorted times of all answers in seconds, and the number of failed requests. Runs in its own
    process, so that the rest of the test does not slow it down."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_measure, args=(there, address, path, connections, seconds), daemon=True)
    process.start()
    result = here.recv()
    process.join()
    return result


def percentile(times, share):
    """The percentile in milliseconds."""
    return round(1000 * times[min(int(len(times) * share), len(times) - 1)], 2) if times else float("inf")


class _Caller:
    def __init__(self, address, request, selector):
        self.request, self.selector = request, selector
        if address.startswith("/"):
            self.connection = socket.socket(socket.AF_UNIX)
            self.connection.connect(address)
        else:
            host, _, port = address.rpartition(":")
            self.connection = socket.create_connection((host, int(port)), timeout=10)
        self.connection.setblocking(False)
        selector.register(self.connection, selectors.EVENT_READ, self)
        self.send()

    def send(self):
        self.answer, self.length = b"", None
        self.asked = time.monotonic()
        self.connection.send(self.request)

    def receive(self):
        """Returns True when the answer is complete."""
        data = self.connection.recv(262_144)
        if not data:
            raise OSError("closed")
        self.answer += data
        if self.length is None:
            end = self.answer.find(b"\r\n\r\n")
            if end < 0:
                return False
            head = self.answer[:end].lower()
            if not head.startswith(b"http/1.1 200"):
                raise OSError("refused")
            self.length = end + 4 + int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        return len(self.answer) >= self.length


def _measure(pipe, address, path, connections, seconds):
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    selector, times, failures = selectors.DefaultSelector(), [], 0
    for _ in range(connections):
        try:
            _Caller(address, request, selector)
        except OSError:
            failures += 1
    end = time.monotonic() + seconds
    while (now := time.monotonic()) < end and selector.get_map():
        for key, _ in selector.select(end - now):
            try:
                if key.data.receive():
                    times.append(time.monotonic() - key.data.asked)
                    key.data.send()
            except OSError:
                failures += 1
                selector.unregister(key.fileobj)
    # A caller that is still waiting counts with the time it has waited.
    times += [end - key.data.asked for key in selector.get_map().values() if end - key.data.asked > 0.1]
    pipe.send((sorted(times), failures))
