"""A shop's morning, as one who has never used the API lives it."""
import time

from selenium.webdriver.common.keys import Keys

from access import remote, signing_in, upstream
from records import archive, family, finding, hostile, picture, table, unlike
from shop import Failed, Shop, await_true
from window import Window


# What the page makes of a sync: half of it done in 5 s, with 1500 records; then the first of two lists has ended.
SPEED = """
const [done] = arguments;
import("/page/parts/progress.js").then(({ progressSpeed }) => {
  const [speed, real] = [progressSpeed(), performance.now];
  const at = (seconds, state, progress, ...rows) => {
    performance.now = () => 1000 * seconds;
    const entities = rows.map((rows) => ({ rows: 9000, progress: rows === null ? undefined : { rows, total: 9000 } }));
    const { rate, left } = speed.of({ state, progress, entities: { ...entities } });
    return [rate, Math.round(left)];
  };
  const seen = [at(0, "syncing", 0, 0, 0), at(5, "syncing", 0.5, 1000, 500), at(6, "syncing", 0.6, null, 500), at(7, "completed", 1)];
  performance.now = real;
  done(seen);
});
"""


def overview(shop, page):
    """At a glance: everything is in sync, with scripts and without."""
    page.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    page.driver.get(f"{shop.address}/")
    page.see("h1", "In sync")
    page.see("td", "500")
    # The page stays as it is; the looks need scripts of their own.
    page.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    page.look("without scripts")
    page.open()
    page.see(".headline h1", "In sync")
    paints = [page.first_paint() for _ in range(5)]
    # Other work on the machine may slow many of them down; a page that is too slow is too slow each time.
    while min(paints) > 200 and len(paints) < 40:
        paints.append(page.first_paint())
    print(f"page: the first paints of the overview took {paints} ms")
    if min(paints) > 200:
        raise Failed("the first paint of the overview takes more than 200 ms")
    page.see(".badge", "In sync")
    page.see("th", "Ticket messages")
    page.look("overview")
    page.check_keyboard("overview")
    page.press(".actions button", "Pause")
    page.see(".headline h1", "Paused")
    page.press(".actions button", "Resume")
    page.see(".toast", "Syncing goes on")
    page.run("window.spoken = []; const place = document.querySelector('.toast');"
             "new MutationObserver(() => place.textContent && spoken.push(place.textContent)).observe(place, {childList: true})")
    for times in (1, 2):
        page.press(".actions button:enabled", "Sync now")
        await_true(lambda: page.run("return spoken.length") == times, 5, "a message is not spoken again")
        page.see(".headline h1", "In sync")
        page.see(".actions button:enabled", "Sync now")
    warning = "Records cross the network unencrypted"
    orders = {"rows": 500, "state": "syncing", "progress": {"rows": 62400, "total": 120000}}
    account = {**shop.get("/v1/status")["upstream"], "account": "Robin Example"}
    shown, moving = page.with_status({"state": "syncing", "progress": 0.52, "warnings": [warning], "upstream": account,
                                      "entities": {"orders": orders}})
    if moving:
        raise Failed("the page moves for a reader who wants reduced motion")
    for part in (warning, "52 %", "62,400 of 120,000 records read", "62,400 of 120,000 read", "Robin Example"):
        if part not in shown:
            raise Failed(f"the overview does not show {part!r} of a status: {shown}")
    speed = page.driver.execute_async_script(SPEED)
    if speed != [[0, 0], [300, 5], [250, 4], [0, 0]]:
        raise Failed(f"the speed of a sync is wrong: {speed}")
    page.see(".headline h1", "In sync")
    page.go("g", "r")
    page.see(".tabs a", "Clients")
    page.go("g", "h")
    page.see(".view h1", "Hooks")
    page.go("g", "o")
    page.see(".headline h1", "In sync")
    page.go("?")
    page.see("dialog", "search all records")
    if not page.run("return document.querySelector('dialog[open] .toast') !== null"):
        raise Failed("messages are outside the open dialog, so screen readers do not speak them")
    page.look("keys")
    page.go(Keys.ESCAPE)
    await_true(lambda: page.run("return document.querySelector('body > .toast') !== null"), 5, "the messages are gone")


