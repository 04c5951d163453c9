"""A million records: time to the first answer, memory, and whether memory stays flat under load."""

from figures import Row, in_turn

TITLE = "A million rows"
HOW = """
Start is from `exec` to the first answer of `GET /v1/status`. The mixed load is reads, lists, searches, counts and writes over 8
connections without a pause. The upstream is reachable, so changes are sent. A whole list is one answer, of 650 MB as lines of JSON.
"""

WARM_UP_SECONDS = 10


def measure(bench):
    shop = bench.shop
    state = shop.state(bench.large)
    large, empty = shop.daemon("large", state), shop.daemon("empty")
    with large:
        large.pause()
        large.queue(large.some(bench.changes))
    with empty:
        pass
    rows = starts(bench, large, empty)
    return rows + lists(bench, large) + memory(bench, large)


def starts(bench, large, empty):
    def started(daemon):
        seconds = daemon.start()
        daemon.stop()
        return seconds * 1000

    times = in_turn(
        1 if bench.smallest else max(bench.rounds, 5),
        {"large": lambda: started(large), "empty": lambda: started(empty)})
    what = f"start until the first answer, {bench.large:,} rows, {bench.changes:,} queued"
    return [
        Row(what, times["large"], "ms", at_most=80),
        Row(what, times["large"], "ms", "an empty database", times["empty"], at_most=2),
    ]


def lists(bench, daemon):
    """Memory while all records are sent in one answer."""
    rows = []
    for name, type in {"NDJSON": "application/x-ndjson", "CSV": "text/csv"}.items():
        with daemon:
            lines = daemon.count_lines("/v1/orders", type)
            if lines < bench.large:
                raise ValueError(f"the list has {lines:,} lines")
            rows.append(Row(f"peak memory: a list of {bench.large:,} rows as {name}", [daemon.peak()], "MiB", at_most=64))
    return rows


def memory(bench, daemon):
    """After pulls, reads, searches and writes; then again and again under a mixed load."""
    upstream = bench.shop.true_upstream(bench.shop.orders(bench.large), latency_ms=0)
    try:
        with daemon:
            daemon.resume()
            daemon.sync()
            calls = mixed(daemon)
            run(daemon, calls, WARM_UP_SECONDS if not bench.smallest else 1)
            resident = []
            for _ in range(bench.memory_samples):
                run(daemon, calls, bench.soak_seconds / bench.memory_samples)
                resident.append(daemon.resident())
            peak = daemon.peak()
    finally:
        upstream.stop()
    third = max(1, len(resident) // 3)
    first, last = resident[:third], resident[-third:]
    minutes = bench.soak_seconds / 60
    bench.series["memory"] = [round(value, 1) for value in resident]
    return [
        Row(f"resident memory, {bench.large:,} rows, under mixed load", resident, "MiB", at_most=64),
        Row("peak memory under mixed load", [peak], "MiB", at_most=64),
        Row(f"resident memory after {minutes:.0f} minutes of mixed load", last, "MiB", "at the start", first,
            at_most=1.05),
    ]


def mixed(daemon):
    """Reads, lists, searches, counts and writes, as a busy shop would make them."""
    ids = daemon.some(2000)
    calls = []
    for number, id in enumerate(ids):
        calls.append(("GET", f"/v1/orders/{id}", ""))
        if number % 5 == 0:
            calls.append(("GET", f"/v1/orders?status=collected&limit=50&sort=-created_at&order_number.gt={number}", ""))
        if number % 10 == 0:
            calls += [("GET", "/v1/status", ""), ("GET", f"/v1/search?q={id[-3:]}&limit=20", "")]
            calls.append(("PATCH", f"/v1/orders/{id}", '{"notes":"NEW"}'))
    return calls


def run(daemon, calls, seconds):
    daemon.load(calls, 8, seconds)
