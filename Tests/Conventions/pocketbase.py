"""The real PocketBase, https://pocketbase.io/docs/api-records/, behind a gateway that can lose its answers.

`POCKETBASE` is its program; without it, the one of the package in requirements.txt is looked for. Collections:
https://pocketbase.io/docs/api-collections/; batches: https://pocketbase.io/docs/api-records/#batch-createupdateupsertdelete-records
"""
import atexit
import http.client
import json
import os
import random
import shutil
import subprocess
import tempfile
import time
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from common.server import WRITES, Convention, Response
from common.store import FIELDS, Store
from common.story import Failed, Side, await_true, free_port

NAMES = {"customer_id": "customer", "order_id": "order"}
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
COUNTS = (2_000, 5_000, 3_000)
TOKEN_S = 10  # how long tokens last: the shortest that it allows
USER, PASSWORD = "ada@example.org", "a-long-password"
# A caller whose token has expired is a guest: 200 with an empty list, 404 for a record, 400 for a creation.
RULES = {f"{call}Rule": "@request.auth.id != ''" for call in ("list", "view", "create", "update", "delete")}
OPERATIONS = {"POST": "create", "PATCH": "update", "DELETE": "delete"}


def program():
    beside = Path(__file__).resolve().parents[2] / ".build" / "pocketbase" / "bin" / "pocketbase"
    return os.environ.get("POCKETBASE") or (str(beside) if beside.exists() else shutil.which("pocketbase"))


def missing():
    return None if program() else "there is no pocketbase; see Tests/Conventions/requirements.txt"


