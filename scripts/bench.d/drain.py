"""Sending a long queue to an upstream that takes its time."""

import time

from figures import Row

TITLE = "Sending the queue"
HOW = """
Changes of as many records, queued while paused; then the time from resuming until the reference upstream, which answers
everything so much later, has acknowledged the last. The least possible is the latency alone, eight at a time.
"""

LATENCY_MS = 50
IN_FLIGHT = 8


def measure(bench):
    shop, count = bench.shop, bench.changes
    state = shop.state(bench.sizes[1])
    times = []
    for _ in range(bench.long_rounds):
        upstream = shop.true_upstream(shop.orders(bench.sizes[1]), LATENCY_MS)
        daemon = shop.daemon("drain", state, parallel=IN_FLIGHT)
        try:
            with daemon:
                daemon.sync()
                daemon.pause()
                daemon.queue(daemon.some(count))
                times.append(drained(daemon))
        finally:
            upstream.stop()
    ideal = count * LATENCY_MS / 1000 / IN_FLIGHT
    return [
        Row(f"sending {count:,} changes, {LATENCY_MS} ms each, {IN_FLIGHT} in flight", times, "s",
            "latency × changes ÷ 8", [ideal], at_most=1.15)]


def drained(daemon):
    """Seconds until the upstream has acknowledged everything."""
    began = time.perf_counter()
    daemon.resume()
    while daemon.pending():
        time.sleep(0.05)
    return time.perf_counter() - began
