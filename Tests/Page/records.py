"""The chapters about records: found, created, listed, shown."""
import time
import zlib
from pathlib import Path

from selenium.webdriver.common.keys import Keys

from shop import Failed, await_true

HOSTILE = "<img src=x onerror=alert(1)> <script>alert(2)</script> \u202eevil \u05e9\u05dc\u05d5\u05dd {{7*7}} " + "long" * 40


# Whether the text of an element ends at its right side, as a short text does that is read from right to left.
BEGINS_RIGHT = """
const range = document.createRange();
range.selectNodeContents(arguments[0]);
return Math.abs(range.getBoundingClientRect().right - arguments[0].getBoundingClientRect().right) < 4;
"""

# The addresses of a record whose id, as a reference to it may have it, has half of a surrogate pair.
HALF = """
const [done] = arguments;
Promise.all([import("/page/core/schema.js"), import("/page/core/api.js")]).then(([{ places }, { path }]) => {
  done([places.record("orders", "a\\ud800b"), path("orders", "\\udc00")]);
}).catch((error) => done(String(error)));
"""


def finding(shop, page):
    """An order is found by the end of a phone number, with the keyboard alone."""
    phone = shop.order()["client_phone"]
    page.open()
    page.go("/")
    page.type("#search", phone.replace(" ", "")[-6:] + Keys.ENTER)
    page.see("h1", "Search")
    page.look("search")
    page.tab_to(".hits a", "#1486")
    page.go_on(Keys.ENTER)
    page.see("h1", "#1486")
    page.see(".field a", shop.order()["client_name"])
    page.see("h2", "Devices (2)")
    page.tab_to("summary", "History")
    page.go_on(Keys.ENTER)
    page.see("details[open] summary", "History")
    page.look("record")
    page.check_keyboard("record")
    page.speak("de-DE")
    page.open(f"#/records/orders/{shop.order()['id']}")
    page.see("[data-field=total] .value", f"{shop.order()['total']:.2f}".replace(".", ","))
    german = r"return /^\d\d\.\d\d\.\d{4}, \d\d:\d\d$/.test(document.querySelector('[data-field=created_at] time').textContent)"
    if not page.run(german):
        raise Failed("times are not in the reader's language")
    page.speak("en-GB")
    page.open(f"#/records/orders/{shop.order()['id']}")
    page.press("th a", "iPhone SE")
    page.press("button", "Show")
    page.see("[data-field=passcode] .value", "631040")


def family(shop, page):
    """A reader with a German browser creates an order and its device before any is sent; the upstream gets both."""
    page.speak("de-DE")
    shop.call("POST", "/v1/sync/pause")
    page.open("#/new/orders")
    page.type("[data-field=client_id] input", "tomasz walk")
    page.see(".picker li", "Tomasz Walker")
    page.see("[data-field=client_id] input").send_keys(Keys.ARROW_DOWN, Keys.ENTER)
    page.type("[data-field=total] input", "1.234")
    page.press("button", "Create")
    page.see(".hint.bad", "write 1234 or 1,234")
    page.type("[data-field=total] input", "49,50")
    page.press("button", "Create")
    page.see("[data-field=total] .value", "49,50")
    order = page.run("return location.hash.split('/').pop()")
    page.run("document.querySelector('[data-field=client_id] a').focus()")
    shop.call("PATCH", f"/v1/orders/{order}", {"notes": "Comes with a device"})
    page.see("[data-field=notes] .value", "Comes with a device")
    if not page.run("return document.activeElement.matches('[data-field=client_id] a')"):
        raise Failed("a change of the record takes the focus")
    page.press("a", "New in devices")
    page.type("[data-field=brand] input", "Fairphone")
    page.type("[data-field=model] input", "5")
    page.press("button", "Create")
    page.see("h1", "Fairphone 5")
    page.speak("en-GB")
    shop.call("POST", "/v1/sync/resume")
    await_true(lambda: shop.get("/v1/pending/count") == {"pending": 0, "failed": 0}, 15, "they were not sent")
    device = next(one for one in shop.upstream.records("devices") if one.get("brand") == "Fairphone")
    parent = next(one for one in shop.upstream.records("orders") if one["id"] == device["order_id"])
    if parent["total"] != 49.5:
        raise Failed(f"the device belongs to {parent}")


