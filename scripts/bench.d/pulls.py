"""Pulls: the first against the minimum that curl and sqlite3 need, later ones against the first."""

import json
import time

import rivals
from figures import Row, in_turn
from floor import Floor, require
from shop import ENTITIES, flush, lines

TITLE = "Pulls"
HOW = """
From the start of the daemon on an empty folder to the end of `POST /v1/sync?wait=true`. The upstream serves pages of 500 from
memory. All contestants end with every record counted.

- *curl of all pages and sqlite3* is the floor: one `curl` with a kept connection downloads every page, and the `sqlite3` shell
  loads them, one transaction for each entity, into tables and indexes copied from the daemon's database, with
  `synchronous=FULL`. Its full-text tables are filled afterwards, each with one statement. The daemon also writes a change log
  and merges.
- *the same without full-text search* leaves those tables empty.
- *requests and executemany* is the script you would write first.
- *dlt* is its own REST source into SQLite, replacing everything.

*Until lists are complete* ends when every entity is pulled and its lists say no more that they are incomplete, *until search is
complete* when `/v1/search` does. Both are asked every 20 ms. What a first pull has *written* by its end includes
its log, not the last checkpoint.

Later pulls go to the same upstream. *Nothing changed* and *1 % changed* ask for what changed since; a *full pull* transfers
everything again. *Written* is what the kernel counts for the process, plus the growth of the log.
"""

# Name → whether the full-text tables are filled too.
UNSEARCHED = "the same without full-text search"
FLOORS = {"curl of all pages and sqlite3": True, UNSEARCHED: False}
# One of the pullers of `rivals`.
SCRIPT = "requests and executemany"

# Later than every time in the generated data.
LATER = "2030-01-01T00:00:00Z"


def measure(bench):
    rows = first(bench, bench.shop.orders(bench.orders), f"first pull, {bench.orders:,} orders", rivals.pullers(bench))
    if bench.data:
        data = bench.shop.unpacked(bench.data)
        count = sum(lines(data / f"{entity}.ndjson") for entity in ENTITIES)
        rows += first(bench, data, f"first pull, a shop of {count:,} records with messages by ticket", {})
    return rows + later(bench)


def first(bench, data, what, others):
    """`others`: from `rivals.pullers`."""
    shop, peaks, ends, sizes, sent = bench.shop, [], {"lists": [], "search": []}, [], []
    example = (shop.state(bench.sizes[0]) / "current.db").resolve()
    upstream = shop.static_upstream(data)

    def ours():
        daemon = shop.daemon("pull")
        flush()
        began = time.perf_counter()
        with daemon:
            took = daemon.first_pull(began)
            require(daemon.rows(), data)
            peaks.append(daemon.peak())
            sent.append(daemon.program.bytes_written() / 1e6)
            for kind, times in ends.items():
                times.append(took[kind])
        sizes.append(daemon.database().stat().st_size / 1e6)
        return took["all"]

    def theirs(pull):
        folder = shop.folder("rival")
        flush()
        began = time.perf_counter()
        pull(shop.upstream_port, folder)
        return time.perf_counter() - began

    try:
        contestants = {"ours": ours}
        for name, searched in FLOORS.items():
            contestants[name] = Floor(shop, data, upstream.urls, example, searched).run
        contestants |= {name: lambda pull=pull: theirs(pull) for name, (pull, _) in others.items()}
        samples = in_turn(bench.rounds, contestants)
    finally:
        upstream.stop()
    # The goals are for 200,000 orders; records of other entities are of other sizes.
    scale = bench.orders / 200_000 if data == shop.orders(bench.orders) else None
    rows = [Row(what, samples["ours"], "s", name, samples[name], at_most=1.3) for name in FLOORS] + [
        Row(f"{what}, until lists are complete", ends["lists"], "s", UNSEARCHED, samples[UNSEARCHED], at_most=0.7),
        Row(f"peak memory: {what}", peaks, "MiB", at_most=64),
        Row(f"written: {what}", sent, "MB", at_most=scale and 800 * scale),
        Row(f"size of the database: {what}", sizes, "MB", at_most=scale and 171 * scale),
    ]
    if SCRIPT in samples:
        rows.append(
            Row(f"{what}, until search is complete", ends["search"], "s", SCRIPT, samples[SCRIPT], at_most=0.6))
    for name, (_, times) in others.items():
        rows.append(Row(what, samples["ours"], "s", name, samples[name], at_most=times and 1 / times))
    return rows


def later(bench):
    """Pulls into a complete cache: nothing new, everything again, and one record in a hundred changed."""
    shop, data = bench.shop, bench.shop.orders(bench.orders)
    changed = changed_copy(shop, data, every=100)
    samples = {name: [] for name in ("full", "unchanged", "again", "changed", "written", "written again")}
    for _ in range(bench.rounds):
        daemon, upstream = shop.daemon("later"), shop.static_upstream(data)
        try:
            began = time.perf_counter()
            daemon.start()
            daemon.sync()
            samples["full"].append(time.perf_counter() - began)
            before = written(daemon)
            samples["unchanged"].append(daemon.sync())
            samples["written"].append(written(daemon) - before)
            before = written(daemon)
            samples["again"].append(daemon.sync(full=True))
            samples["written again"].append(written(daemon) - before)
            upstream.stop()
            upstream = shop.static_upstream(changed)
            samples["changed"].append(daemon.sync())
            require(daemon.rows(), data)
        finally:
            upstream.stop()
            daemon.stop()
    full = ("the first pull", samples["full"])
    return [
        Row("pull, nothing changed", samples["unchanged"], "s", *full, at_most=0.25),
        Row("pull, 1 % changed", samples["changed"], "s", *full, at_most=0.25),
        Row("full pull, nothing changed", samples["again"], "s", *full, at_most=0.25),
        Row("written by a pull, nothing changed", samples["written"], "bytes", at_most=0),
        Row("written by a full pull, nothing changed", samples["written again"], "bytes"),
    ]


def written(daemon):
    """Grows with every write: bytes sent to the disk plus the log's length."""
    log = daemon.database().with_name(daemon.database().name + "-wal")
    return daemon.program.bytes_written() + (log.stat().st_size if log.exists() else 0)


def changed_copy(shop, data, every):
    """The same orders, one in `every` with other notes and a later time."""
    folder = shop.folder("changed")
    for entity in ENTITIES:
        (folder / f"{entity}.ndjson").write_text("")
    with open(data / "orders.ndjson") as source, open(folder / "orders.ndjson", "w") as copy:
        for number, line in enumerate(source):
            if number % every == 0:
                order = json.loads(line)
                order |= {"notes": f"Changed upstream, {number}", "updated_at": LATER}
                line = json.dumps(order) + "\n"
            copy.write(line)
    return folder
