"""What happens to the cache before it is kept: every state that a record, a change and a reminder can be in."""

import time

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000" "1f15c4890000000d49444154789c63f8cfc0f01f00050001ff5ed1b7"
    "f40000000049454e44ae426082")


def live(world):
    world.do("POST", "/v1/sync?wait=true", None)
    acknowledge(world)
    disagree(world)
    decide_conflicts(world)
    remind(world)
    fail(world)
    leave_conflicts_open(world)
    interrupt(world)
    queue(world)


# What is over

def acknowledge(world):
    """Creations that the upstream gave other keys, edits, deletions and contents, all of which have arrived."""
    create = lambda path, body, **more: world.do("POST", path, body, **more).json["id"]
    person = create("/v1/people", {"id": "mine", "first_name": "New", "last_name": "Person", "passphrase": "s3cret"},
                    key="create-person")
    order = create("/v1/orders", {"person_id": person, "total": 12.50, "status": "booked", "number": 5001}, key="create-order")
    device = create(f"/v1/orders/{order}/devices", {"model": "renamed with its order", "passcode": "99"})
    conversation = create("/v1/conversations", {"participant_ids": ["acc-1", "usr_1"]})
    create(f"/v1/conversations/{conversation}/messages", {"sender_id": "acc-1", "text": "hello", "read_by": ["acc-1"]})
    world.do("PATCH", "/v1/orders/ord_050", {"status": "ready", "notes": "two requests"}, key="edit-order")
    world.do("PATCH", "/v1/people/peo_040", {"address": {"street": "New", "door_code": "77"}, "score": None})
    world.do("DELETE", "/v1/orders/ord_060", key="delete-order")
    world.do("DELETE", "/v1/tickets/tic_21")
    world.settled()
    world.renamed = {"people": person, "orders": order, "devices": device, "conversations": conversation}
    for photo in ("pho_00", "pho_01", "pho_03", "pho_04", "pho_06"):
        world.do("GET", f"/v1/photos/{photo}/content")
    # Fetched alone, a record has the tag of its version.
    for path in ("people/peo_030", "people/peo_045", "orders/ord_046", "tickets/tic_15", "invoices/ord_008"):
        world.do("GET", f"/v1/{path}?refresh=true")
    world.do("PUT", "/v1/photos/pho_02/content", b"one\n", type="text/plain")
    world.do("DELETE", "/v1/photos/pho_01/content")
    world.settled()
    world.sync()


def disagree(world):
    """Members and values that the schema does not name, and records that have gone."""
    world.admin("PATCH", "/__admin/records/people/peo_041", {"surprise": [1], "score": "high", "first_name": 7})
    world.admin("PATCH", "/__admin/records/orders/ord_041", {"colour": "red"})
    for path in ("orders/ord_061", "tickets/tic_22", "messages/mes_50", "products/100003"):
        world.admin("DELETE", f"/__admin/records/{path}")
    world.sync(full=True)


def decide_conflicts(world):
    world.pause()
    local = [
        ("orders/ord_010", {"notes": "the server is later", "weight": 1.5}), ("tasks/tas_07", {"title": "local wins"}),
        ("products/300009", {"name": "server wins", "stock": 3}), ("people/peo_042", {"first_name": "Decided", "score": 2}),
        ("people/peo_043", {"first_name": "Theirs"})]
    remote = [
        ("orders/ord_010", {"notes": "later", "tags": ["theirs"]}), ("tasks/tas_07", {"title": "server's"}),
        ("products/300009", {"name": "server's", "price": 4.50}), ("people/peo_042", {"first_name": "Other"}),
        ("people/peo_043", {"first_name": "Other"}), ("orders/ord_011", {"notes": "earlier"})]
    for path, body in local:
        world.do("PATCH", f"/v1/{path}", body)
    for path, body in remote:
        world.admin("PATCH", f"/__admin/records/{path}", body)
    # Each side's clock is known to the second.
    time.sleep(2.5)
    world.do("PATCH", "/v1/orders/ord_011", {"notes": "this side is later", "tags": ["ours", "all"]})
    world.resume()
    world.sync()
    opened = world.wait("open conflicts", lambda: (
        found := world.do("GET", "/v1/conflicts?open=true").json["data"]) and len(found) == 2 and found)
    for conflict in opened:
        winner = "local" if conflict["record_id"] == "peo_042" else "server"
        world.do("POST", f"/v1/conflicts/{conflict['id']}/resolve", {"winner": winner}, key=f"resolve-{winner}")
    world.settled()
    undone = next(conflict["id"] for conflict in world.do("GET", "/v1/conflicts").json["data"]
                  if conflict["record_id"] == "peo_043")
    world.do("POST", f"/v1/conflicts/{undone}/undo", key="undo")
    world.settled()


