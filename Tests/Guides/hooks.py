"""Hooks: the label of a ready order is printed, and a webhook can be checked as the guide says."""
import base64
import hmac
import http.server
import json
import threading

from lib.programs import Upstream, await_true
from machine import SCHEMA, Machine, blocks, require

SECRET = "correct horse battery"


class Receiver:
    """A program that texts customers: it takes what is signed."""

    def __init__(self):
        self.events = events = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                signed = b".".join([self.headers["webhook-id"].encode(), self.headers["webhook-timestamp"].encode(), body])
                own = "v1," + base64.b64encode(hmac.digest(SECRET.encode(), signed, "sha256")).decode()
                is_ours = own in self.headers["webhook-signature"].split()
                if is_ours:
                    events.append({**json.loads(body), "path": self.path, "header": self.headers["Idempotency-Key"]})
                self.send_response(204 if is_ours else 403)
                self.end_headers()

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def follow(folder):
    page = "guides/hooks.md"
    label, text = (blocks(page, part, "yaml")[0] for part in ("Print a label when an order becomes ready", "Text the customer"))
    script, = blocks(page, "Print a label when an order becomes ready", "sh")
    upstream, receiver = Upstream(SCHEMA), Receiver()
    machine = Machine(folder / "shop", upstream, "till-1")
    printed = machine.folder / "printed"
    machine.program("lp", f'echo "$*" >>{printed}; cat >>{printed}')
    program = machine.programs / "print-label"
    program.write_text(script)
    program.chmod(0o755)
    secret = machine.folder / "hook-secret"
    secret.write_text(SECRET + "\n")
    secret.chmod(0o600)
    head = "hooks:\n"
    require(label.startswith(head) and text.startswith(head), "the configuration does not begin with hooks:")
    settings = (label + text.removeprefix(head)).replace("/usr/local/bin/print-label", str(program))
    machine.set(settings.replace("http://127.0.0.1:8123", f"http://127.0.0.1:{receiver.server.server_port}"))
    try:
        machine.start()
        machine.run("repairminder-sync sync --wait")
        order = next(order for order in machine.call("GET", "/v1/orders?limit=50").json["data"] if order["status"] != "ready")
        for change in ({"status": "ready"}, {"notes": "A later edit prints nothing"}):
            machine.call("PATCH", f"/v1/orders/{order['id']}", change)
        # The stand-in for lp writes in two steps.
        await_true(lambda: printed.exists() and str(order["order_number"]) in printed.read_text().splitlines()
                   and receiver.events, 20, "the hooks did not run")
        machine.run("repairminder-sync sync --wait")
        lines = printed.read_text().splitlines()
        require(lines[:2] == ["-d labels -", str(order["order_number"])] and "null" not in lines, f"printed: {lines}")
        event = receiver.events[0]
        require((event["path"], event["id"], event["header"]) == ("/ready", order["id"], event["key"]), f"received: {event}")
        require(lines.count("-d labels -") == len(receiver.events) == 1, "a later edit was told as well")
        said = machine.run("repairminder-sync hooks && for to in pause resume; do repairminder-sync hooks --$to label; done")
        require("label" in said and "text" in said, said)
        return f"printed {lines[1:]}, and received a signed webhook"
    finally:
        machine.stop()
        receiver.server.shutdown()
        upstream.stop()
