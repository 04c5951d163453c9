"""Where the time goes: flame graphs of the daemon at a first pull, at reads, at lists and at writes."""

import flame
from reads import LIST, gets

TITLE = "Where the time goes"
HOW = """
Samples of the daemon's call stacks by `perf`, 499 a second, while it does one thing; the functions with most of the time of
their own, and the whole as a flame graph.
"""


def measure(bench):
    if not flame.can_record():
        print("  no perf: no flame graphs", flush=True)
        return []
    shop = bench.shop
    upstream = shop.static_upstream(shop.orders(bench.orders))
    try:
        with shop.daemon("profile") as daemon:
            picture(bench, daemon, "first pull", daemon.sync)
    finally:
        upstream.stop()
    with shop.daemon("profile", shop.state(bench.orders)) as daemon:
        daemon.pause()
        ids = daemon.some(1000)
        work = {
            "one by id": gets(f"/v1/orders/{id}" for id in ids),
            "list of 50": gets([LIST]),
            "status": gets(["/v1/status"]),
            "durable writes": [("PATCH", f"/v1/orders/{id}", '{"notes":"NEW"}') for id in ids],
        }
        for what, calls in work.items():
            connections = 64 if what == "durable writes" else 16
            # Threads that begin later are not sampled.
            daemon.load(calls, connections, 0.5)
            picture(bench, daemon, what, lambda: daemon.load(calls, connections, bench.seconds))
    return []


def picture(bench, daemon, what, work):
    with flame.Recording(daemon.program.pid) as recording:
        work()
    stacks = recording.stacks()
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
