"""The story that every convention must survive: both sides write, answers get lost, the daemon dies, and in the end the
cache has exactly what the server has."""
import random
import sys
import threading
import time
from collections import Counter
from datetime import datetime
from decimal import Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "Tests" / "Torture"))

from lib.client import Unanswered  # noqa: E402
from lib.ports import free_port  # noqa: E402, F401
from lib.programs import Daemon, Failed, await_true, temporary_folder  # noqa: E402

from .store import FIELDS, PARENTS, iso, parse_time  # noqa: E402

EXAMPLES = ROOT / "config" / "schemas" / "examples"
WITHIN_S = 45
# A change there is here so long after its signal. Other work may keep this machine busy for a moment, so half of the
# changes must keep to the first, and all to the second.
SIGNAL_S, SIGNAL_MOST_S = 1, 10
ENTITIES = list(FIELDS)


class Side:
    """What the story needs to know of a server: subclasses say where its values are and what they look like.

    `LOCAL` names the fields here, `PLACES` where a cached record has them if that is another place.
    """
    NAME = ""
    KEY_FIELD = "id"
    PLACES = None
    REFUSED = ("customers", "name", "x" * 70, "60")  # entity, field, a value that is refused, a word of the reason
    LOSES_ANSWERS = True
    CREATES_BY = "POST"
    SETTINGS = {}

    def __init__(self, server):
        self.server = server
        self.local = server.LOCAL
        self.places = getattr(server, "PLACES", None) or server.LOCAL
        self.key_field = getattr(server, "KEY_FIELD", self.KEY_FIELD)

    def to_local(self, kind, value):
        """A canonical value as a caller of the daemon writes it."""
        return self.server.to_local(kind, value) if hasattr(self.server, "to_local") else \
            float(value) if isinstance(value, Decimal) else iso(value, 3) if isinstance(value, datetime) else value

    def canonical(self, kind, value):
        if hasattr(self.server, "canonical"):
            value = self.server.canonical(kind, value)
        if value is None or kind.startswith(("text", "->", "status", "integer")):
            return value
        return Decimal(str(value)) if kind.startswith("amount") else parse_time(value)

    def values(self, entity, fields):
        return {self.local[entity][name]: self.to_local(FIELDS[entity][name], value) for name, value in fields.items()}

    def row(self, entity, record):
        """A cached record with the names and types of the store."""
        return {name: self.canonical(kind, at(record, self.places[entity][name])) for name, kind in FIELDS[entity].items()}

    def keys(self, entity):
        """The keys on the server: as text -> as they are."""
        return {str(row["id"]): row["id"] for row in self.server.store.listed(entity)}

    def rows(self, entity):
        """What the server has: key -> row."""
        return {str(row["id"]): {name: row[name] for name in FIELDS[entity]} for row in self.server.store.listed(entity)}


def at(record, place):
    """The value at a place; one under the field's own name is a local change."""
    if place in record:
        return record[place]
    for name in place.split("."):
        record = record.get(name) if isinstance(record, dict) else None
    return record


