"""How many pages of the database one write and one page of a pull change."""

from figures import Row
from frames import Frames
from pulls import changed_copy
from shop import PAGE

TITLE = "Storage"
HOW = """
Pages of 4 KiB that a transaction appends to the write-ahead log; each is written once more by a later checkpoint. The write sets
one field of one order to a new text, while sending is paused. The page has 500 orders, each with one changed field that search
covers, and the change time.
"""

WRITES = 200
PAGES = 4


def measure(bench):
    shop = bench.shop
    orders = max(bench.orders, PAGES * PAGE)
    every = max(1, orders // (PAGES * PAGE))
    pages = -(-orders // every // PAGE)
    daemon = shop.daemon("storage", shop.state(orders))
    upstream = shop.static_upstream(changed_copy(shop, shop.orders(orders), every))
    try:
        with daemon, Frames(daemon.database()) as frames:
            pulled = frames.during(daemon.sync) / pages
            daemon.pause()
            ids = daemon.some(WRITES)
            written = frames.during(lambda: [patch(daemon, id) for id in ids]) / len(ids)
    finally:
        upstream.stop()
    return [
        Row("durable write of one field", [written], "pages", at_most=8),
        Row(f"a page of {PAGE} changed records", [pulled], "pages", at_most=900),
    ]


def patch(daemon, id):
    daemon.call("PATCH", f"/v1/orders/{id}", {"notes": f"Written {id}"})