def remind(world):
    """Reminders in every state. One that is never delivered leaves ten seconds until its second attempt."""
    reminders = lambda: {(each["rule"], each["record_id"]): each for each in
                         world.do("GET", "/v1/reminders?limit=1000").json["data"]}
    of = lambda task: reminders()["task_due", task]
    for task in ("tas_01", "tas_02", "tas_03"):
        world.wait(f"the reminder of {task}", lambda: of(task)["state"] == "delivered")
    world.do("POST", f"/v1/reminders/{of('tas_02')['id']}/snooze", {"for": "2d"}, key="snooze")
    world.do("POST", f"/v1/reminders/{of('tas_03')['id']}/dismiss", key="dismiss")
    world.do("PATCH", "/v1/tasks/tas_07", {"status": "completed"})
    world.do("POST", "/v1/notices", {"id": "own", "title": "of one's own", "remark": "secret", "task_id": "tas_00",
                                     "scheduled_for": "2026-12-24"})
    world.do("POST", "/v1/notices", {"title": "gone"})
    world.settled()
    world.wait("the last attempt to deliver", lambda: of("tas_04")["attempts"] == 5, 200)


# What is under way

def fail(world):
    world.faults({"effect": "fail", "status": 500, "method": "PATCH", "path": "/api/products"},
                 {"effect": "fail", "status": 422, "method": "PATCH", "path": "/api/tickets/tic_05"},
                 {"effect": "fail", "status": 422, "method": "POST", "path": "/api/conversations/con_03/messages"},
                 {"effect": "fail", "status": 422, "method": "PUT", "path": "/api/photos/pho_09/content"},
                 {"effect": "cut_body", "method": "POST", "path": "/api/products"})
    world.do("PATCH", "/v1/tickets/tic_05", {"subject": "refused", "is_open": None})
    refused = world.do("POST", "/v1/orders", {"id": "refused", "person_id": "nobody", "total": 1.00}, key="refused").json["id"]
    world.do("POST", f"/v1/orders/{refused}/devices", {"id": "blocked", "model": "waits for its order"})
    world.do("POST", "/v1/conversations/con_03/messages", {"sender_id": "acc-1", "text": "never arrived"})
    world.do("POST", "/v1/conversations/con_03/messages", {"sender_id": "acc-1", "text": "behind it"})
    world.do("PUT", "/v1/photos/pho_09/content", b"refused\n", type="text/plain")
    world.settled("failed", "blocked")
    world.do("PATCH", "/v1/products/400012", {"price": 5.00, "stock": None})
    world.settled("failed", "blocked", "waiting")
    world.do("POST", "/v1/products", {"name": "its answer was cut off", "price": 1.10})
    world.settled("failed", "blocked", "waiting")
    world.faults()


def leave_conflicts_open(world):
    """A field changed on both sides, a deletion here and a deletion there; other fields are sent or wait."""
    world.pause()
    world.do("PATCH", "/v1/people/peo_050", {"first_name": "Ours", "phone": "123 456", "passphrase": "ours"})
    world.do("PATCH", "/v1/people/peo_051", {"first_name": "Edited here"})
    world.do("DELETE", "/v1/people/peo_052")
    world.admin("PATCH", "/__admin/records/people/peo_050", {"first_name": "Theirs", "email": "new@example.org",
                                                             "passphrase": "theirs"})
    world.admin("DELETE", "/__admin/records/people/peo_051")
    world.admin("PATCH", "/__admin/records/people/peo_052", {"first_name": "Edited there"})
    world.resume()
    world.sync()
    world.wait("open conflicts", lambda: len(world.do("GET", "/v1/conflicts?open=true").json["data"]) >= 3)
    world.settled("failed", "blocked", "waiting")


def interrupt(world):
    """A change, an upload and a pull that are under way when the daemon ends."""
    world.faults({"effect": "latency", "duration": "700ms", "method": "GET", "path": "/api/entries"},
                 {"effect": "hold", "duration": "600s", "method": "PATCH", "path": "/api/tasks/tas_05"},
                 {"effect": "hold", "duration": "600s", "method": "PUT", "path": "/api/photos/pho_10/content"})
    world.do("PATCH", "/v1/tasks/tas_05", {"title": "on its way", "due_at": "2027-01-01T00:00:00Z"})
    world.do("PUT", "/v1/photos/pho_10/content", PICTURE, type="image/png")
    world.wait("two attempts", lambda: list(world.states().values()).count("uploading") == 2)
    # A page that brings nothing new does not store where the pull is.
    for entry in ("ent_003", "ent_044", "ent_090"):
        world.admin("PATCH", f"/__admin/records/entries/{entry}", {"text": "changed since"})
    world.admin("DELETE", "/__admin/log")
    world.do("POST", "/v1/sync", {"entities": ["entries"], "full": True})
    pages = lambda: [request for request in world.requests() if request["path"] == "/api/entries"]
    world.wait("two pages", lambda: len(pages()) >= 2)
    world.faults({"effect": "hold", "duration": "600s", "method": "GET", "path": "/api/entries"},
                 {"effect": "hold", "duration": "600s"})
    world.wait("a third page", lambda: len(pages()) >= 3)
    world.pause()