def table(shop, page):
    """A table is filtered, sorted and scrolled to its end, with few rows drawn; the browser remembers the columns."""
    page.open("#/records/orders")
    page.press("button", "Filters")
    page.press(".checks label", "Awaiting Parts")
    page.see_gone(".records td", "Ready")
    page.look("filtered")
    page.press(".checks label", "Awaiting Parts")
    total = page.see("#total", "50").text
    page.type("[aria-label='Client name contains']", "walker" + Keys.ENTER)
    page.see_gone("#total", total)
    page.see(".records td", "Walker")
    of_walker = page.see("#total").text
    page.type("[aria-label='Total from']", "100" + Keys.ENTER)
    await_true(lambda: 0 < int(page.see("#total").text or 0) < int(of_walker), 10, "the amounts are not filtered")
    page.press("a", "Remove all filters")
    page.see("#total", total)
    page.press("thead button", "Total")
    page.see("th[aria-sort=ascending]", "Total")
    page.press("thead button", "Total")
    page.see("th[aria-sort=descending]", "Total")
    page.press("summary", "Columns")
    page.press(".panel label", "Balance")
    page.see("thead button", "Balance")
    page.press("summary", "Columns")
    page.look("table")
    drawn = 0
    end = time.monotonic() + 30
    while not page.run("const t = document.querySelector('.records table'); const rows = t.getAttribute('aria-rowcount');"
                       "return rows !== '-1' && document.querySelector(`tr[aria-rowindex=\"${rows}\"] a`) !== null"):
        page.run("document.querySelector('.records').scrollTop += 900")
        drawn = max(drawn, page.run("return document.querySelectorAll('.records tbody tr').length"))
        if time.monotonic() > end:
            raise Failed("the end of the table was not reached")
        time.sleep(0.05)
    if drawn > 90:
        raise Failed(f"{drawn} rows were drawn at once")
    page.open("#/records/orders")
    page.see("thead button", "Balance")
    page.press("summary", "Columns")
    page.press(".panel label", "Balance")
    page.press(".panel label", "Deposit")
    page.open("#/records/orders")
    page.see("thead button", "Deposit")
    page.see_gone("thead button", "Balance")


def archive(shop, page):
    """A table of a million records scrolls for a minute in the same memory, and shows each of them once."""
    shop.open_archive(1_000_000)
    page.open("#/records/visits")
    page.see("#total", "1,000,000")
    # Pages of large records are shorter than others.
    page.scroll_to(140)
    shop.call("POST", "/v1/visits", {"visitor": "In between", "at": "1970-01-07T06:30:00Z"})
    page.see(".records a", "In between")
    page.scroll_to(165)
    seen = [int(one.split()[1]) for one in page.rows() if one != "In between"]
    if seen != list(range(seen[0], seen[0] + len(seen))):
        raise Failed(f"the rows are not all of the records: {seen}")
    visit = shop.get("/v1/visits?visitor=In%20between")["data"][0]["id"]
    page.open(f"#/records/visits/{visit}")
    page.see(".tag", "only here")
    page.press("button", "Delete")
    page.see("dialog", "It exists only here.")
    page.press("dialog button", "Delete")
    page.see(".toast", "Deleted")
    page.see("#total", "1,000,000")
    heaps = []
    for _ in range(6):
        reached = page.scroll_for(10)
        heaps.append(page.heap())
    print(f"page: scrolled to row {reached:,}; megabytes on the way: {heaps}")
    if reached < 5000 or max(heaps) > heaps[0] + 2:
        raise Failed("the table is slow, or its memory grows")


