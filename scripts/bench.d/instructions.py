"""How many instructions one get, one list, one write and one page take, counted by valgrind: the same on every machine.

instructions.json stores the counts to compare with; `--keep-counts` replaces them.
"""

import json
import re
import shutil
from pathlib import Path
import subprocess

import client
import compiled
from figures import Row
from pulls import changed_copy
from reads import LIST
from shop import PAGE

TITLE = "Instructions"
HOW = """
Counted with valgrind's callgrind for the whole daemon, after a warm-up, and compared with the counts stored in
`scripts/bench.d/instructions.json`. They hardly depend on the machine's load, so they show what a change of the code costs.
"""

KEPT = Path(__file__).with_name("instructions.json")
ORDERS = 10_000
PAGES = 4
WORSE_BY = 1.05


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
        for kind, taken in counts.items()]


def count(bench):
    shop = bench.shop
    orders = bench.sizes[0] if bench.smallest else ORDERS
    every = max(1, orders // (PAGES * PAGE))
    pages = -(-orders // every // PAGE)
    changed = changed_copy(shop, shop.orders(orders), every)
    folder = shop.folder("callgrind")
    valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", "--dump-instr=no"]
    daemon = shop.daemon("counted", shop.state(orders), wrapper=valgrind, binary=stripped(shop, folder),
                         environment={"LD_PRELOAD": str(compiled.own_sigmask(folder))})
    with daemon:
        meter = Meter(daemon, folder)
        ids = daemon.some(200)
        counts = {
            "one get": meter.count([("GET", f"/v1/orders/{id}", "") for id in ids]),
            "one list": meter.count([("GET", LIST, "")] * 50),
            "one pending count": meter.count([("GET", "/v1/pending/count", "")] * 100),
            "one status": meter.count([("GET", "/v1/status", "")] * 50),
        }
        upstream = shop.static_upstream(changed)
        try:
            counts["one page applied"] = meter.during(daemon.sync) // pages
        finally:
            upstream.stop()
        daemon.pause()
        counts["one write"] = meter.count([("PATCH", f"/v1/orders/{id}", '{"notes":"%s"}' % id) for id in ids])
    return counts


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

    def ask(self, calls):
        requests = (client.request(method, path, self.daemon.headers, body) for method, path, body in calls)
        client.drive(self.daemon.address, requests, connections=1, count=len(calls))

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
