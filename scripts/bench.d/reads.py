"""Reads of one record, of lists and of counts: against the same bytes from nginx, and against alternatives."""

import subprocess

import compiled
import rivals
from figures import Row
from nginx import Nginx

TITLE = "Reads"
HOW = """
Over TCP with the token, with `wrk`, 1,000 records in turn. The cache holds as many orders as the first pull.

- *nginx* serves the same bytes as files, with cached descriptors.
- *PocketBase* has the same orders in a collection with the same indexes, written directly into its database.
- *Kinto* has them in memory, *Datasette* in an immutable file.
- *SQLite alone* is a C program that reads the same columns of the same rows from the same file and discards them, without a
  socket. CPU time hardly depends on what else runs on the machine.

The deep page is reached with the daemon's cursor, Datasette's `_next` and PocketBase's page number. The daemon keeps its last
answers until its database changes. Rows of *another each time*, the deep page and the CPU time ask for one list in 512 spellings of
its address, far more than it keeps.
"""

LIST = "/v1/orders?status=collected&sort=-created_at&limit=50"
SEARCH = "/v1/orders?q={}&limit=50"
# The SQL for the same rows: the documents, the members that are computed for each, and what orders the list.
ROWS = """
SELECT coalesce(_document, iif(_local IS NULL, _remote, json_patch(_remote, _local))), display_ref, is_active, is_paid,
  _synced_at, _local IS NULL, created_at, _pk
FROM records_orders WHERE status = 'collected' AND _deleted = 0 ORDER BY created_at DESC, _pk DESC LIMIT 50
"""
LIST_CONNECTIONS = 16
# Far more than the daemon keeps the answers of, however many callers ask for them.
SPELLINGS = 512
# With the rates that they should have, compared with one by id.
COUNTS = {"/v1/pending/count": 1.3, "/v1/status": 1}
DEEPEST_PAGE = 100


def measure(bench):
    state = bench.shop.state(bench.orders)
    daemon = bench.shop.daemon("reads", state)
    with daemon, Nginx(bench.shop) as nginx, rivals.servers(bench) as servers:
        # Until an upstream has answered, the status says what it may lack.
        upstream = bench.shop.static_upstream(bench.shop.orders(bench.orders))
        try:
            daemon.sync()
        finally:
            upstream.stop()
        daemon.pause()
        rows = one_record(bench, daemon, nginx, servers) + lists(bench, daemon, nginx, servers)
        return rows + against_sqlite(bench, daemon) + counts(bench, daemon)


def gets(paths):
    return [("GET", path, "") for path in paths]


def one_record(bench, daemon, nginx, servers):
    ids = daemon.some(1000)
    calls = gets(f"/v1/orders/{id}" for id in ids)
    copies = gets([nginx.serve(f"one/{id}", daemon.call("GET", f"/v1/orders/{id}")) for id in ids])
    rows = []
    for connections in bench.connections:
        loads = bench.in_turn({
            "ours": lambda: daemon.load(calls, connections, bench.seconds),
            nginx.name: lambda: nginx.load(copies, connections, bench.seconds),
            **{server.name: load_of(server, server.one(ids), connections, bench) for server in servers}})
        what = f"one by id, {connections} connection{'s' if connections > 1 else ''}"
        targets = {nginx.name: 0.9 if connections == 1 else 0.6} | {server.name: server.one_target for server in servers}
        rows += rate_rows(what, loads, targets)
        if "PocketBase" in loads:
            ours, theirs = ([load.p99 for load in loads[name]] for name in ("ours", "PocketBase"))
            rows.append(Row(f"p99 of {what}", ours, "ms", "PocketBase", theirs, at_most=1))
    return rows


def load_of(server, calls, connections, bench):
    return lambda: server.load(calls, connections, bench.seconds)


def rate_rows(what, loads, targets):
    """One row for each contestant, comparing ours with it."""
    rates = {name: [load.rate for load in taken] for name, taken in loads.items()}
    return [
        Row(what, rates["ours"], "/s", name, theirs, at_least=targets.get(name))
        for name, theirs in rates.items() if name != "ours"]