def hostile(shop, page):
    """A record with hostile texts is shown as text."""
    order = shop.order(1485)
    shop.upstream.change("orders", order["id"], {"notes": HOSTILE, "client_name": "<b>Bold</b>"})
    ticket = shop.get("/v1/tickets?limit=1")["data"][0]
    shop.upstream.change("tickets", ticket["id"], {"channel": "<i>chat</i>", "priority": HOSTILE})
    shop.sync()
    page.open(f"#/records/orders/{order['id']}")
    page.see("[data-field=notes] .value", "<img src=x onerror=alert(1)>")
    page.look("hostile")
    shop.upstream.change("orders", order["id"], {"notes": "\u05e9\u05dc\u05d5\u05dd 42"})
    shop.sync()
    page.see("[data-field=notes] .value", "42")
    if not page.run(BEGINS_RIGHT, page.see("[data-field=notes] .value")):
        raise Failed("a text in Hebrew does not begin at the right")
    shop.upstream.change("orders", order["id"], {"notes": HOSTILE})
    shop.sync()
    for step in (".", "..", "%2E%2E"):
        page.open(f"#/records/orders/{step}")
        page.see(".notice", "No record can have the id .")
    addresses = page.driver.execute_async_script(HALF)
    if addresses != ["#/records/orders/a%EF%BF%BDb", "/v1/orders/%EF%BF%BD"]:
        raise Failed(f"a table with half of a surrogate pair in a reference is not shown: {addresses}")
    page.open("#/search?q=onerror")
    page.see(".hits", "onerror")
    page.look("hostile search")
    page.open("#/records/orders?sort=-updated_at")
    page.see(".records td", "<img")
    page.go("g", "d")
    page.see(".card", "channel: { type: string }")
    page.look("drift")
    if page.run("return document.querySelectorAll('img[src=x], main b, main i, main script').length"):
        raise Failed("a text has become markup")


def unlike(shop, page):
    """A record that is unlike the schema is shown, and an edit of one of its fields sends that field alone."""
    order = shop.order(1484)
    shop.upstream.change("orders", order["id"], {
        "notes": "One line\r\nand another", "client_name": {"toString": "x", "valueOf": 1}, "total": "not yet", "status": "awaiting_parts",
        "location_name": "x" * 200_000, **{f"more_{number}": number for number in range(1200)}})
    shop.sync()
    page.open("#/records/orders?sort=-updated_at")
    page.see(".records th a", "#1484")
    page.see(".records td", "not yet")
    page.open(f"#/records/orders/{order['id']}")
    page.see("[data-field=client_name] .value", '{"toString":"x","valueOf":1}')
    page.see("[data-field=location_name] .value", "… (200,000 characters)")
    page.look("unlike")
    page.press("summary", "1,200 more that the schema does not name")
    page.see("[data-field=more_499] .value", "499")
    page.see("details[open] .soft", "Only the first 500 are shown.")
    shop.call("POST", "/v1/sync/pause")
    page.press("button", "Edit")
    page.press("[data-field=status] option", "Ready")
    page.press("button", "Save")
    page.see("[data-field=status] .server", "upstream: Awaiting Parts")
    changed = shop.get(f"/v1/orders/{order['id']}")["_sync"]["pending_fields"]
    if "notes" in changed:
        raise Failed(f"an edit of the status changed {changed}")
    shop.call("POST", "/v1/sync/resume")
    await_true(lambda: shop.get("/v1/pending/count") == {"pending": 0, "failed": 0}, 15, "the edit was not sent")


def picture(shop, page):
    """A picture is added to a device, and seen at once."""
    device = shop.get(f"/v1/orders/{shop.order()['id']}/devices")["data"][0]
    path = Path(shop.folder.name) / "crack.png"
    path.write_bytes(png(320, 200))
    page.open(f"#/records/devices/{device['id']}")
    page.see("h2", "Content")
    page.run("return document.querySelector('input[type=file]')").send_keys(str(path))
    page.see("img.picture")
    await_true(lambda: page.run("return document.querySelector('img.picture')?.naturalWidth") == 320, 10, "no picture")
    page.look("picture")
    await_true(lambda: shop.get("/v1/pending/count")["pending"] == 0, 15, "the picture was not sent")


def png(width, height):
    """A picture of one colour."""
    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
    rows = (b"\0" + bytes((40, 120, 150)) * width) * height
    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes((8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
