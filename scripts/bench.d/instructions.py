"""How many instructions one get, list, search, write and page take, counted by valgrind: nearly the same on every machine.

instructions.json stores the counts to compare with; `--keep-counts` replaces them.
"""

import contextlib
import json
import re
import shutil
from pathlib import Path
import subprocess

import client
import compiled
from figures import Row
from pulls import changed_copy
from reads import LIST, SEARCH, common_name, gets, spelled
from shop import PAGE

TITLE = "Instructions"
HOW = """
Counted with valgrind's callgrind for the whole daemon, after a warm-up, and compared with the counts stored in
`scripts/bench.d/instructions.json`. They hardly depend on the machine's load, so they show what a change of the code costs.

*One of 500 written together* is a caller who changes a field of each of 500 orders over 64 connections: writes that
arrive together share a transaction. *One of 500 in one batch* is the same change as an operation of one request
(`POST /v1/_batch`). *One list* is read as it is after a change; *asked for again*, nothing has changed. *An unchanged record* was
asked for with the same tag before, as a program that polls does, and nothing was written since. The searches look for a surname
that many orders have, in caches of three sizes. valgrind makes the daemon some fifty times slower. On a slow machine a search may
then need more than the 10 ms after which it begins again on another thread, and count twice.
"""

KEPT = Path(__file__).with_name("instructions.json")
ORDERS = 10_000
PAGES = 4
WORSE_BY = 1.05
TOGETHER = 500
CALLERS = 64
ONE_OF_MANY = f"one of {TOGETHER} written together"
ONE_OF_BATCH = f"one of {TOGETHER} in one batch"
UNCHANGED = "one get of an unchanged record"
# What a call should take at most, whatever is stored.
GOALS = {
    "one get": 50_000, UNCHANGED: 40_000, "one list": 300_000, "one write": 800_000, "one page applied": 110_000_000,
    ONE_OF_MANY: 200_000, ONE_OF_BATCH: 200_000}
SEARCHES = {"one list with q=": SEARCH, "one search": "/v1/search?q={}&limit=20"}
SEARCH_GOAL, GROWTH_GOAL = 2_500_000, 1.5


def measure(bench):
    missing = [tool for tool in ("valgrind", "strip", "cc") if not shutil.which(tool)]
    if missing:
        print(f"  not counted without {' and '.join(missing)}", flush=True)
        return []
    counts = count(bench)
    if bench.keep_counts:
        KEPT.write_text(json.dumps(counts, indent=2) + "\n")
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    return [
        Row(f"instructions of {kind}", [taken], "", "the stored count", [kept[kind]] if kind in kept else [],
            at_most=WORSE_BY if kind in kept else None)
        for kind, taken in counts.items()
    ] + [
        Row(f"goal for {kind}", [counts[kind]], "", at_most=goal) for kind, goal in GOALS.items()
    ] + searches(bench)


def searches(bench):
    """The same searches in caches of three sizes."""
    sizes = bench.sizes if bench.smallest else (ORDERS, bench.orders, bench.large)
    counts = {}
    for size in sizes:
        with counted(bench.shop, size) as (daemon, meter):
            daemon.pause()
            word = common_name(daemon)
            for kind, path in SEARCHES.items():
                counts[kind, size] = meter.count([("GET", path.format(word), "")] * 50)
    rows = []
    for kind in SEARCHES:
        rows += [
            Row(f"instructions of {kind}, {size:,} rows", [counts[kind, size]], "", at_most=SEARCH_GOAL) for size in sizes]
        rows.append(
            Row(f"instructions of {kind}, {sizes[-1]:,} rows", [counts[kind, sizes[-1]]], "", f"{sizes[0]:,} rows",
                [counts[kind, sizes[0]]], at_most=GROWTH_GOAL))
    return rows


@contextlib.contextmanager
def counted(shop, orders):
    """A daemon with so many orders, and a meter for it."""
    folder = shop.folder("callgrind")
    # valgrind takes the last descriptors that the limit allows, and the daemon asks each one for its port when a
    # connection comes from its own user.
    few = ["sh", "-c", 'ulimit -n 512; exec "$@"', "sh"]
    valgrind = [*few, "valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", "--dump-instr=no"]
    daemon = shop.daemon("counted", shop.state(orders), wrapper=valgrind, binary=stripped(shop, folder),
                         environment={"LD_PRELOAD": str(compiled.own_sigmask(folder))})
    with daemon:
        yield daemon, Meter(daemon, folder)