class PocketBase(Convention):
    """A gateway to it on a port of its own: what the daemon calls."""
    DIGITS = 3
    KEY = f"{USER}:{PASSWORD}"
    LOCAL = {entity: {name: NAMES.get(name, name) for name in fields} for entity, fields in FIELDS.items()}

    def __init__(self, seed=1):
        self.random = random.Random(seed)
        self.sign_ins = 0
        self.folder = tempfile.mkdtemp(prefix="pocketbase-")
        # Migrations would otherwise stand beside the folder, for the next run to find.
        self.folders = ["--dir", f"{self.folder}/data", "--migrationsDir", f"{self.folder}/migrations"]
        atexit.register(self.close)
        super().__init__(seed)
        self.store = Store(self.make_id, seed, COUNTS, self.DIGITS)
        self._command("superuser", "upsert", USER, PASSWORD)
        self.far = f"127.0.0.1:{free_port()}"
        self.process = subprocess.Popen([program(), "serve", "--http", self.far, *self.folders],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        await_true(self._is_up, 20, "pocketbase did not start")
        self._sign_in()
        self._define()
        self._load()
        self._shorten()

    def make_id(self, entity, number):
        return "".join(self.random.choices(LETTERS, k=15))

    def renew(self):
        """All tokens are no longer valid."""
        self._shorten()

    def _shorten(self):
        """From now on tokens are brief, and those of before are no longer valid."""
        self.call("PATCH", "/api/collections/_superusers", {"authToken": {
            "duration": TOKEN_S, "secret": "".join(self.random.choices(LETTERS, k=50))}})
        self._sign_in()

    # Starting

    def _command(self, *arguments):
        done = subprocess.run([program(), *arguments, *self.folders], capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"pocketbase {arguments[0]}: {done.stdout}{done.stderr}")

    def _is_up(self):
        try:
            return self.send("GET", "/api/health", None, None)[0] == 200
        except OSError:
            return False

    def _sign_in(self):
        self.own, self.own_since = self._token(), time.monotonic()

    def _token(self):
        status, answer = self.send("POST", "/api/collections/_superusers/auth-with-password",
                                   {"identity": USER, "password": PASSWORD}, None)
        if status != 200:
            raise Failed(f"pocketbase let nobody in: {status} {answer}")
        return answer["token"]

    def _define(self):
        kinds = {"text": {"type": "text"}, "text?": {"type": "text"}, "amount": {"type": "number", "min": 0},
                 "integer": {"type": "number", "onlyInt": True}, "time?": {"type": "date"},
                 "status": {"type": "select", "values": ["open", "paid", "shipped"], "maxSelect": 1}}
        times = [{"name": "created", "type": "autodate", "onCreate": True},
                 {"name": "updated", "type": "autodate", "onCreate": True, "onUpdate": True}]
        made = {}
        for entity, fields in FIELDS.items():
            defined = []
            for name, kind in fields.items():
                base, _, most = kind.partition(" ")
                if base == "->":
                    defined.append({"name": NAMES[name], "type": "relation", "collectionId": made[most], "maxSelect": 1,
                                    "cascadeDelete": True, "required": True})
                    continue
                more = {"max": int(most)} if most else {}
                defined.append({"name": name, **kinds[base], **more, "required": base == "text"})
            if entity == "orders":
                defined.append({"name": "scan", "type": "file", "maxSelect": 1, "maxSize": 1 << 20})
            made[entity] = self.call("POST", "/api/collections", {
                "name": entity, "type": "base", "fields": defined + times, **RULES,
                "indexes": [f"CREATE INDEX idx_{entity}_updated ON {entity} (updated)"]})["id"]
        self.call("PATCH", "/api/settings", {"batch": {"enabled": True, "maxRequests": 500, "timeout": 30}})

    def _load(self):
        for entity in FIELDS:
            rows = self.store.listed(entity)
            for begin in range(0, len(rows), 500):
                self.call("POST", "/api/batch", {"requests": [
                    {"method": "POST", "url": f"/api/collections/{entity}/records", "body": self.wire(entity, row, row["id"])}
                    for row in rows[begin:begin + 500]]})

    def wire(self, entity, fields, key=None):
        def value(one):
            return float(one) if isinstance(one, Decimal) else one.isoformat() if isinstance(one, datetime) else one
        body = {NAMES.get(name, name): value(fields[name]) for name in FIELDS[entity] if name in fields}
        return {**body, **({"id": key} if key else {})}

    # Calling it

    def send(self, method, path, body, token):
        connection = http.client.HTTPConnection(self.far, timeout=60)
        headers = {"Content-Type": "application/json", **({"Authorization": token} if token else {})}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, json.loads(data) if data else None

    def call(self, method, path, body=None):
        """A call of the test's own; raises `Failed` if it is refused."""
        # An expired token would be answered as a guest's.
        if time.monotonic() - self.own_since > TOKEN_S / 3:
            self._sign_in()
        status, answer = self.send(method, path, body, self.own)
        if status >= 300:
            raise Failed(f"pocketbase: {method} {path}: {status} {answer}")
        return answer

    def records(self, entity):
        page, found = 1, []
        while True:
            answer = self.call("GET", f"/api/collections/{entity}/records?perPage=1000&page={page}&sort=id")
            found += answer["items"]
            if page >= answer["totalPages"]:
                return found
            page += 1

    def test(self, name, **asked):
        place = f"/api/collections/{asked.get('entity')}/records"
        fields = self.wire(asked["entity"], asked["fields"]) if "fields" in asked else None
        if name == "create":
            return self.call("POST", place, fields)
        if name == "edit":
            return self.call("PATCH", f"{place}/{asked['id']}", fields)
        if name == "delete":
            return self.call("DELETE", f"{place}/{asked['id']}")
        return super().test(name, **asked)

    # The gateway

    def respond(self, request):
        # A stream must not keep others from their answers.
        return self.realtime(request) if request.path == "/api/realtime" else super().respond(request)

    def realtime(self, request):
        connection = http.client.HTTPConnection(self.far, timeout=600)
        names = ("accept", "authorization", "content-type", "last-event-id")
        connection.request(request.method, request.target, request.body or None,
                           {name: value for name, value in request.headers.items() if name.lower() in names})
        answer = connection.getresponse()
        kind = answer.getheader("Content-Type") or "application/json"
        if not kind.startswith("text/event-stream"):
            return Response(answer.status, answer.read() or None, {}, kind)

        def pieces():
            try:
                while piece := answer.read1(1 << 16):
                    yield piece
            except http.client.HTTPException:
                pass  # pocketbase has ended
            finally:
                connection.close()
        return Response(answer.status, pieces(), {}, kind)

    def answer(self, request):
        connection = http.client.HTTPConnection(self.far, timeout=60)
        headers = {name: value for name, value in request.headers.items() if name.lower() not in ("host", "connection")}
        connection.request(request.method, request.target, request.body or None, headers)
        answer = connection.getresponse()
        data = answer.read()
        parts = request.path.strip("/").split("/")
        if parts[3:4] == ["auth-with-password"]:
            self.sign_ins += 1
        if request.method in WRITES and answer.status < 300 and parts[3:4] == ["records"]:
            key = parts[4] if len(parts) > 4 else json.loads(data)["id"]
            self.store.applied.append(("api", OPERATIONS[request.method], parts[2], key))
        connection.close()
        return Response(answer.status, data or None, {}, answer.getheader("Content-Type") or "application/json")

    def close(self):
        if getattr(self, "process", None) and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
            super().close()
        shutil.rmtree(self.folder, ignore_errors=True)


class PocketBaseSide(Side):
    REFUSED = ("customers", "name", "x" * 70, "Must be no more than 60 character(s).")

    def row(self, entity, record):
        # It has no nulls: an empty text and an empty time are "".
        return {name: "" if value is None else value for name, value in super().row(entity, {
            place: None if value == "" else value for place, value in record.items()}).items()}

    def keys(self, entity):
        return {record["id"]: record["id"] for record in self.server.records(entity)}

    def rows(self, entity):
        return {record["id"]: self.row(entity, record) for record in self.server.records(entity)}

    def more(self, story):
        self.told(story)
        self.files(story)

    def told(self, story):
        """Changes there are here without a poll."""
        def status():
            return story.ask("GET", "/v1/status").json["signals"][0]

        def note(key):
            answer = story.client.call("GET", f"/v1/orders/{key}")
            return answer.json["note"] if answer.status == 200 else None

        story.client.call("POST", "/v1/sync?wait=true", {})
        story.await_true(lambda: status()["connected"], lambda: f"the stream is not open: {status()}")
        # The pull that an opened stream causes.
        story.client.call("POST", "/v1/sync?wait=true", {})
        changes = []
        for number, key in enumerate(story.random.sample(story.untouched("orders"), 6)):
            changes.append((lambda number=number, key=key: self.server.test(
                "edit", entity="orders", id=key, fields={"note": f"Told {number}"}),
                lambda number=number, key=key: note(key) == f"Told {number}"))
        made = []
        customer = story.untouched("customers")[0]
        changes.append((lambda: made.append(self.server.test("create", entity="orders", fields={
            "customer_id": customer, "number": "T-told", "total": 1.5, "status": "open", "note": "New"})["id"]),
            lambda: note(made[0]) == "New"))
        story.prompt(changes)
        self.server.test("delete", entity="orders", id=made[0])
        story.await_true(lambda: story.client.call("GET", f"/v1/orders/{made[0]}").status == 404,
                         lambda: f"a deletion there was not here: {status()}")

    def files(self, story):
        """A file arrives, and so does another in its place."""
        key = story.key(story.rows_here("orders")[0])
        for data in (b"%PDF-1.4 first", b"%PDF-1.4 second"):
            answer = story.client.call("PUT", f"/v1/orders/{key}/content", data, {"Content-Type": "application/pdf"})
            if answer.status != 200:
                raise Failed(f"the file was refused: {answer.status} {answer.body!r}")

            def is_there(data=data):
                name = self.server.call("GET", f"/api/collections/orders/records/{key}")["scan"]
                connection = http.client.HTTPConnection(self.server.far, timeout=10)
                connection.request("GET", f"/api/files/orders/{key}/{name}")
                found = connection.getresponse().read()
                connection.close()
                return found == data
            await_true(is_there, 20, lambda: f"the file did not arrive: {story.pending()}")
        story.sent("after the files")
        story.note("files: arrived, and replaced")
        self.guest(story)

    def guest(self, story):
        """The token turns into a guest's while an edit and a deletion wait: both arrive, and nothing leaves the cache."""
        self.server.renew()
        edited, deleted = story.random.sample(story.rows_here("orders"), 2)
        before = len(story.rows_here("orders"))
        story.edit("orders", edited)
        story.remove("orders", deleted)
        for _ in range(3):
            story.client.call("POST", "/v1/sync?wait=true", {"full": True})
            if (here := len(story.rows_here("orders"))) != before - 1:
                raise Failed(f"{before} orders were here, one was deleted, now there are {here}")
        story.sent("as a guest")
        story.note(f"signed in {self.server.sign_ins} times by itself")


    def credentials(self, story):
        password = story.folder / "password"
        password.write_text(PASSWORD + "\n")
        password.chmod(0o600)
        return {"settings": f"{{ user: {USER} }}", "secrets": f"{{ password: {password} }}"}


SERVER, SIDE, SETTINGS = PocketBase, PocketBaseSide, {"sync": {"interval": "1h"}}
