"""A shop: an upstream, its daemon and the feeds that follow it, with changes on both sides."""
import random
import signal
import subprocess
import threading
from pathlib import Path

from lib.programs import BIN, Daemon, Failed, Upstream, await_true
from values import HIDDEN, TYPES, hostile

FOLDER = Path(__file__).resolve().parent
SCHEMA = FOLDER / "schema.yaml"
JSON = {"Content-Type": "application/json"}


class Feed:
    """`repairminder-sync feed` as a process."""

    def __init__(self, shop, postgres, database, *more):
        self.shop, self.kills, self.process = shop, 0, None
        self.arguments = ["feed", "--to", postgres.address(database), "--instance", shop.name, *more]
        self.log = shop.folder / f"feed{len(shop.feeds)}.log"
        shop.feeds.append(self)

    @property
    def command(self):
        return [BIN / "repairminder-sync", *self.arguments, "--config", self.shop.daemon.config]

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)

    def kill(self):
        if self.process.poll() is not None:
            raise Failed(f"the feed ended with {self.process.returncode}:\n{self.said()}")
        self.process.kill()
        self.process.wait()
        self.kills += 1

    def stop(self):
        """As systemd does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        if status := self.process.wait(30):
            raise Failed(f"the feed ended with {status}:\n{self.said()}")

    def once(self, expected=0):
        """What it says when it is asked to stop once everything is fed."""
        done = subprocess.run([*self.command, "--once"], capture_output=True, text=True, timeout=120)
        if done.returncode != expected:
            raise Failed(f"feed --once ended with {done.returncode}, not {expected}:\n{done.stderr}")
        return done.stderr

    def said(self):
        return self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""


class Shop:
    def __init__(self, folder, name, seed, schema=SCHEMA):
        self.name, self.feeds, self.is_over, self.failure = name, [], threading.Event(), None
        self.folder = Path(folder)
        self.folder.mkdir()
        self.random = random.Random(f"{name} {seed}")
        self.upstream = Upstream(schema, rows=30, seed=seed)
        self.daemon = Daemon(self.folder, self.upstream, {"listen": {"tcp": "127.0.0.1:0"}}, schema=schema)
        self.writes, self.client = 0, None
        self.start()
        self.sync()

    def start(self):
        self.daemon.start(within=30)
        self.reconnect()

    def reconnect(self):
        """The daemon closes a connection that was idle for a minute."""
        if self.client:
            self.client.close()
        self.client = self.daemon.client()

    def sync(self):
        answer = self.client.call("POST", "/v1/sync?wait=true", headers=JSON)
        if answer.status != 200:
            raise Failed(f"the sync of {self.name} failed: {answer.body!r}")

    def settle(self):
        """Returns when both sides are equal, so that nothing changes any more.

        One sync may not be enough: what was written here a moment ago is not yet believed to be gone, and a value that the
        other side sets back to what it was before is believed only once the time to settle is over.
        """
        self.reconnect()
        differences = []

        def are_equal():
            self.daemon.await_sent(within=60)
            self.sync()
            differences[:] = [text for entity in TYPES for text in self.differences(entity)]
            return not differences
        self.daemon.await_true(are_equal, 60, lambda: "\n".join(
            [f"{self.name} does not become equal to its upstream", *differences[:5]]))

    def differences(self, entity):
        """Each record that is not the same on both sides, as each has it."""
        here, there = self.records(entity), self.records_upstream(entity)
        return [f"{entity} {key}\n  here:  {here.get(key)}\n  there: {there.get(key)}"
                for key in sorted({*here, *there}) if here.get(key) != there.get(key)]

    def records(self, entity):
        answer = self.client.get(f"/v1/{entity}", headers={"Accept": "application/x-ndjson"})
        return {record["id"]: self.shown(record) for record in answer.lines}

    def records_upstream(self, entity):
        return {record["id"]: self.shown(record) for record in self.upstream.records(entity)
                if not record.get("deleted_at")}

    @staticmethod
    def shown(record):
        return {name: value for name, value in record.items() if name not in HIDDEN}

    def close(self):
        self.is_over.set()
        for feed in self.feeds:
            if feed.process and feed.process.poll() is None:
                feed.process.kill()
                feed.process.wait()
        self.client.close()
        self.daemon.kill()
        self.upstream.stop()

    # Changes

    def churn(self):
        """Changes things here and there until it is told to stop."""
        client = self.daemon.client()
        try:
            while not self.is_over.wait(self.random.uniform(0, 0.03)):
                self.change(client)
        except Exception as error:  # noqa: BLE001: reported by the main thread
            self.failure = error
        finally:
            client.close()

    def change(self, client):
        keys = [record["id"] for record in client.get("/v1/items?limit=200&fields=id").json["data"]]
        boxes = [record["id"] for record in client.get("/v1/boxes?limit=50&fields=id").json["data"]]
        kind = self.random.choice(["create", "change", "change", "change", "delete", "far", "far-create", "far-delete"])
        fields = hostile(self.random)
        key = self.random.choice(keys) if keys else None
        if kind == "create" and len(keys) < 150:
            box = self.random.choice(boxes)
            self.write(client, "POST", "/v1/items", f'{{"box_id": "{box}", {fields[1:]}')
        elif kind == "change" and key:
            self.write(client, "PATCH", f"/v1/items/{key}", fields)
        elif kind == "delete" and key and len(keys) > 20:
            self.write(client, "DELETE", f"/v1/items/{key}", None)
        elif kind == "far-create" and len(keys) < 150:
            self.upstream._call("POST", "/__admin/records/items", fields.encode(), JSON)
        elif kind.startswith("far") and key:
            self.far(kind, key, fields)

    def far(self, kind, key, fields):
        """A change on the other side of a record that it may not have any more, or not yet."""
        if kind == "far-delete":
            self.upstream._call("DELETE", f"/__admin/records/items/{key}")
        else:
            self.upstream._call("PATCH", f"/__admin/records/items/{key}", fields.encode(), JSON)

    def write(self, client, method, path, body):
        answer = client.call(method, path, body.encode() if body else None, headers=JSON)
        # Another change can have come first.
        if answer.status >= 300 and answer.status not in (404, 409):
            raise Failed(f"{method} {path} {body}: {answer.status} {answer.body!r}")
        self.writes += 1

    # Positions

    def end(self):
        answer = self.client.get("/v1/changes").json
        return answer["epoch"], answer["next"]

    def await_fed(self, postgres, database, schema, within=60):
        """Returns when the database says that everything is fed."""
        def is_fed():
            rows = postgres.rows(
                f"SELECT epoch, position FROM \"{schema}\"._feed WHERE instance = '{self.name}'", database)
            return [(row["epoch"], row["position"]) for row in rows] == [self.end()]
        await_true(is_fed, within, lambda: f"{self.name} is not fed:\n" + "\n".join(feed.said() for feed in self.feeds))

