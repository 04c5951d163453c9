"""The daemon with nothing to do."""

import time

from figures import Row

TITLE = "Idle"
HOW = """
Nothing to pull, nothing to send, no callers. Wake-ups are the voluntary context switches of all threads.
"""

# Within this time memory is returned, idle threads end, and the minute of the pull is written into the history of the activity.
SETTLING_SECONDS = 70


def measure(bench):
    shop = bench.shop
    daemon = shop.daemon("idle", shop.state(bench.sizes[1]))
    upstream = shop.static_upstream(shop.orders(bench.sizes[1]))
    try:
        with daemon:
            daemon.sync()
            time.sleep(SETTLING_SECONDS if not bench.smallest else 2)
            before, written = daemon.program.wake_ups(), daemon.program.bytes_written()
            time.sleep(bench.idle_seconds)
            written = daemon.program.bytes_written() - written
            wakes = sum(count - before.get(thread, 0) for thread, count in daemon.program.wake_ups().items())
            resident = daemon.resident()
    finally:
        upstream.stop()
    return [
        Row("wake-ups while idle", [wakes / bench.idle_seconds], "/s", at_most=1),
        Row("written while idle", [written], "bytes", at_most=0),
        Row(f"resident memory while idle, {bench.sizes[1]:,} rows", [resident], "MiB", at_most=25),
    ]