def count(bench):
    shop = bench.shop
    orders = bench.sizes[0] if bench.smallest else ORDERS
    every = max(1, orders // (PAGES * PAGE))
    pages = -(-orders // every // PAGE)
    changed = changed_copy(shop, shop.orders(orders), every)
    with counted(shop, orders) as (daemon, meter):
        ids = daemon.some(200)
        polls = [("GET", f"/v1/orders/{id}", "", {"If-None-Match": daemon.tag(f"/v1/orders/{id}")}) for id in ids]
        meter.ask(polls)
        # Their queries are known then, but not all of their pages are kept.
        lists = gets(spelled(LIST)[:48])
        meter.ask(lists)
        counts = {
            "one get": meter.count([("GET", f"/v1/orders/{id}", "") for id in ids]),
            UNCHANGED: meter.count(polls),
            "one list": meter.count(lists),
            "one list asked for again": meter.count(gets([LIST]) * 50),
            "one pending count": meter.count([("GET", "/v1/pending/count", "")] * 100),
        }
        upstream = shop.static_upstream(changed)
        try:
            counts["one page applied"] = meter.during(daemon.sync) // pages
        finally:
            upstream.stop()
        daemon.pause()
        counts["one status"] = meter.count(gets(["/v1/status"]) * 50)
        counts["one write"] = meter.count([("PATCH", f"/v1/orders/{id}", '{"notes":"%s"}' % id) for id in ids])
        many = daemon.some(2 * TOGETHER)
        counts[ONE_OF_MANY] = min(
            meter.during(lambda: meter.settle(changes(half), CALLERS)) // len(half) for half in (many[::2], many[1::2]))
        many = daemon.some(4 * TOGETHER)[2 * TOGETHER:]
        meter.ask([batch(many[:20])])
        counts[ONE_OF_BATCH] = min(
            meter.during(lambda: meter.settle([batch(half)])) // len(half) for half in (many[::2], many[1::2]))
    return counts


def changes(ids):
    return [("PATCH", f"/v1/orders/{id}", '{"notes":"Together %s"}' % id) for id in ids]


def batch(ids):
    operations = [
        {"operation": "update", "entity": "orders", "id": id, "body": {"notes": f"In a batch {id}"}} for id in ids]
    return "POST", "/v1/_batch", json.dumps({"operations": operations})


def stripped(shop, folder):
    """Without debug information, which valgrind cannot read as Swift writes it."""
    binary = folder / "repairminder-sync"
    subprocess.run(["strip", "--strip-debug", "-o", binary, shop.binaries / binary.name], check=True)
    return binary


class Meter:
    """Counts by difference, after a warm-up that fills caches and prepares statements."""

    def __init__(self, daemon, folder):
        self.daemon, self.folder = daemon, folder

    def count(self, calls):
        """The smaller of two halves: during the other the daemon may have returned memory."""
        self.ask(calls[:20])
        counted = calls[20:]
        halves = counted[::2], counted[1::2]
        return min(self.during(lambda: self.ask(half)) // len(half) for half in halves)

    def ask(self, calls, connections=1):
        """`calls`: method, path and body, and perhaps more headers."""
        requests = (
            client.request(method, path, self.daemon.headers | dict(*more), body)
            for method, path, body, *more in calls)
        client.drive(self.daemon.address, requests, connections, count=len(calls))

    def settle(self, calls, connections=1):
        """With what the daemon does after the answers: an empty write comes after that."""
        self.ask(calls, connections)
        self.ask([batch([])])

    def during(self, work):
        self.control("--zero")
        work()
        before = set(self.folder.iterdir())
        self.control("--dump")
        (made,) = [path for path in set(self.folder.iterdir()) - before if re.fullmatch(r"out\.\d+(\.\d+)*", path.name)]
        return int(re.search(r"^(?:summary|totals): (\d+)", made.read_text(), re.MULTILINE)[1])

    def control(self, option):
        subprocess.run(
            ["callgrind_control", option, str(self.daemon.program.pid)], check=True, capture_output=True)
