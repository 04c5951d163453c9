"""Sending a long queue to a slow upstream."""

import contextlib
import time

from figures import Row

TITLE = "Sending the queue"
HOW = """
Changes of different records are queued while sending is paused. Measured is the time from resuming until the reference upstream
has acknowledged the last one. The upstream delays every answer by the stated latency. The minimum is the latency alone, eight
requests at a time.
"""

LATENCY_MS = 50
IN_FLIGHT = 8


def measure(bench):
    count = bench.changes
    times = []
    for _ in range(bench.long_rounds):
        with queued(bench) as daemon:
            times.append(drained(daemon))
    ideal = count * LATENCY_MS / 1000 / IN_FLIGHT
    return [
        Row(f"sending {count:,} changes, {LATENCY_MS} ms each, {IN_FLIGHT} in flight", times, "s",
            "latency × changes ÷ 8", [ideal], at_most=1.15)]


@contextlib.contextmanager
def queued(bench):
    """A paused daemon with all changes in its queue, and their upstream."""
    shop, rows = bench.shop, bench.sizes[1]
    state = shop.state(rows)
    upstream = shop.true_upstream(shop.orders(rows), LATENCY_MS)
    try:
        with shop.daemon("drain", state, parallel=IN_FLIGHT) as daemon:
            daemon.sync()
            daemon.pause()
            daemon.queue(daemon.some(bench.changes))
            yield daemon
    finally:
        upstream.stop()


def drained(daemon):
    """Seconds until the upstream has acknowledged everything."""
    began = time.perf_counter()
    daemon.resume()
    while daemon.pending():
        time.sleep(0.05)
    return time.perf_counter() - began