class Story:
    def __init__(self, name, side, seed=1, rounds=2, settings=None):
        self.name, self.side, self.server = name, side, side.server
        self.random, self.rounds = random.Random(seed), rounds
        self.settings = settings or {}
        self.created, self.deleted, self.number = Counter(), [], 0
        self.touched, self.initial = set(), {}
        self.notes, self.is_over = [], threading.Event()

    def tell(self, folder):
        """Raises `Failed`; returns lines of what happened."""
        self.folder = Path(folder)
        self.token = self.folder / "token"
        settings = {"upstream": {"base_url": self.server.url, **self.credentials()}, **self.settings}
        if hasattr(self.side, "settings"):
            settings |= self.side.settings(self)
        self.daemon = Daemon(folder, self.server.address, settings, schema=self.schema())
        began = time.monotonic()
        self.daemon.start(within=30)
        self.client = self.daemon.client()
        if hasattr(self.server, "TOKEN_EVERY_S"):
            threading.Thread(target=self.keep_token, args=(self.server.TOKEN_EVERY_S,), daemon=True).start()
        try:
            self.first_pull()
            self.note(f"first pull in {time.monotonic() - began:.1f} s")
            for number in range(self.rounds):
                self.churn(number)
            self.refused()
            self.limited()
            self.expired()
            if hasattr(self.side, "more"):
                self.side.more(self)
            self.compare("at the end")
            self.exactly_once()
            self.no_conflicts()
            self.note(f"in all {time.monotonic() - began:.1f} s, {len(self.server.requests)} requests"
                      if hasattr(self.server, "requests") else f"in all {time.monotonic() - began:.1f} s")
        finally:
            self.is_over.set()
            self.client.close()
            self.daemon.kill()
        return self.notes

    def schema(self):
        """The example, with a shorter `settle`: a creation that a crash kept from being sent waits that long."""
        text = (EXAMPLES / f"{self.name}.yaml").read_text()
        if "\n  settle:" not in text:
            text = text.replace("\nupstream:\n", "\nupstream:\n  settle: 3s\n", 1)
        if hasattr(self.side, "schema"):
            text = self.side.schema(text)
        path = self.folder / "schema.yaml"
        path.write_text(text)
        return path

    def credentials(self):
        """What the daemon is given: a token, unless it signs in by itself."""
        if hasattr(self.side, "credentials"):
            return self.side.credentials(self)
        self.write_token()
        return {"token_file": self.token}

    def write_token(self):
        fresh = self.folder / "token.new"
        fresh.write_text(self.server.KEY)
        fresh.chmod(0o600)
        fresh.replace(self.token)

    def keep_token(self, every):
        """Writes a new token now and then, as a job of the administrator would."""
        while not self.is_over.wait(every):
            self.server.another_token()
            self.write_token()

    def note(self, text):
        self.notes.append(text)

    # The parts

    def first_pull(self):
        there = {entity: len(self.side.rows(entity)) for entity in ENTITIES}
        self.await_true(lambda: {entity: self.count(entity) for entity in ENTITIES} == there,
                        lambda: f"the first pull did not bring everything: {there} there, "
                                f"{ {entity: self.count(entity) for entity in ENTITIES} } here; {self.status()}")
        self.compare("after the first pull")
        self.initial = {entity: set(self.side.keys(entity)) for entity in ENTITIES}

    def churn(self, number):
        """Edits, creations and deletions of both sides, lost answers, and a crash in the middle."""
        edits = self.random.sample(self.rows_here("orders"), 12)
        for count, record in enumerate(edits):
            if count == 3 and self.side.LOSES_ANSWERS:
                self.server.test("drop", times=3)
            if count == 6:
                self.family()
            if count == 8:
                self.daemon.kill()
                self.client.close()
                self.daemon.start(within=30)
                self.client = self.daemon.client()
            if count % 4 == 3:
                self.remove("orders", record)
            else:
                self.edit("orders", record)
        if self.side.LOSES_ANSWERS:
            self.server.test("drop", times=2, methods=[self.side.CREATES_BY])
        self.family()
        theirs = self.others()
        self.sent(f"round {number}")
        if left := [rule for rule in getattr(self.server, "drops", []) if rule["times"]]:
            raise Failed(f"round {number}: answers that should have been lost were not: {left}")
        self.arrived(theirs, f"after round {number}")
        self.compare(f"after round {number}")
        self.note(f"round {number}: both sides are equal")

    def edit(self, entity, record):
        self.number += 1
        self.touched.add((entity, str(self.key(record))))
        fields = self.random.choice((
            {"status": self.random.choice(("paid", "shipped", "open")), "note": f"Note {self.number} – naïve ☕"},
            {"total": Decimal(self.number * 100 + 25) / 100}, {"note": None}, {"note": f'"quoted" \\ {self.number} &=%+'},
            {"due_at": parse_time(f"2027-03-04T05:06:{self.number % 60:02}.500Z")}))
        self.ask("PATCH", f"/v1/{entity}/{self.key(record)}", self.side.values(entity, fields), 200)

    def remove(self, entity, record):
        self.ask("DELETE", f"/v1/{entity}/{self.key(record)}", None, 204)
        self.deleted.append((entity, str(self.key(record))))
        self.touched.add((entity, str(self.key(record))))

    def family(self):
        """A new customer with a new order with a new line: each waits for the one before."""
        self.number += 1
        customer = self.make("customers", {"name": f"New {self.number} Ünïcode", "email": f"n{self.number}@example.org"})
        order = self.make("orders", {"customer_id": customer, "number": f"N-{self.number}", "total": Decimal("12.50"),
                                     "status": "open", "note": None})
        self.make("lines", {"order_id": order, "label": f"New part {self.number}", "quantity": 2, "price": Decimal("0.10")})

    def make(self, entity, fields):
        body = {self.side.local[entity][name]: value if FIELDS[entity][name].startswith("->") else
                self.side.to_local(FIELDS[entity][name], value) for name, value in fields.items()}
        self.created[entity] += 1
        return self.key(self.ask("POST", f"/v1/{entity}", body, 201).json)

    def others(self):
        """What others do on the server; returns key -> what an incremental pull brings of it."""
        theirs = {}
        orders = [key for key in self.untouched("orders")]
        for key in self.random.sample(orders, 5):
            self.number += 1
            self.server.test("edit", entity="orders", id=key, fields={"note": f"Theirs {self.number}", "status": "paid"})
            theirs[str(key)] = {"note": f"Theirs {self.number}", "status": "paid"}
        gone = self.random.choice([key for key in self.untouched("orders")])
        self.server.test("delete", entity="orders", id=gone)
        theirs.pop(str(gone), None)
        customer = self.random.choice(self.untouched("customers"))
        made = self.server.test("create", entity="orders", fields={
            "customer_id": customer, "number": f"T-{self.number}", "total": "99.90", "status": "open"})
        theirs[str(made["id"])] = {"number": f"T-{self.number}", "status": "open"}
        return theirs

    def untouched(self, entity):
        """Keys, as the server has them, of first records that this side has not written to."""
        there = self.side.keys(entity)
        return [there[key] for key in sorted(self.initial[entity] & there.keys()) if (entity, key) not in self.touched]

    def refused(self):
        """A value that the server refuses: the failed change shows why, and is discarded."""
        entity, field, value, word = self.side.REFUSED
        record = self.random.choice(self.rows_here(entity))
        self.ask("PATCH", f"/v1/{entity}/{self.key(record)}", {self.side.local[entity][field]: value}, 200)

        def failed():
            return [change for change in self.ask("GET", "/v1/pending?state=failed").json["data"]]
        self.await_true(failed, lambda: f"nothing failed: {self.pending()}")
        change = failed()[0]
        message = change["error"]["message"]
        if word not in message or change["error"]["class"] != "refused":
            raise Failed(f"the text of the field is not in the failed change: {change['error']}")
        self.ask("DELETE", f"/v1/pending/{change['id']}", None, 204)
        self.note(f"refused: {message}")

    def limited(self):
        """Too many requests, then no service for a moment: the edit waits, uncounted, and arrives once."""
        self.server.test("answer", status=429, times=2, headers={"Retry-After": "1"}, body={"error": "too many requests"})
        record = self.random.choice(self.rows_here("orders"))
        self.edit("orders", record)
        self.sent("after 429")
        self.server.test("answer", status=503, times=2, headers={}, body={"error": "no service"})
        self.edit("orders", record)
        self.sent("after 503")

    def expired(self):
        """The token is no longer accepted, and the file has a new one: what was written meanwhile arrives."""
        self.server.renew()
        record = self.random.choice(self.rows_here("orders"))
        self.edit("orders", record)
        if not hasattr(self.side, "credentials"):
            self.write_token()
        self.sent("after the token expired")

    # Checking

    def arrived(self, theirs, when):
        """What others edited and created is here without a full pull. Deletions may need one."""
        absent = ["never asked"]

        def is_here():
            self.client.call("POST", "/v1/sync?wait=true", {})
            here = {str(self.key(record)): record for record in self.rows_here("orders")}
            rows = {key: self.side.row("orders", here[key]) if key in here else {} for key in theirs}
            absent[:] = [f"orders/{key}: {fields} is missing, here is {rows[key]}" for key, fields in theirs.items()
                         if any(rows[key].get(name) != value for name, value in fields.items())]
            return not absent
        self.await_true(is_here, lambda: f"{when}, without a full pull: {absent[0]}; {self.status()}")

    def compare(self, when):
        """Both sides are equal, field by field, after a full pull."""
        problem = ["never compared"]

        def equal():
            self.client.call("POST", "/v1/sync?wait=true", {"full": True})
            problem[0] = self.difference()
            return not problem[0]
        self.await_true(equal, lambda: f"{when}: {problem[0]}; {self.status()}")

    def difference(self):
        for entity in ENTITIES:
            there, here = self.side.rows(entity), {str(self.key(record)): record for record in self.rows_here(entity)}
            for key in there.keys() | here.keys():
                if key not in here or key not in there:
                    return f"{entity}/{key} is only {'there' if key in there else 'here'}: {there.get(key) or here.get(key)}"
                row = self.side.row(entity, here[key])
                for name, value in there[key].items():
                    if row[name] != value:
                        return f"{entity}/{key}: {name} is {value!r} there and {row[name]!r} here: {here[key]}"
                if here[key]["_sync"]["state"] != "synced":
                    return f"{entity}/{key} is {here[key]['_sync']}"
        return None

    def exactly_once(self):
        ours = [(operation, entity, key) for who, operation, entity, key in self.server.store.applied if who == "api"]
        made = Counter(entity for operation, entity, _ in ours if operation == "create")
        if made != self.created:
            raise Failed(f"created {dict(self.created)} here, {dict(made)} arrived")
        deleted = sorted((entity, str(key)) for operation, entity, key in ours if operation == "delete")
        if deleted != sorted(self.deleted):
            raise Failed(f"deleted {sorted(self.deleted)} here, {deleted} arrived")
        self.note(f"exactly once: {sum(made.values())} creations, {len(deleted)} deletions, "
                  f"{sum(operation == 'update' for operation, *_ in ours)} updates")

    def no_conflicts(self):
        if conflicts := self.ask("GET", "/v1/conflicts").json["data"]:
            raise Failed(f"a conflict without need: {conflicts[0]}")

    # Signals

    def prompt(self, changes):
        """Each change is here soon after its signal: pairs of what makes and signals it, and what is true then. Nothing is
        polled meanwhile; the interval must be an hour."""
        times = []
        for make, is_here in changes:
            make()
            began = time.monotonic()
            while not is_here():
                if time.monotonic() - began > SIGNAL_MOST_S:
                    raise Failed(f"a change there was not here {SIGNAL_MOST_S} s after its signal: "
                                 f"{self.ask('GET', '/v1/status').json['signals']}\n{self.daemon.log()}")
                time.sleep(0.02)
            times.append(time.monotonic() - began)
        half = sorted(times)[(len(times) - 1) // 2]
        shown = f"half within {half * 1000:.0f} ms, all within {max(times) * 1000:.0f} ms"
        if half > SIGNAL_S:
            raise Failed(f"changes there were here too long after their signals: {shown}")
        self.note(f"signals: {len(times)} changes there were here, {shown}")

    # Asking

    def key(self, record):
        return record[self.side.key_field]

    def rows_here(self, entity):
        rows, cursor = [], ""
        while True:
            answer = self.ask("GET", f"/v1/{entity}?limit=1000{cursor}").json
            rows += answer["data"]
            if not answer["next"]:
                return rows
            cursor = f"&cursor={answer['next']}"

    def count(self, entity):
        return self.ask("GET", f"/v1/{entity}?count=true&limit=1").json["total"]

    def ask(self, method, path, body=None, status=200):
        answer = self.client.call(method, path, body)
        if answer.status != status:
            raise Failed(f"{method} {path} was answered with {answer.status}: {answer.body.decode(errors='replace')}")
        return answer

    def sent(self, when):
        self.await_true(lambda: self.ask("GET", "/v1/pending/count").json == {"pending": 0, "failed": 0},
                        lambda: f"{when}: the queue did not empty: {self.pending()}")

    def pending(self):
        return [{name: change[name] for name in ("entity", "operation", "state", "error", "request")}
                for change in self.ask("GET", "/v1/pending?limit=3").json["data"]]

    def status(self):
        status = self.ask("GET", "/v1/status").json
        return {"state": status["state"], "error": status["error"], "held": {
            name: entity["held"] or entity["error"] for name, entity in status["entities"].items()}}

    def await_true(self, condition, complaint):
        def holds():
            try:
                return condition()
            except Unanswered:
                return False
        await_true(lambda: self.daemon.is_running and holds(), WITHIN_S, lambda: f"{complaint()}\n{self.daemon.log()}")


__all__ = ["PARENTS", "Failed", "Side", "Story", "temporary_folder"]