def history(shop, page):
    """The charts show the last hours and days, in words too."""
    page.open()
    page.see(".chart h3", "Queue")
    page.see(".chart .reading", "unreachable for 24 minutes")
    page.see(".legend", "waiting")
    drawn = page.run("return [...document.querySelectorAll('.chart')].map((one) => one.querySelectorAll('path[d^=M]').length)")
    if min(drawn) < 1:
        raise Failed(f"a chart has no bars: {drawn}")
    page.run("document.querySelector('.chart svg').focus()")
    page.driver.switch_to.active_element.send_keys(Keys.HOME)
    page.see(".chart .reading", ":")
    page.run("document.activeElement.blur()")
    page.press("button", "7 days")
    page.see(".chart .reading", "nothing is known of")
    page.see(".chart .reading", "0 waiting and 0 failed now; at most")
    page.run("document.querySelector('.charts').scrollIntoView()")
    page.look("history")


def offline(shop, page):
    """The upstream goes away; a note is changed, marked, and sent when the upstream is back."""
    page.open(f"#/records/orders/{shop.order()['id']}")
    shop.go_offline()
    shop.call("POST", "/v1/sync")
    page.see(".badge", "Offline")
    page.go("e")
    page.type("[data-field=notes] textarea", "Comes at noon")
    page.look("editing")
    page.press("button", "Save")
    page.see(".field.pending", "Comes at noon")
    page.see(".field.pending .server", "upstream: Data must be kept")
    page.see(".tag", "waits to be sent")
    page.run("scrollTo(0, 0)")
    page.look("offline")
    page.go("g", "o")
    page.see(".headline h1", "Offline")
    page.see(".activity li", "waits to be sent")
    page.look("offline overview")
    page.go("g", "q")
    page.see(".card", "Comes at noon")
    page.press(".card summary", "The request")
    page.see(".card pre", "PATCH /api/orders/")
    page.open(f"#/records/orders/{shop.order()['id']}")
    shop.come_back()
    page.see_gone(".field", "not sent yet", within=30)
    page.see(".tag", "in sync")
    if shop.upstream_order()["notes"] != "Comes at noon":
        raise Failed("the upstream does not have the note")


def maintenance(shop, page):
    """The upstream is under maintenance; the page says so and what becomes of a change, which is sent afterwards."""
    page.open(f"#/records/orders/{shop.order()['id']}")
    page.go("e")
    page.type("[data-field=notes] textarea", "After the maintenance")
    shop.close_for_maintenance()
    page.press("button", "Save")
    page.see(".field.pending", "After the maintenance")
    page.go("g", "o")
    page.see(".headline p", "as during maintenance", within=20)
    page.see(".headline p", "changes wait, and are sent when")
    page.look("maintenance")
    page.go("g", "q")
    page.see(".card", "After the maintenance")
    # Sent, or tried again if it was sent before the upstream was left alone.
    page.see(".card", "as soon as")
    shop.open_again()
    page.go("g", "o")
    page.press(".actions button", "Sync now")
    page.see(".headline h1", "In sync", within=20)
    if shop.upstream_order()["notes"] != "After the maintenance":
        raise Failed("the upstream does not have the note")


