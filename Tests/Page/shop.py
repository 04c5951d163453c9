"""The shop of the story: the demo's schema and records, an upstream that can go away, and the daemon with its page."""
import socket
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "Tests" / "Torture"))

from lib.programs import Daemon, Failed, Upstream, await_true  # noqa: E402, F401

# Conflicts of orders wait for a person, and devices have a photograph.
PHOTO = '    content: { upload: { call: "PUT /api/devices/{id}/photo" }, types: [image/png] }\n'
CHANGES = [("  orders:\n", "  orders:\n    conflict: manual\n"), ("  devices:\n", "  devices:\n" + PHOTO)]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Shop:
    def __init__(self, rows=500):
        self.folder = tempfile.TemporaryDirectory(prefix="page-", ignore_cleanup_errors=True)
        schema = Path(self.folder.name) / "shop.yaml"
        text = (ROOT / "config" / "schemas" / "repairminder.yaml").read_text()
        for old, new in CHANGES:
            if old not in text:
                raise Failed(f"the demo's schema has no {old.strip()}")
            text = text.replace(old, new, 1)
        schema.write_text(text)
        self.upstream = Upstream(schema, rows=rows, more=["--check-references"])
        # One port for all its lives: the page stays open while the daemon restarts.
        settings = {"listen": {"tcp": f"127.0.0.1:{free_port()}"}, "sync": {"interval": "5s", "write_delay": "0ms"}}
        self.daemon = Daemon(self.folder.name, self.upstream, settings, schema=schema)
        self.daemon.start(within=30)
        self.sync()

    @property
    def address(self):
        return f"http://{self.daemon.tcp_address}"

    def get(self, path):
        return self.call("GET", path).json

    def call(self, method, path, body=None):
        # A new connection for each call, because the daemon closes idle ones.
        client = self.daemon.client()
        try:
            answer = client.call(method, path, body)
        finally:
            client.close()
        if answer.status >= 300:
            raise Failed(f"{method} {path} answered {answer.status}: {answer.body!r}")
        return answer

    def sync(self):
        self.call("POST", "/v1/sync?wait=true")

    def order(self, number=1486):
        return self.get(f"/v1/orders?order_number={number}")["data"][0]

    def upstream_order(self, number=1486):
        return next(one for one in self.upstream.records("orders") if one["order_number"] == number)

    def go_offline(self):
        self.upstream.faults({"effect": "offline"})

    def come_back(self):
        self.upstream.faults()

    def restart_daemon(self):
        self.daemon.start(within=30)

    def close(self):
        self.daemon.kill()
        self.upstream.stop()
        self.folder.cleanup()
