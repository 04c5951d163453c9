"""What `generate python` writes passes mypy --strict, and reads, writes and follows the daemon; the example report and the guide run."""
import decimal
import importlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request

address, upstream = sys.argv[1:3]
root = pathlib.Path(__file__).resolve().parents[3]


def checked(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def write(folder):
    """The module, from the program that is tested, and the example beside it."""
    program = pathlib.Path(os.environ.get("REPAIRMINDER_BIN", root / ".build/release")).resolve() / "repairminder-sync"
    if len(sys.argv) > 3:
        shutil.copy(sys.argv[3], folder / "repairminder.py")
    else:
        checked(program, "generate", "python", "--schema", root / "config/schemas/repairminder.yaml", "--output", "repairminder.py", cwd=folder)
    shutil.copy(root / "docs/examples/report.py", folder)
    (folder / "guide.py").write_text("\n".join(snippets()))
    checked(sys.executable, "-m", "mypy", "--strict", "repairminder.py", "report.py", "guide.py", cwd=folder)
    print("  mypy --strict accepts the module, the report and the guide")


def snippets():
    return re.findall(r"^```python\n(.*?)^```$", (root / "docs/guides/python-client.md").read_text(), re.M | re.S)


def follow_guide(folder, number):
    """The guide's snippets, as one program, on an order that is there. Its stream has no end, so the first change ends it."""
    program = "\n".join(snippets())
    for shown, here in [("RepairminderClient()", f"RepairminderClient({address!r})"), ("order_number:1486", f"order_number:{number}"),
                        ("# Read the records here", "client.orders.update(order.id, {'notes': 'Meanwhile'})  #")]:
        assert shown in program, f"the guide has no {shown}"
        program = program.replace(shown, here)
    (folder / "followed.py").write_text(f"{program}    break\n")
    printed = checked(sys.executable, "followed.py", cwd=folder)
    assert printed.count("\n") > 1 and re.search(r"^\w+ ord_\w+$", printed.splitlines()[-1]), printed


def read_hostile(module):
    """Numbers that Python cannot make of their digits, as one record of a stranger may have, end no program."""
    long = "9" * 5000
    whole, huge, tiny = module._read(f"[{long}, 1e999999999999999999999, 1e-999999999999999999999]")
    assert module._write(whole) == long and module._as_integer(whole) is None, "a long number"
    assert (huge, tiny) == (decimal.Decimal("Infinity"), 0), "a huge and a tiny number"


def leave_squatter(module):
    """Without an address, nothing is sent to another user who has taken the daemon's port meanwhile."""
    with socket.create_server(("127.0.0.1", 0)) as own:
        assert module._is_own_listener(own.getsockname()[1]), "a listener of this user"
    if os.getuid() != 0:
        return
    os.seteuid(65534)
    other = socket.create_server(("127.0.0.1", 0))
    os.seteuid(0)

    class Client(module.RepairminderClient):
        SOCKET, PORT = "/nonexistent/api.sock", other.getsockname()[1]

    try:
        Client(attempts=1).orders.create({"client_id": module.ClientID("cli_1")})
        sys.exit("a write went to another user")
    except module.Unreachable as error:
        assert "nothing was sent" in str(error), error
    with other, other.accept()[0] as connection:
        assert connection.recv(1) == b"", "what another user got"


def unsent(client, *records):
    """What the upstream does not have of these records, once there is nothing more to wait for."""
    return client.queue.wait([one.id for one in client.queue.list() if one.record_id in records], timeout=30)


def manage_queue(module, client, order):
    """Pauses, corrects, waits, retries and discards."""
    assert client.daemon.pause().state == "paused", "a pause"
    client.orders.update(order, {"notes": "Paused"})
    change = next(client.queue.list(["queued"], ["orders"], record=order, page_size=1))
    assert (change.entity, change.record_id, list(change.fields), change.attempts) == ("orders", order, ["notes"], 0), change.json
    assert client.queue.count().pending >= 1, "a count"
    assert client.queue.correct(change.id, {"notes": "Corrected"}).body["notes"] == "Corrected", "a correction"
    assert [one.id for one in client.queue.wait([change.id], timeout=1)] == [change.id], "nothing is sent meanwhile"
    assert client.daemon.resume().state != "paused", "the end of a pause"
    assert not unsent(client, order) and client.orders.get(order).notes == "Corrected", "a wait for the upstream"

    refused = client.orders.create({"client_id": module.ClientID("cli_none")}, wait=30)
    device = client.devices.create({"order_id": module.OrderID(refused.id)})
    failed, blocked = unsent(client, refused.id, device.id)
    assert list(refused.changes) == [failed.id], "what carries the write"
    assert (failed.state, failed.error.kind, failed.error.status, blocked.blocked_by) == ("failed", "refused", 422, failed.id), failed.json
    assert (client.queue.retry(failed.id), unsent(client, refused.id)[0].state) == (1, "failed"), "a retry"
    client.queue.discard(failed.id, cascade=True)
    for call in (client.queue.get, client.queue.retry):
        try:
            call(failed.id)
            sys.exit("a discarded change is there")
        except module.Problem as problem:
            assert problem.code == "not_found", problem.document


def manage(module, client, order):
    """The calls that are the same for every schema."""
    manage_queue(module, client, order)
    client.daemon.pause()
    client.orders.update(order, {"notes": "Here"})
    request = urllib.request.Request(
        f"http://{upstream}/api/orders/{order}", b'{"notes": "There"}', {"Content-Type": "application/json"}, method="PATCH")
    urllib.request.urlopen(request, timeout=30).close()
    client.daemon.resume()
    assert client.daemon.sync(["orders"], full=True, wait=True).rows("orders") > 3 and not unsent(client, order), "a sync"
    conflict = next(one for one in client.conflicts.list() if one.record_id == order)
    assert (conflict.field, conflict.local, conflict.server) == ("notes", "Here", "There"), conflict.json
    assert conflict.winner in ("local", "server") and conflict.id not in [one.id for one in client.conflicts.list(open_only=True)], conflict.json
    try:
        client.conflicts.resolve(conflict.id, "local")
        sys.exit("a conflict is resolved twice")
    except module.Problem as problem:
        assert problem.status == 409, problem.document
    client.conflicts.undo(conflict.id)
    assert not unsent(client, order) and client.conflicts.get(conflict.id).json["undone_at"], "an undo"
    assert not list(client.reminders.list(["due"])), "the schema has no reminders"
    assert [one.name for one in client.hooks.list()] == ["called"], "the hooks"
    assert client.hooks.pause("called").state == "paused" and client.hooks.resume("called").state != "paused", "a hook"
    hook, status = client.hooks.get("called"), client.daemon.status()
    assert (hook.parked, list(hook.parked_deliveries), status.parked_deliveries) == (0, [], 0), hook.json
    print("  managed queue, conflicts, hooks and syncing")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write(folder)
        sys.path.insert(0, name)
        module = importlib.import_module("repairminder")
        read_hostile(module)
        leave_squatter(module)
        client, fields = module.RepairminderClient(address), module.Order.fields

        some = (fields.status.equals(module.OrderStatus.READY) | fields.total.at_least(decimal.Decimal("150.5"))) & ~fields.client_id.is_null()
        orders = list(client.orders.list(some, sort=[fields.total.descending()], include=[module.Order.relations.client], page_size=3))
        assert len(orders) == client.orders.count(some) > 3, "a list of several pages"
        assert all(one.total is None or isinstance(one.total, decimal.Decimal) for one in orders), "exact totals"
        named = client.orders.first(fields.client.last_name.starts(orders[0].client.last_name))
        assert named is not None, "a filter by a related record, which came along"

        start = client.position()
        order = client.orders.get(orders[0].id)
        written = client.orders.update(order.id, {"notes": "Called, \"twice\""}, wait=30, if_match=order.tag, key="generated-1")
        assert written.record.notes == 'Called, "twice"' and written.push is None, "an update that waits for the upstream"
        again = client.orders.update(order.id, {"notes": "Called, \"twice\""}, wait=30, if_match=order.tag, key="generated-1")
        assert again.is_replayed, "a repeat with the same key is done once"
        try:
            client.orders.update(order.id, {"notes": "No answer"}, if_match=order.tag)
            sys.exit("an old tag is accepted")
        except module.Problem as problem:
            assert problem.code == "version_mismatch", problem.document
        client.orders.edit(order.id, lambda one: {"notes": f"{one.notes}!"})
        assert client.orders.get(order.id).notes.endswith("!"), "an edit"

        new = client.orders.create({"client_id": orders[1].client_id, "total": decimal.Decimal("20.50")}, wait=30)
        assert new.status == 201 and new.record.total == decimal.Decimal("20.50") and new.push is None, "a new order"

        changes = client.follow(start, entities=["orders"], kinds=["acknowledged"])
        first = next(changes)
        assert (first.record_id, first.kind) == (str(order.id), "acknowledged"), "the stream has the change"
        resumed = next(client.follow(first.position, entities=["orders"]))
        assert resumed.json["seq"] > first.json["seq"], "a stream continues after the last change"
        gone = next(client.follow("0000000000000000-1"))
        assert gone.is_resync, "another cache asks for reading again"
        print("  listed, wrote, repeated and followed")
        manage(module, client, order.id)
        client.orders.update(order.id, {"status": module.OrderStatus.READY}, wait=30)
        request = urllib.request.Request(
            f"http://{upstream}/__admin/records/clients/{order.client_id}", rb'{"first_name": "Ad\u001b[2Ja"}',
            {"Content-Type": "application/json"}, method="PATCH")
        urllib.request.urlopen(request, timeout=30).close()
        client.daemon.sync(["clients"], full=True, wait=True)
        report = checked(sys.executable, "report.py", address, cwd=folder)
        assert "in all" in report and "Ad?[2Ja" in report and "\x1b" not in report, "the report"
        follow_guide(folder, order.order_number)
        print("  the report and the guide's snippets run")


main()
