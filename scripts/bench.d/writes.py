"""Durable writes: against the disk's own fsync rate, against each other, and where every fsync is slow."""

import json
import os
import time

import compiled
import rivals
from figures import Row
from rival_servers import PocketBase

TITLE = "Writes"
HOW = """
`PATCH` of one field of 1,000 orders in turn, each with a new text, while sending is paused. Nothing is answered before its
transaction is on disk (`synchronous=FULL`). The disk's own rate is a loop that appends 4 KiB and calls `fdatasync` in the same
folder. Where each fsync is 2 ms slower, a preloaded library waits before it. *500 in one batch* is one `POST /v1/_batch` after the
other, each of which changes a field of 500 orders: how many changes a second, against one request for each on one connection.
PocketBase commits with `synchronous=NORMAL`, so
it may answer before the data is on disk.
"""

CALLERS = 64
TOGETHER = 500


def measure(bench):
    state = bench.shop.state(bench.orders)
    daemon = bench.shop.daemon("writes", state)
    with daemon, rivals.servers(bench, (PocketBase,)) as servers:
        daemon.pause()
        ids = daemon.some(1000)
        disk = Disk(daemon.state)
        contestants = {"disk": lambda: disk.rate(bench.seconds), "batch": lambda: batch_rate(bench, daemon, ids)}
        for connections in (1, 16, CALLERS):
            contestants[connections] = lambda connections=connections: rate(bench, daemon, ids, connections)
            for server in servers:
                contestants[server.name, connections] = lambda server=server, connections=connections: server.load(
                    server.changes(ids), connections, bench.seconds).rate
        rates = bench.in_turn(contestants)
    what = "durable writes, {} caller{}"
    rows = [
        Row(what.format(1, ""), rates[1], "/s", "fsync of one page", rates["disk"], at_least=0.45),
        Row(what.format(CALLERS, "s"), rates[CALLERS], "/s", "one caller", rates[1], at_least=2.3),
        Row(f"durable writes, {TOGETHER} in one batch", rates["batch"], "/s", "one caller", rates[1], at_least=4),
    ]
    for server in servers:
        for ours, theirs, target in ((1, 1, 1.2), (16, 16, None), (CALLERS, 16, 2), (CALLERS, CALLERS, 3)):
            against = f"{server.name}, {theirs} caller{'s' if theirs > 1 else ''}"
            rows.append(
                Row(what.format(ours, "s" if ours > 1 else ""), rates[ours], "/s", against,
                    rates[server.name, theirs], at_least=target))
    return rows + (slow_disk(bench, state) if compiled.compiler() else [])


def slow_disk(bench, state):
    shim = compiled.slow_fsync(bench.shop.folder("shim"))
    daemon = bench.shop.daemon("slow-writes", state, environment={"LD_PRELOAD": str(shim)})
    with daemon:
        daemon.pause()
        ids = daemon.some(1000)
        contestants = {
            connections: lambda connections=connections: rate(bench, daemon, ids, connections)
            for connections in (1, CALLERS)}
        contestants["batch"] = lambda: batch_rate(bench, daemon, ids)
        rates = bench.in_turn(contestants)
    return [
        Row(f"durable writes, {many}, each fsync 2 ms slower", rates[contestant], "/s", "one caller", rates[1],
            at_least=least)
        for contestant, many, least in (
            (CALLERS, f"{CALLERS} callers", 12), ("batch", f"{TOGETHER} in one batch", 10))]


def rate(bench, daemon, ids, connections):
    changes = [("PATCH", f"/v1/orders/{id}", '{"notes":"NEW"}') for id in ids]
    return daemon.load(changes, connections, bench.seconds).rate


def batch_rate(bench, daemon, ids):
    """Changes a second, of which each request has 500."""
    operations = [
        {"operation": "update", "entity": "orders", "id": id, "body": {"notes": "NEW"}} for id in ids[:TOGETHER]]
    load = daemon.load([("POST", "/v1/_batch", json.dumps({"operations": operations}))], 1, bench.seconds)
    return load.rate * TOGETHER


class Disk:
    """Appends and syncs a page in a loop, in the database's folder."""

    def __init__(self, folder):
        self.path = folder / "fsync-rate"

    def rate(self, seconds):
        page = os.urandom(4096)
        file = os.open(self.path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        try:
            count, begin = 0, time.perf_counter()
            while (elapsed := time.perf_counter() - begin) < seconds:
                os.write(file, page)
                os.fdatasync(file)
                count += 1
            return count / elapsed
        finally:
            os.close(file)
            os.unlink(self.path)