def refused(shop, page):
    """Orders for clients that do not exist are refused; one is corrected, the others are discarded together."""
    for client in ("cli_7", "cli_8", "cli_9"):
        page.open("#/new/orders")
        page.type("[data-field=client_id] input", client)
        page.type("[data-field=total] input", "74.950")
        if client == "cli_9":
            page.type("[data-field=deposit] input", "a lot")
            page.press("button", "Create")
            page.see("[data-field=deposit] .hint", "an amount")
            page.type("[data-field=deposit] input", "10.00")
            page.look("new order")
            page.check_keyboard("new order")
        page.press("button", "Create")
        page.see(".tag", "failed")
    page.go("g", "o")
    page.press(".actions button", "Retry all 3 failed")
    page.see(".toast", "All failed changes are tried again")
    await_true(lambda: shop.get("/v1/pending/count") == {"pending": 0, "failed": 3}, 15, "they were not tried again")
    page.go("g", "q")
    page.see(".group h2", "there is no record")
    page.press(".card summary", "The request")
    order = shop.get("/v1/pending?state=failed&sort=-id&limit=1")["data"][0]["record_id"]
    shop.call("POST", "/v1/devices", {"order_id": order, "brand": "Nokia", "model": "3310"})
    page.see(".card", f"Waits for orders/{order}, which failed: ")
    if not page.run("return document.activeElement.matches('summary') && document.activeElement.parentNode.open"):
        raise Failed("another change takes the focus in the queue, or closes what is open there")
    page.press(".card summary", "The request")
    page.run("scrollTo(0, 0)")
    page.look("refused")
    page.check_keyboard("queue")
    page.press(".card button.primary", "Correct")
    page.type(".card [data-field=client_id] input", "tomasz walk")
    page.see(".picker li", "Tomasz Walker")
    page.look("correcting")
    page.see(".card [data-field=client_id] input").send_keys(Keys.ARROW_DOWN, Keys.ENTER)
    page.press("button", "Correct and send")
    await_true(lambda: shop.get("/v1/pending/count") == {"pending": 1, "failed": 2}, 15, "the correction was not sent")
    page.press(".group button", "Discard all 2")
    page.look("discarding")
    page.press("dialog button", "Discard")
    page.see("dialog", "1 other change depends on")
    page.press("dialog button", "Discard all")
    page.see(".empty", "Nothing waits")
    await_true(lambda: page.run("return document.activeElement.tagName") == "H1", 5, "the focus is lost")
    sent = [one for one in shop.upstream.records("orders") if one.get("total") == 74.95]
    if len(sent) != 1:
        raise Failed(f"the upstream has {len(sent)} of the orders")


def conflict(shop, page):
    """A note is changed on both sides: ours is chosen, then theirs after all."""
    order = shop.order()
    ours, theirs = f"{order['notes']} on Monday", f"{order['notes']} on Friday"
    shop.call("POST", "/v1/sync/pause")
    page.open(f"#/records/orders/{order['id']}")
    page.press("button", "Edit")
    page.type("[data-field=notes] textarea", ours)
    page.press("button", "Save")
    page.see(".field.pending", ours)
    shop.upstream.change("orders", order["id"], {"notes": theirs})
    shop.call("POST", "/v1/sync/resume")
    page.see(".tag", "conflict")
    page.go("g", "c")
    page.see(".side", theirs)
    marked = [one.text for one in page.driver.find_elements("css selector", ".side mark")]
    if marked != ["on Monday", "on Friday"]:
        raise Failed(f"the words that differ are not marked, but {marked}")
    page.look("conflict")
    page.check_keyboard("conflicts")
    page.press(".side button", "Keep ours")
    page.see(".empty", "No conflict waits")
    await_true(lambda: shop.upstream_order()["notes"] == ours, 15, "our value was not sent")
    page.press(".tabs a", "All")
    page.look("decided")
    page.press("button", "Undo")
    await_true(lambda: shop.upstream_order()["notes"] == theirs, 15, "the undo was not sent")
    page.see_gone("button", "Undo")


