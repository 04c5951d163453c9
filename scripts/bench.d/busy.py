"""Reads while the daemon is busy: pulling and sending, building indexes, being backed up, sending a long queue."""

import itertools
import json
import multiprocessing
import subprocess
import time

import client
from figures import Row

TITLE = "Reads while it works"
HOW = """
400 reads a second over 8 connections. They are sent at that rate no matter how fast the daemon answers, so waiting counts in
full. They run during each kind of work, then alone:

- a first pull, with 100 changes sent a second;
- after it, while search is built;
- `repairminder-sync backup`, which copies the database and checks the copy, once after the other;
- a queue of 10,000 changes, being sent.

The reads, the upstream and the backup run on the same two cores as the daemon, so part of what they wait for is the processor.
"""

# Low enough for two cores that also run the upstream: the topic measures latency, not throughput.
READS_A_SECOND = 400
CONNECTIONS = 8
KINDS = {
    "pulling": "during a first pull and sending", "building": "while search is built", "backing up": "during backups",
    "sending": "while a long queue is sent"}


def measure(bench):
    rounds = [Round(bench).run() for _ in range(bench.rounds)]
    alone = [p99["alone"] for p99 in rounds]
    return [
        Row(f"p99 of reads {when}", [p99[kind] for p99 in rounds], "ms", "reads alone", alone, at_most=2)
        for kind, when in KINDS.items()]


class Round:
    """Each kind of work once, on one daemon."""

    def __init__(self, bench):
        self.bench = bench
        self.shop = bench.shop
        self.daemon = self.shop.daemon("busy")
        self.p99 = {}

    def run(self):
        upstream = self.shop.true_upstream(self.shop.orders(self.bench.orders), latency_ms=0)
        try:
            with self.daemon:
                self.pull()
                self.build()
                self.daemon.sync()
                while self.daemon.pending():
                    time.sleep(0.05)
                self.back_up()
                self.send()
                self.measure("alone")
        finally:
            upstream.stop()
        return self.p99

    def measure(self, kind, goes_on=lambda: True):
        """`goes_on` is asked after the reads whether the work was still under way."""
        requests = itertools.cycle(
            [client.request("GET", f"/v1/orders/{id}", self.daemon.headers) for id in self.ids])
        self.p99[kind] = client.drive(
            self.daemon.address, requests, CONNECTIONS, pace=READS_A_SECOND, seconds=max(self.bench.seconds, 3)).p99
        if not goes_on() and not self.bench.smallest:
            print(f"  {kind} ended before the reads did", flush=True)

    def pull(self):
        while not self.daemon.rows()["orders"]:
            time.sleep(0.01)
        self.ids = self.daemon.some(400)
        with Worker(change, self.daemon, self.ids):
            self.measure("pulling", lambda: self.daemon.get("/v1/status")["state"] == "syncing")

    def build(self):
        """Search is built once the lists are complete."""
        while not self.daemon.lists_are_complete():
            time.sleep(0.01)
        self.measure("building", lambda: not self.daemon.get("/v1/search?q=zz&limit=1")["complete"])

    def back_up(self):
        with Worker(back_up, self.daemon, self.shop.folder("backups")):
            self.measure("backing up")

    def send(self):
        self.daemon.pause()
        self.daemon.queue(self.daemon.some(self.bench.changes))
        self.daemon.resume()
        self.measure("sending", self.daemon.pending)
        while self.daemon.pending():
            time.sleep(0.05)


class Worker:
    """Calls `work` again and again in a process of its own, because it and the reads would share the interpreter lock."""

    def __init__(self, work, *arguments):
        self.stop = multiprocessing.Event()
        self.process = multiprocessing.Process(target=work, args=(*arguments, self.stop))

    def __enter__(self):
        self.process.start()

    def __exit__(self, *_):
        self.stop.set()
        self.process.join()


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


def back_up(daemon, folder, stop):
    for number in itertools.count():
        if stop.is_set():
            return
        copy = folder / f"{number}.db"
        subprocess.run(
            [daemon.command[0], "backup", "--config", daemon.configuration, copy], check=True, capture_output=True)
        copy.unlink()
