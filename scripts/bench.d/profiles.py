"""Flame graphs of the daemon during everything that is measured here."""

import drain
import flame
from reads import LIST, SEARCH, common_name, deep, deepest_page, gets, spelled

TITLE = "Where the time goes"
HOW = """
`perf` samples the daemon's call stacks 499 times a second (4,999 times for a start) while it does one thing. The table lists the
functions with the most time of their own; each flame graph shows the whole.
"""


def measure(bench):
    if not flame.can_record():
        print("  no perf: no flame graphs", flush=True)
        return []
    shop = bench.shop
    upstream = shop.static_upstream(shop.orders(bench.orders))
    try:
        with shop.daemon("profile") as daemon:
            work(bench, daemon, "first pull", daemon.sync)
    finally:
        upstream.stop()
    with shop.daemon("profile", shop.state(bench.orders)) as daemon:
        daemon.pause()
        ids = daemon.some(1000)
        loads = {
            "one by id": gets(f"/v1/orders/{id}" for id in ids),
            "list of 50": gets(spelled(LIST)),
            "deep page": gets(spelled(deep(daemon, deepest_page(bench)))),
            "search": gets([SEARCH.format(common_name(daemon))]),
            "status": gets(["/v1/status"]),
            "durable writes": [("PATCH", f"/v1/orders/{id}", '{"notes":"NEW"}') for id in ids],
        }
        for what, calls in loads.items():
            connections = 64 if what == "durable writes" else 16
            # Threads that start later are not sampled.
            daemon.load(calls, connections, 0.5)
            work(bench, daemon, what, lambda: daemon.load(calls, connections, bench.seconds))
    with drain.queued(bench) as daemon:
        work(bench, daemon, "sending", lambda: drain.drained(daemon))
    start(bench, daemon)
    return []


def work(bench, daemon, what, body):
    with flame.Recording(daemon.program.pid) as recording:
        body()
    picture(bench, what, recording.stacks())


def start(bench, daemon):
    """Samples from the first instruction to the last, with one answer in between."""
    recording = flame.Recording(rate=4999)
    daemon.command = [*recording.command, "--", *daemon.command]
    daemon.start()
    daemon.stop()
    picture(bench, "start", recording.stacks())


def picture(bench, what, stacks):
    if not stacks:
        return
    print(f"  {what}")
    heaviest = flame.heaviest(stacks)
    for frame, share in heaviest:
        print(f"    {share:6.1%}  {frame}", flush=True)
    bench.series[what] = heaviest
    if bench.report:
        folder = bench.report.with_suffix("")
        folder.mkdir(exist_ok=True)
        (folder / f"flame-{what.replace(' ', '-')}.svg").write_text(flame.draw(what, stacks))
