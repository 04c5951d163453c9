"""What `generate python` writes passes mypy --strict, and reads, writes and follows the daemon; the example report and the guide run."""
import decimal
import importlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

address = sys.argv[1]
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


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write(folder)
        sys.path.insert(0, name)
        module = importlib.import_module("repairminder")
        read_hostile(module)
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
        assert "in all" in checked(sys.executable, "report.py", address, cwd=folder), "the report"
        client.orders.update(order.id, {"status": module.OrderStatus.READY}, wait=30)
        follow_guide(folder, order.order_number)
        print("  the report and the guide's snippets run")


main()
