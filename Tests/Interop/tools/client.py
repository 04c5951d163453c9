"""openapi-python-client generates a client from the description; it lists, reads and updates an order, also one whose values
the schema does not know."""
import importlib
import json
import os
import pathlib
import pkgutil
import subprocess
import sys
import tempfile
import urllib.request

api, upstream = (f"http://{address}" for address in sys.argv[1:3])


def call(method, url, body=None):
    request = urllib.request.Request(
        url, method=method, data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or "null")


def generate(folder):
    """The package, with every module of it imported."""
    (folder / "openapi.json").write_text(json.dumps(call("GET", f"{api}/openapi.json")))
    tools = pathlib.Path(sys.executable).parent
    done = subprocess.run(
        [tools / "openapi-python-client", "generate", "--path", folder / "openapi.json", "--output-path", folder / "repairminder_client", "--meta",
         "none", "--overwrite"], cwd=folder, capture_output=True, text=True,
        env=os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"})
    # It warns when it leaves a call or a type out.
    if done.returncode or "Warning" in done.stdout + done.stderr:
        print(done.stdout[-3000:], done.stderr[-3000:])
        sys.exit("openapi-python-client does not take the description")
    sys.path.insert(0, str(folder))
    package = importlib.import_module("repairminder_client")
    for module in pkgutil.walk_packages(package.__path__, "repairminder_client."):
        importlib.import_module(module.name)
    return package


def method(name):
    return importlib.import_module(f"repairminder_client.api.orders.{name}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        package = generate(pathlib.Path(folder))
        client = package.Client(base_url=api, raise_on_unexpected_status=True)
        changes = importlib.import_module("repairminder_client.models").OrdersChanges

        page = method("list_orders").sync(client=client, limit=3)
        assert len(page.data) == 3 and page.next_, "list_orders"
        order = page.data[0]
        assert method("get_order").sync(order.id, client=client).id == order.id, "get_order"
        updated = method("update_order").sync(order.id, client=client, body=changes(notes="From a client"))
        assert updated.notes == "From a client" and updated.field_sync.state, "update_order"
        print("  listed, read and updated an order")

        # The upstream serves what the schema does not know.
        found = [one for one in call("GET", f"{api}/v1/drift")["data"] if (one["entity"], one["field"], one["kind"]) == ("orders", "status", "value")]
        assert found, "a status that the daemon's schema does not know"
        unknown, key = found[0]["found"], found[0]["example"]
        call("PATCH", f"{upstream}/__admin/records/orders/{key}", {"total": "much", "created_at": "yesterday"})
        call("POST", f"{api}/v1/sync?wait=true", {"full": True})
        strange = method("get_order").sync(key, client=client)
        assert (strange.status, strange.total, strange.created_at) == (unknown, "much", "yesterday"), "get_order with drift"
        strange = method("update_order").sync(key, client=client, body=changes(notes="Strange"))
        assert (strange.notes, strange.status) == ("Strange", unknown), "update_order with drift"
        assert len(method("list_orders").sync(client=client, limit=1000).data) > 3, "list_orders with drift"
        print("  the same with values that the schema does not know")


main()
