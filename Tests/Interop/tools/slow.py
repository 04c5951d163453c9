"""Callers that hold connections and send or read almost nothing. The daemon must go on serving others, and close what the
slow ones hold.

slowhttptest sends a Referer, so its requests are refused as a web page's: its slow bodies are refused before they begin,
and what it reads slowly is short. Callers of our own send the same with a request that is accepted.
"""
import http.client
import subprocess
import sys
import threading
import time
import socket

ANSWER_WITHIN_S = 10  # another caller, while the slow ones are there: far below their 30 s even on a busy machine
LET_GO_WITHIN_S = 75  # head 10 s, body and answer 30 s, closing 2 s; and what slowhttptest takes to begin
CALLERS = 60  # of each kind: together fewer than the 512 connections of the daemon
READERS = 8  # each makes the daemon render some megabytes
FLOOD = 900  # more than these


class OtherCaller(threading.Thread):
    """Asks for the status on a new connection, again and again."""

    def __init__(self, api):
        super().__init__(daemon=True)
        self.api, self.answers, self.slowest, self.problem = api, 0, 0, None
        self.is_over = threading.Event()

    def run(self):
        while not self.is_over.wait(0.1):
            began = time.monotonic()
            try:
                connection = http.client.HTTPConnection(self.api, timeout=ANSWER_WITHIN_S)
                connection.request("GET", "/v1/status")
                status = connection.getresponse().status
                connection.close()
                if status != 200:
                    self.problem = self.problem or f"got {status}"
            except OSError as error:
                self.problem = self.problem or f"got no answer within {ANSWER_WITHIN_S} s: {error!r}"
            self.answers += 1
            self.slowest = max(self.slowest, time.monotonic() - began)

    def ended(self, during):
        self.is_over.set()
        self.join()
        print(f"  {during}: another caller got {self.answers} answers, the slowest after {self.slowest:.2f} s")
        if self.problem or not self.answers:
            sys.exit(f"  {during}: another caller {self.problem}")


def slowhttptest(api, *flags, seconds):
    return subprocess.Popen(["slowhttptest", "-l", str(seconds), "-p", str(ANSWER_WITHIN_S), *flags, "-u", f"http://{api}/openapi.json"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def slow_bodies(api):
    """Announce a body, and send a byte of it now and then."""
    head = (f"POST /v1/orders HTTP/1.1\r\nHost: {api}\r\nContent-Type: application/json\r\n"
            "Content-Length: 100000\r\n\r\n").encode()
    return [opened(api, head) for _ in range(CALLERS)]


def slow_readers(api):
    """Ask for more than the kernel's buffers hold, and never read it."""
    request = f"GET /v1/orders?limit=200 HTTP/1.1\r\nHost: {api}\r\n\r\n".encode()
    return [opened(api, request * 200, receive_buffer=1024) for _ in range(READERS)]


def opened(api, first, receive_buffer=None):
    host, port = api.split(":")
    caller = socket.socket()
    if receive_buffer:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    caller.connect((host, int(port)))
    caller.sendall(first)
    caller.setblocking(False)
    return caller


def held(api):
    """How many connections to its address the daemon has open: those in /proc/net/tcp with an inode, without the
    listening socket."""
    port = f":{int(api.split(':')[1]):04X}"
    with open("/proc/net/tcp") as table:
        rows = [line.split() for line in table][1:]
    return sum(row[1].endswith(port) and row[3] != "0A" and row[9] != "0" for row in rows)


def settled(api):
    """Waits until the daemon has no connection open; returns how many it has."""
    due = time.monotonic() + 10
    while (count := held(api)) and time.monotonic() < due:
        time.sleep(0.2)
    return count


def time_limits(api):
    other = OtherCaller(api)
    other.start()
    began = time.monotonic()
    programs = [slowhttptest(api, *mode, "-c", str(CALLERS), "-r", str(CALLERS), seconds=LET_GO_WITHIN_S)
                for mode in (["-H", "-i", "3", "-x", "10"], ["-B", "-i", "3", "-s", "8192", "-f", "application/json"],
                             ["-R", "-t", "GET"], ["-X", "-w", "10", "-y", "20", "-z", "32", "-k", "3"])]
    bodies, readers = slow_bodies(api), slow_readers(api)
    most, took = 0, 0
    while took < LET_GO_WITHIN_S:
        now = held(api)
        most, took = max(most, now), time.monotonic() - began
        if took > 5 and now <= 1:  # one may be the other caller's
            break
        for caller in bodies:
            try:
                caller.send(b" ")
            except OSError:
                pass  # let go, or its buffer is full
        time.sleep(1)
    for program in programs:
        program.kill()
        program.wait()
    other.ended("slow callers")
    left = settled(api)
    for caller in bodies + readers:
        caller.close()
    print(f"  slow callers: the daemon held up to {most} connections, and {left} after {took:.0f} s")
    if most < 2 * CALLERS:
        sys.exit("  slow callers: they held too few connections to prove anything")
    if left:
        sys.exit(f"  slow callers: {left} connections are still open")


def flood(api):
    other = OtherCaller(api)
    other.start()
    program = slowhttptest(api, "-H", "-c", str(FLOOD), "-r", "300", "-i", "3", "-x", "10", seconds=12)
    program.wait(timeout=60)
    other.ended("a flood")
    if left := settled(api):
        sys.exit(f"  a flood: {left} connections are still open")


if __name__ == "__main__":
    time_limits(sys.argv[1])
    flood(sys.argv[1])
