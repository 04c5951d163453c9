"""The daemon with nothing to do."""

import time

from figures import Row

TITLE = "Idle"
HOW = """
Nothing to pull, nothing to send, nobody asks. Wake-ups are the voluntary context switches of all threads.
"""


def measure(bench):
    shop = bench.shop
    data = shop.orders(bench.sizes[1])
    upstream, daemon = shop.static_upstream(data), shop.daemon("idle", shop.state(bench.sizes[1]))
    try:
        with daemon:
            daemon.sync()
            time.sleep(5)
            wakes, written = daemon.program.wake_ups(), daemon.program.bytes_written()
            time.sleep(bench.idle_seconds)
            wakes, written = daemon.program.wake_ups() - wakes, daemon.program.bytes_written() - written
            resident = daemon.resident()
    finally:
        upstream.stop()
    return [
        Row("wake-ups while idle", [wakes / bench.idle_seconds], "/s", at_most=1),
        Row("written while idle", [written], "bytes", at_most=0),
        Row(f"resident memory while idle, {bench.sizes[1]:,} rows", [resident], "MiB", at_most=25),
    ]
