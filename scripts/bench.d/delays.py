"""How long changes take: from the upstream to readers here, from a caller to the upstream, and to event streams."""

import json
import multiprocessing
import re
import select
import socket
import time
import urllib.request
from datetime import datetime

import client
from figures import Row, percentile
from relay import Relay

TITLE = "Delays"
HOW = """
- *A change upstream until it can be read here* is counted from the last byte of the page that has it, which a relay between
  daemon and upstream notes, until an event stream of the daemon reports it.
- *A local write until the upstream has it* is counted from the call until the upstream's answer, with an idle queue and an
  upstream that takes 50 ms. The daemon waits `sync.write_delay` for more changes, 0.1 s by default, which is set to 0 here.
- *An event* is counted from its commit until 64 streams, as many as the daemon serves, have it, while 1,000 writes a second
  are made. Writers, streams and daemon share the two cores.
"""

LATENCY_MS = 50
CHANGES = 40
STREAMS = 64
WRITES_A_SECOND = 1000
WRITERS = 16
TIME = re.compile(rb'"at":"([^"]+)Z"')


def measure(bench):
    upstream_times, own, there = [], [], []
    streams = []
    for _ in range(bench.rounds):
        upstream_times.append(from_upstream(bench))
        total, alone = to_upstream(bench)
        own.append(total)
        there.append(1.2 * alone + 5)
        streams.append(events(bench))
    return [
        Row("a change upstream until it can be read here", upstream_times, "ms", at_most=20),
        Row("a local write until the upstream has it", own, "ms", "1.2 × the upstream's time + 5 ms", there, at_most=1),
        Row(f"p99 of an event, {STREAMS} streams, {WRITES_A_SECOND:,} writes a second", [p99 for p99, _, _ in streams], "ms",
            at_most=50),
        Row("writes a second beside them", [rate for _, rate, _ in streams], "/s"),
        Row("peak memory with these streams", [peak for _, _, peak in streams], "MiB", at_most=64),
    ]


class Watched:
    """A daemon with a small cache whose upstream is reached through a relay."""

    def __init__(self, bench, latency_ms):
        shop = bench.shop
        self.upstream_port = shop.upstream_port
        self.upstream = shop.true_upstream(shop.orders(bench.sizes[0]), latency_ms)
        self.relay = Relay(shop.upstream_port)
        self.daemon = shop.daemon("delays", upstream_port=self.relay.port, write_delay="0ms")

    def __enter__(self):
        self.daemon.start()
        self.daemon.sync()
        return self

    def __exit__(self, *_):
        self.daemon.stop()
        self.relay.stop()
        self.upstream.stop()

    def change(self, id, notes):
        """Changes an order at the upstream, not through the relay."""
        address = f"http://127.0.0.1:{self.upstream_port}/__admin/records/orders/{id}"
        body, type = json.dumps({"notes": notes}).encode(), {"Content-Type": "application/json"}
        urllib.request.urlopen(urllib.request.Request(address, body, type, method="PATCH")).close()


def from_upstream(bench):
    """The median over some changes, in milliseconds."""
    delays = []
    with Watched(bench, 0) as watched:
        stream = Stream(watched.daemon, "kind=upserted")
        for number, id in enumerate(watched.daemon.some(CHANGES)):
            mark = f"Changed upstream, {number}."
            watched.change(id, mark)
            watched.daemon.call("POST", "/v1/sync")
            readable = stream.until(f'"id":"{id}"')
            delays.append((readable - watched.relay.time_of(mark, answers=True)) * 1000)
            # Lets this sync end: it would take the next one's place, and has read the orders already.
            watched.daemon.sync()
        stream.close()
    return percentile(delays, 0.5)


def to_upstream(bench):
    """The medians over some writes, in milliseconds: until the upstream has answered, and the upstream's part of that."""
    totals, upstreams = [], []
    with Watched(bench, LATENCY_MS) as watched:
        stream = Stream(watched.daemon, "kind=acknowledged")
        for number, id in enumerate(watched.daemon.some(CHANGES)):
            mark = f"Written here, {number}."
            began = time.time()
            watched.daemon.call("PATCH", f"/v1/orders/{id}", {"notes": mark})
            stream.until(f'"id":"{id}"')
            sent = watched.relay.time_of(mark, answers=False)
            answered = watched.relay.first_answer(sent)
            totals.append((answered - began) * 1000)
            upstreams.append((answered - sent) * 1000)
        stream.close()
    return percentile(totals, 0.5), percentile(upstreams, 0.5)


def events(bench):
    """The p99 of an event's delay in milliseconds, the writes made a second, and the peak memory in MiB."""
    state = bench.shop.state(bench.sizes[0])
    with bench.shop.daemon("streams", state) as daemon:
        daemon.pause()
        ids = daemon.some(1000)
        seconds = max(bench.seconds, 1)
        results = multiprocessing.SimpleQueue()
        opened = multiprocessing.Event()
        reader = multiprocessing.Process(target=read, args=(daemon, seconds + 1, opened, results))
        reader.start()
        opened.wait()
        calls = (
            client.request("PATCH", f"/v1/orders/{ids[number % len(ids)]}", daemon.headers, f'{{"notes":"Event {number}"}}')
            for number in range(10**9))
        rate = client.drive(daemon.address, calls, WRITERS, seconds=seconds, pace=WRITES_A_SECOND).rate
        p99 = results.get()
        reader.join()
        return p99, rate, daemon.peak()


def read(daemon, seconds, opened, results):
    """Follows all streams; puts the p99 of the oldest event's age in each piece that arrives."""
    streams = [Stream(daemon, "kind=queued") for _ in range(STREAMS)]
    poll = select.epoll()
    for stream in streams:
        poll.register(stream.socket, select.EPOLLIN)
    by_descriptor = {stream.socket.fileno(): stream for stream in streams}
    opened.set()
    ages, end = [], time.time() + seconds
    while (left := end - time.time()) > 0:
        for descriptor, _ in poll.poll(left):
            piece, now = by_descriptor[descriptor].socket.recv(1 << 20), time.time()
            if found := TIME.search(piece):
                ages.append((now - datetime.fromisoformat(f"{found[1].decode()}+00:00").timestamp()) * 1000)
    for stream in streams:
        stream.close()
    results.put(percentile(ages, 0.99))


class Stream:
    """An event stream, open when it is made."""

    def __init__(self, daemon, query):
        self.socket = socket.create_connection(daemon.address)
        self.socket.sendall(client.request("GET", f"/v1/events?{query}", daemon.headers))
        self.text = b""
        while b"retry:" not in self.text:
            self.text += self.socket.recv(1 << 16)

    def until(self, mark):
        """The time at which an event with this text has arrived."""
        while mark.encode() not in self.text:
            piece = self.socket.recv(1 << 16)
            if not piece:
                raise ConnectionError("the event stream ended")
            self.text += piece
        arrived = time.time()
        self.text = b""
        return arrived

    def close(self):
        self.socket.close()
