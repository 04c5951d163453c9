"""Reads while the daemon is busy: a first pull and a queue being sent at the same time, against reads alone."""

import itertools
import json
import multiprocessing
import time

import client
from figures import Row

TITLE = "Reads while it works"
HOW = """
400 reads a second over 8 connections. They are sent at that rate no matter how fast the daemon answers, so waiting counts in
full. They run first during a first pull with 100 changes sent a second, then alone. The upstream runs on the same cores.
"""

# Low enough for two cores that also run the upstream: the topic measures latency, not throughput.
READS_A_SECOND = 400
CONNECTIONS = 8


def measure(bench):
    calm, busy = [], []
    for _ in range(bench.rounds):
        alone, beside = one_round(bench)
        calm.append(alone)
        busy.append(beside)
    return [Row("p99 of reads during a first pull and sending", busy, "ms", "reads alone", calm, at_most=3)]


def one_round(bench):
    shop, data = bench.shop, bench.shop.orders(bench.orders)
    upstream = shop.true_upstream(data, latency_ms=0)
    daemon = shop.daemon("busy")
    try:
        with daemon:
            while not daemon.rows()["orders"]:
                time.sleep(0.01)
            ids = daemon.some(400)
            # A process of its own, because reads and writes would share the interpreter lock.
            stop = multiprocessing.Event()
            writer = multiprocessing.Process(target=change, args=(daemon, ids, stop))
            writer.start()
            beside = client.drive(
                daemon.address, reads(daemon, ids), CONNECTIONS, pace=READS_A_SECOND,
                seconds=max(bench.seconds, 3)).p99
            still_pulling = daemon.get("/v1/status")["state"] == "syncing"
            stop.set()
            writer.join()
            if not still_pulling and not bench.smallest:
                print("  the first pull ended before the reads did", flush=True)
            daemon.sync()
            while daemon.pending():
                time.sleep(0.05)
            alone = client.drive(
                daemon.address, reads(daemon, ids), CONNECTIONS, pace=READS_A_SECOND,
                seconds=max(bench.seconds, 3)).p99
    finally:
        upstream.stop()
    return alone, beside


def reads(daemon, ids):
    return itertools.cycle([client.request("GET", f"/v1/orders/{id}", daemon.headers) for id in ids])


def change(daemon, ids, stop):
    """Adds a hundred changes a second to the queue."""
    for number in itertools.count():
        if stop.wait(0.1):
            return
        chunk = [ids[(number * 10 + offset) % len(ids)] for offset in range(10)]
        client.drive(
            daemon.address,
            (client.request("PATCH", f"/v1/orders/{id}", daemon.headers, json.dumps({"notes": f"{number}"}))
             for id in chunk),
            connections=1, count=len(chunk))
