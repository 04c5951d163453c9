"""The same reads and writes on caches of different sizes."""

import contextlib

from figures import Row, median, number
from reads import LIST, gets, spelled

TITLE = "Growth"
HOW = """
The same calls over 16 connections, on caches of three sizes at the same time. The ratio is how many times longer a call takes
with more rows.
"""

CONNECTIONS = 16


def measure(bench):
    with contextlib.ExitStack() as stack:
        daemons = {size: stack.enter_context(daemon(bench, size)) for size in bench.sizes}
        kinds = {size: calls(each) for size, each in daemons.items()}
        rows = []
        for kind in next(iter(kinds.values())):
            rates = bench.in_turn({
                size: lambda size=size: daemons[size].load(kinds[size][kind], CONNECTIONS, bench.seconds).rate
                for size in bench.sizes})
            rows += against_smallest(bench, kind, rates)
    return rows


@contextlib.contextmanager
def daemon(bench, size):
    made = bench.shop.daemon(f"growth-{size}", bench.shop.state(size))
    with made:
        made.pause()
        yield made


def calls(daemon):
    ids = daemon.some(1000)
    return {
        "one by id": gets(f"/v1/orders/{id}" for id in ids),
        "list of 50 by status": gets(spelled(LIST)),
        "search": gets(f"/v1/search?q={number}&entity=orders" for number in range(1001, 1400)),
        "pending count": gets(["/v1/pending/count"]),
        "status": gets(["/v1/status"]),
        "durable write": [("PATCH", f"/v1/orders/{id}", '{"notes":"NEW"}') for id in ids],
    }


def against_smallest(bench, kind, rates):
    """How many times longer the same call takes with more rows."""
    smallest = bench.sizes[0]
    bench.series[f"growth: {kind}"] = {str(size): round(median(rates[size]), 1) for size in bench.sizes}
    return [
        Row(f"{kind}, {number(size)} rows", [1e6 / rate for rate in rates[size]], "µs", f"{number(smallest)} rows",
            [1e6 / rate for rate in rates[smallest]], at_most=1.3)
        for size in bench.sizes[1:]]