def spelled(path):
    """The path in many spellings, which mean the same: some letters of a value are percent-encoded."""
    before, value, after = path.partition("collected")
    return [
        before + "".join(f"%{ord(c):02X}" if number >> bit & 1 else c for bit, c in enumerate(value)) + after
        for number in range(SPELLINGS)]


def lists(bench, daemon, nginx, servers):
    word = common_name(daemon)
    page = deepest_page(bench)
    kinds = {
        "list": ("list of 50 by status, newest first", LIST),
        "other": ("such a list, another each time", LIST),
        "page": (f"the same list, page {page}", deep(daemon, page)),
        "search": ("search in orders, newest first", SEARCH.format(word)),
    }
    rows = []
    for kind, (what, path) in kinds.items():
        copy = nginx.serve(kind, daemon.call("GET", path))
        paths = spelled(path) if kind in ("other", "page") else [path]
        contestants = {
            "ours": load_of(daemon, gets(paths), LIST_CONNECTIONS, bench),
            nginx.name: load_of(nginx, gets([copy]), LIST_CONNECTIONS, bench),
        }
        for server in servers if kind != "other" else []:
            if calls := server.list(kind, word, page):
                contestants[server.name] = load_of(server, calls, LIST_CONNECTIONS, bench)
        if kind == "page":
            contestants["its first page"] = load_of(daemon, gets(spelled(LIST)), LIST_CONNECTIONS, bench)
        targets = {"its first page": 0.92} | {server.name: server.list_target for server in servers}
        rows += rate_rows(f"{what}, {LIST_CONNECTIONS} connections", bench.in_turn(contestants), targets)
    return rows


def common_name(daemon):
    """A surname that many orders have."""
    names = [order["client_name"].split()[-1] for order in daemon.get("/v1/orders?limit=50")["data"]]
    return next(name for name in names if name.isascii())


def deepest_page(bench):
    return min(DEEPEST_PAGE, bench.orders // 400)


def deep(daemon, page):
    """The path of a page deep in the list."""
    path = LIST
    for _ in range(page - 1):
        path = f"{LIST}&cursor={daemon.get(path)['next']}"
    return path


def against_sqlite(bench, daemon):
    """CPU time of a list, against a C program that reads the same rows from the same file and discards them."""
    if not compiled.compiler():
        return []
    floor = compiled.list_floor(bench.shop.folder("list-floor"))

    def sqlite():
        command = [floor, daemon.database(), ROWS, str(bench.seconds)]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    def ours():
        before = daemon.program.processor_seconds()
        answers = daemon.load(gets(spelled(LIST)), LIST_CONNECTIONS, bench.seconds).answers
        return (daemon.program.processor_seconds() - before) / answers * 1e6

    times = bench.in_turn({"ours": ours, "sqlite": sqlite})
    return [
        Row("CPU time of a list of 50 by status", times["ours"], "µs", "SQLite alone", times["sqlite"],
            at_most=2)]


def counts(bench, daemon):
    """With ten queued changes, and with many."""
    one = gets(f"/v1/orders/{id}" for id in daemon.some(100))
    ids = daemon.some(bench.backlog)
    rows, queued = [], 0
    for length in (10, bench.backlog):
        daemon.queue(ids[queued:length])
        queued = length
        contestants = {"one": load_of(daemon, one, LIST_CONNECTIONS, bench)}
        for path in COUNTS:
            contestants[path] = load_of(daemon, gets([path]), LIST_CONNECTIONS, bench)
        rates = {name: [load.rate for load in taken] for name, taken in bench.in_turn(contestants).items()}
        one_rates = rates.pop("one")
        rows += [
            Row(f"{path}, {length:,} queued", ours, "/s", "one by id", one_rates, at_least=COUNTS[path])
            for path, ours in rates.items()]
    return rows