def queue(world):
    """Written while nothing is sent, so all of it is in the queue."""
    write = world.do
    # A parent and its children, with references to what is not sent yet and under an old key.
    person = write("POST", "/v1/people", {"first_name": "Queued", "last_name": "Ümläut \"quoted\"", "passphrase": "p",
                                          "address": {"street": "None yet", "door_code": "1"}}, key="queue-person").json["id"]
    order = write("POST", "/v1/orders", {"id": "queued-order", "person_id": person, "total": 1e2, "number": 7777,
                                         "created_at": "2026-11-20T08:00:00+01:00", "details": {"deep": {"er": None}}}).json["id"]
    write("POST", f"/v1/orders/{order}/devices", {"id": "queued-device", "model": "queued", "owner_id": person,
                                                  "passcode": "0000", "serial": "QQ-1-22-333"})
    write("POST", "/v1/invoices", {"order_id": order, "amount": 3.30})
    write("POST", "/v1/orders", {"id": "of-a-renamed", "person_id": world.renamed["people"], "total": 0.10})
    write("PATCH", f"/v1/people/{person}", {"score": 9.75, "email": "joined@example.org"})
    # Edits: scalars, nulls, objects, lists, several that join, one taken back, two routes.
    write("PATCH", "/v1/orders/ord_020", '{"total": 12.340, "weight": 1e3, "is_urgent": null, "due_at": "2027-02-03"}',
          key="edit-queued")
    write("PATCH", "/v1/orders/ord_020", {"notes": "joined later", "total": 99.99,
                                          "details": {"colour": None, "new": {"a": [None]}}})
    write("PATCH", "/v1/orders/ord_021", {"details": None, "tags": None, "number": None, "person_id": "peo_012"})
    write("PATCH", "/v1/orders/ord_022", {"status": "collected", "notes": "split into two requests"})
    write("PATCH", "/v1/orders/ord_023", {"notes": "taken back"})
    discarded = world.pending()[-1]["id"]
    write("DELETE", f"/v1/pending/{discarded}", key="discard")
    write("PATCH", "/v1/orders/ord_024", {"tags": ["all", "added"], "status": "cancelled"})
    write("PATCH", "/v1/people/Ab", {"last_name": None, "address": {"street": "moved"}, "is_company": False})
    write("PATCH", "/v1/people/p%201%2F%C3%BC%252F", {"email": None, "first_name": "😀", "phone": "0800 55 66"})
    write("PATCH", "/v1/products/500015", {"price": None, "name": "renamed here", "ratio": -0.5})
    write("PATCH", "/v1/invoices/ord_004", {"amount": 7, "paid_at": None})
    write("PATCH", "/v1/tasks/tas_06", {"due_at": "2027-05-05T05:05:05.555Z", "status": "pending"})
    write("PATCH", "/v1/messages/mes_07", {"read_by": ["acc-1", "usr_9"]})
    for line in ("first", "second"):
        write("POST", "/v1/conversations/con_05/messages", {"sender_id": "acc-1", "text": f"the {line} in order"})
    write("PATCH", "/v1/devices/dev_030", {"passcode": "changed", "price": 10.00})
    # Deletions: with children, with references to null, of what was edited before, of what was never sent.
    write("DELETE", "/v1/orders/ord_030", key="delete-queued")
    write("DELETE", "/v1/people/peo_065")
    write("DELETE", "/v1/people/peo_035")
    write("PATCH", "/v1/tickets/tic_10", {"subject": "edited, then deleted"})
    write("DELETE", "/v1/tickets/tic_10")
    never = write("POST", "/v1/tickets", {"subject": "never sent"}).json["id"]
    write("DELETE", f"/v1/tickets/{never}")
    write("DELETE", "/v1/conversations/con_08")
    write("DELETE", "/v1/notices/own")
    write("POST", "/v1/notices", {"id": "kept", "title": "local only", "remark": "sealed", "task_id": "tas_06"})
    # Contents.
    photo = write("POST", "/v1/photos", {"id": "queued-photo", "order_id": order, "caption": "not sent"}).json["id"]
    write("PUT", f"/v1/photos/{photo}/content", b"queued\n", type="text/plain")
    write("PUT", "/v1/photos/pho_04/content", b"replaced\n", type="text/plain")
    write("PUT", "/v1/photos/pho_04/content", PICTURE, type="image/png")
    write("DELETE", "/v1/photos/pho_06/content")
    # A change that was corrected, and a retried one.
    failed = next(change for change in world.pending() if change["entity"] == "tickets" and change["state"] == "failed")
    write("PATCH", f"/v1/pending/{failed['id']}", {"subject": "corrected"}, key="correct")
