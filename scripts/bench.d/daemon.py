"""The daemon as the suite runs it: its own process on a state folder, called over TCP with its token."""

import http.client
import json
import threading
import time

import client
import load
from programs import Program

CONFIGURATION = """
schema: {schema}
state_dir: {state}
upstream: {{ base_url: "http://127.0.0.1:{upstream}", parallel: {parallel} }}
sync: {{ interval: 24h, full_every: 90d, delete_guard: 100%, write_delay: {write_delay} }}
backup: {{ every: off }}
listen: {{ tcp: "127.0.0.1:0", unix: {folder}/api.sock }}
log: {{ level: notice }}
"""


class Daemon:
    """A daemon on one state folder. `start` returns when it answers."""

    def __init__(
            self, binary, schema, folder, upstream_port, parallel=4, write_delay="100ms", wrapper=(), environment=None):
        self.folder = folder
        self.state = folder / "state"
        self.configuration = folder / "config.yaml"
        self.command = [*wrapper, binary, "run", "--config", self.configuration]
        self.environment = environment
        folder.mkdir(parents=True, exist_ok=True)
        self.configuration.write_text(
            CONFIGURATION.format(
                schema=schema, state=self.state, upstream=upstream_port, folder=folder, parallel=parallel,
                write_delay=write_delay))
        self.program = None

    def start(self):
        """Returns the seconds until the first answer."""
        began = time.perf_counter()
        self.program = Program(self.command, self.folder / "daemon.log", self.environment)
        address = self.program.await_ready(self.logged_address, seconds=600, every=0.002)
        host, _, port = address.rpartition(":")
        self.address = (host, int(port))
        self.program.await_ready(self.token_text, every=0.002)
        self.headers = {"Authorization": f"Bearer {self.token_text()}"}
        self.get("/v1/status")
        return time.perf_counter() - began

    def logged_address(self):
        _, found, rest = self.program.log.read_text().partition("address=http://")
        return rest.split()[0] if found and "\n" in rest else None

    def token_text(self):
        path = self.state / "api-token"
        return path.read_text().strip() if path.exists() else None

    def stop(self):
        if self.program:
            self.program.stop()
            self.program = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    # Calls

    def call(self, method, path, body=None):
        """The body of a good answer."""
        return self.exchange(method, path, body)[1]

    def tag(self, path):
        """The ETag of what is at the path."""
        return self.exchange("GET", path)[0]["ETag"]

    def exchange(self, method, path, body=None):
        """The headers and the body of a good answer."""
        connection = http.client.HTTPConnection(*self.address, timeout=600)
        try:
            headers = self.headers | ({"Content-Type": "application/json"} if body else {})
            connection.request(method, path, body=json.dumps(body) if body else None, headers=headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status >= 300:
            raise ConnectionError(f"{method} {path}: {answer.status} {text[:300].decode()}")
        return answer.headers, text

    def count_lines(self, path, type):
        """Reads an answer of this type, piece by piece."""
        connection = http.client.HTTPConnection(*self.address, timeout=600)
        try:
            connection.request("GET", path, headers=self.headers | {"Accept": type})
            answer = connection.getresponse()
            return sum(piece.count(b"\n") for piece in iter(lambda: answer.read(1 << 20), b""))
        finally:
            connection.close()

    def get(self, path):
        return json.loads(self.call("GET", path))

    def sync(self, full=False):
        """Returns the seconds that the sync took, or the one already running."""
        began = time.perf_counter()
        self.call("POST", "/v1/sync?wait=true", {"full": True} if full else None)
        return time.perf_counter() - began

    def first_pull(self, since):
        """The seconds from `since` until every list is complete, until search is, and until the sync has ended."""
        ended = threading.Event()
        sync = threading.Thread(target=lambda: (self.sync(), ended.set()))
        sync.start()
        found = {}
        while "lists" not in found or not ended.is_set():
            if "lists" not in found and self.lists_are_complete():
                found["lists"] = time.perf_counter() - since
            ended.wait(0.02)
            if not sync.is_alive() and not ended.is_set():
                raise ConnectionError("the first sync failed")
        found["all"] = time.perf_counter() - since
        while not self.get("/v1/search?q=zz&limit=1")["complete"]:
            time.sleep(0.02)
        found["search"] = time.perf_counter() - since
        return found

    def lists_are_complete(self):
        """Each pull has ended, and so has what lists are read by; a list without `complete` is complete.

        Messages come one ticket at a time, after everything else; without tickets there is nothing to wait for.
        """
        entities = self.get("/v1/status")["entities"]
        if not entities["tickets"]["rows"] and entities["tickets"]["last_synced_at"]:
            del entities["ticket_messages"]
        return all(entity["last_synced_at"] for entity in entities.values()) and all(
            self.get(f"/v1/{name}?limit=1").get("complete", True) for name in entities)

    def pause(self):
        self.call("POST", "/v1/sync/pause")

    def resume(self):
        self.call("POST", "/v1/sync/resume")

    def rows(self):
        return {name: entity["rows"] for name, entity in self.get("/v1/status")["entities"].items()}

    def pending(self):
        return self.get("/v1/pending/count")["pending"]

    def some(self, count, query=""):
        """The ids of `count` orders."""
        path, found = f"/v1/orders?limit=1000{query}", []
        answer = self.get(path)
        while True:
            found += [order["id"] for order in answer["data"]]
            if len(found) >= count or not answer["next"]:
                return found[:count]
            answer = self.get(f"{path}&cursor={answer['next']}")

    def load(self, calls, connections, seconds):
        return load.measure(self.address, calls, connections, seconds, self.headers)

    def queue(self, ids):
        """Changes each of these orders once, as fast as one client can."""
        changes = (
            client.request("PATCH", f"/v1/orders/{id}", self.headers, json.dumps({"notes": f"Queued {id}"}))
            for id in ids)
        client.drive(self.address, changes, connections=32, count=len(ids))

    # Costs

    def resident(self):
        """In MiB."""
        return self.program.status("VmRSS") / 1024

    def peak(self):
        return self.program.status("VmHWM") / 1024

    def database(self):
        return (self.state / "current.db").resolve()