def hooks(shop, page):
    """A hook's program failed: its delivery is retried, and then discarded; another hook is paused, and skips its delivery."""
    device = shop.get(f"/v1/orders/{shop.order()['id']}/devices")["data"][0]
    shop.call("PATCH", f"/v1/devices/{device['id']}", {"diagnosis": "Print it"})
    page.open()
    if not page.run("return document.querySelector('.toast[role=status]') !== null"):
        raise Failed("there is no place for messages before the first one, so screen readers do not speak it")
    page.see(".figure", "Hooks")
    page.press("nav a", "Hooks")
    page.see(".card.bad", "Tried 1 time.")
    page.open("#/drift")
    page.see(".notice", "failed too often")
    page.see(".notice a", "Go to Hooks")
    page.run("document.querySelector('.notice a').focus()")
    page.with_status({})
    if not page.run("return document.activeElement.matches('.notice a')"):
        raise Failed("a new status takes the focus")
    page.show("phone")
    page.open("#/hooks")
    page.see("nav a[aria-current]", "Hooks")
    await_true(lambda: page.run(
        "const menu = document.querySelector('header nav').getBoundingClientRect();"
        "return document.querySelector('nav [aria-current]').getBoundingClientRect().right < menu.right + 1"),
        5, "in a narrow window the menu does not show where the reader is")
    page.show("tablet")
    page.look("hooks")
    page.run("document.querySelector('[data-parked] button').focus()")
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.see(".card.bad", "Tried 2 times.")
    await_true(lambda: page.run("return document.activeElement !== document.body"), 5, "the focus is lost")
    page.press(".card button", "Discard")
    page.press("dialog button", "Discard")
    page.see_gone("h3", "Changed")
    await_true(lambda: page.run("return document.activeElement.tagName") == "H1", 5, "the focus is lost")
    await_true(lambda: "parked_deliveries" not in shop.get("/v1/status"), 5, "the delivery is still parked")
    shop.call("PATCH", f"/v1/devices/{device['id']}", {"resolution": "Post it"})
    await_true(lambda: shop.get("/v1/_hooks/letter")["attempts"] > 0, 10, "the hook made no attempt")
    page.press("[data-hook=letter] button", "Pause")
    page.see("[data-hook=letter] .tag", "paused")
    page.press("[data-hook=letter] button", "Resume")
    page.see("[data-hook=letter] .tag", "tries a delivery again")
    page.press("[data-hook=letter] button", "Skip")
    page.press("dialog button", "Skip")
    page.see("[data-hook=letter] .tag", "waits for the next event")


def restart(shop, page):
    """The daemon is killed and started again under the open page, which goes on by itself."""
    page.open("#/queue")
    page.see(".badge", "In sync")
    shop.daemon.kill()
    page.see(".badge", "No connection")
    page.look("no connection")
    shop.restart_daemon()
    page.see(".badge", "In sync", within=20)
    shop.call("POST", "/v1/sync/pause")
    shop.call("PATCH", f"/v1/orders/{shop.order()['id']}", {"notes": "After the restart"})
    page.see(".card", "After the restart")
    shop.call("POST", "/v1/sync/resume")
    page.see(".empty", "Nothing waits")


# What the console has while the daemon is down.
DOWN = ["ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET"]

# Each is told in a window of its size. Answers that a chapter expects are no error of the console.
CHAPTERS = [(overview, "laptop", []), (history, "laptop", []), (finding, "phone", []), (offline, "laptop", []),
            (maintenance, "laptop", []), (refused, "tablet", ["409"]), (family, "phone", []), (conflict, "phone", []),
            (table, "wide", []), (hostile, "laptop", []), (unlike, "laptop", []), (picture, "tablet", []), (hooks, "tablet", []),
            (restart, "laptop", DOWN), (upstream, "laptop", ["422"]), (archive, "laptop", DOWN), (signing_in, "tablet", ["401", *DOWN]),
            (remote, "laptop", ["401", *DOWN])]


def tell(names, axe, pictures):
    """Returns the exit status."""
    pictures.mkdir(parents=True, exist_ok=True)
    for old in pictures.glob("*.png"):
        old.unlink()
    began = time.monotonic()
    shop = Shop()
    try:
        page = Window(shop.address, axe, pictures)
        try:
            for chapter, size, expected in CHAPTERS:
                if names and chapter.__name__ not in names:
                    continue
                start = time.monotonic()
                page.show(size)
                try:
                    chapter(shop, page)
                    page.check_console(expected)
                except Failed as failure:
                    print(f"page: {chapter.__name__} failed: {failure}")
                    return 1
                print(f"page: {chapter.__doc__} ({time.monotonic() - start:.0f} s)", flush=True)
        finally:
            page.close()
    finally:
        shop.close()
    print(f"page: told in {time.monotonic() - began:.0f} s; {page.scenes} scenes in {pictures}")
    return 0
