"""Records what callers do and see as a history, one JSON line for each operation, and runs the checker on it.

`histories/checker/events.py` describes the format. Nothing of the daemon's is needed to write it, so it survives any
end of the daemon.
"""
import hashlib
import json
import os
import shutil
import threading
import time
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from histories.checker import InvalidHistory, check

from .client import Client, Unanswered
from .programs import ROOT, Failed

FIELDS = {"notes": ("text", "one", "two", "three"), "photos": ("caption",)}
UNFILTERED = {"limit", "sort", "count"}
LONGEST = 60
MOST_OF_LIST = 20  # records, unless the list is the whole entity: a part of a snapshot is one too
# What the daemon is known to do (docs/reliability.md, known limits).
ALLOWED = ["two-copies"]


checked = Counter()  # figures of all histories of this run, for `topic.main`


class History:
    """Shared by all callers of a test. A history is checked at the end of a round, and the next one begins with the
    state that both sides have reached. It leaves out the records that a round does not touch."""

    def __init__(self, folder, upstream, name):
        self.path = Path(folder) / "history.jsonl"
        self.name = name
        self.upstream = upstream
        self.lock = threading.Lock()
        self.callers = self.round = 0
        self.conflicts = set()  # those of earlier rounds
        self.renamed = {}  # (entity, id asked for): id in the answer
        self.before = {entity: self._records_upstream(entity) for entity in FIELDS}
        self._begin()
        upstream.history = self

    def _begin(self):
        self.file = open(self.path, "wb", buffering=0)
        self.touched = set()  # (entity, id)
        for name in ALLOWED:
            self.write(op="allow", name=name)

    @staticmethod
    def now():
        return time.monotonic_ns()

    def write(self, **event):
        line = json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n"
        shown = event.get("seen") or []
        ids = {event.get("id"), *(record["id"] for record in (shown if isinstance(shown, list) else [shown]))} - {None}
        with self.lock:
            if self.file.closed:
                return
            self.file.write(line.encode())
            self.touched.update((event.get("entity"), id) for id in ids)
            checked["events"] += 1

    def caller(self):
        with self.lock:
            self.callers += 1
            return f"c{self.callers}"

    def client(self, address, timeout, at):
        return RecordedClient(self, address, timeout, at)

    def down(self, at):
        """The daemon has ended: what it had not done is never done."""
        self.write(op="down", at=at, start=self.now())

    def by_person(self, op, entity, id, values, body):
        """Runs `body`, which creates, changes or reads a record upstream, and records it."""
        start = self.now()
        record = body()
        written = {field: short(value) for field, value in values.items() if field in FIELDS[entity]}
        self.write(op=op, by="person", at="upstream", start=start, end=self.now(), outcome="ok", entity=entity,
                   id=id or record["id"], **({"values": written} if values else {}), seen=seen(entity, record))
        return record

    # Rounds

    def end_round(self, *daemons):
        """Records the final states and checks the history; call it when nothing is queued or in flight."""
        held, waiting = {}, {}
        for daemon in daemons:
            client = Client(daemon.socket)
            for _ in range(2):  # the first may only wait for a sync that has begun before the last change upstream
                client.call("POST", "/v1/sync?wait=true", {})
            self._write_conflicts(client, daemon.name)
            waiting[daemon.name] = sum(client.get("/v1/pending/count").json.values())
            for entity in FIELDS:
                held[daemon.name, entity] = self._timed(lambda: by_id(entity, everything(client, entity)))
            client.close()
        for entity in FIELDS:
            held["upstream", entity] = self._timed(lambda: self._records_upstream(entity))
        self._write_states(held, waiting)
        self.file.close()
        self._check()
        self.before = {entity: held["upstream", entity][2] for entity in FIELDS}
        self.round += 1
        self._begin()

    def _timed(self, read):
        start = self.now()
        records = read()
        return start, self.now(), records

    def _records_upstream(self, entity):
        return by_id(entity, self.upstream.records(entity))

    def _write_states(self, held, waiting):
        """Writes what the touched records, and those that have changed, were at the beginning and are now."""
        for touched in list(self.touched):
            if new := self.renamed.get(touched):
                self.write(op="rename", entity=touched[0], **{"from": touched[1], "to": new})
                self.touched.add((touched[0], new))
        for (_, entity), (_, _, records) in held.items():
            before = self.before[entity]
            self.touched.update((entity, id) for id in before.keys() | records.keys()
                                if before.get(id) != records.get(id))
        for entity, records in self.before.items():
            self.write(op="initial", entity=entity, seen=self._only_touched(entity, records))
        for (at, entity), (start, end, records) in held.items():
            self.write(op="final", at=at, start=start, end=end, entity=entity, round=self.round,
                       seen=self._only_touched(entity, records), waiting=waiting.get(at, 0))

    def _only_touched(self, entity, records):
        return [record for id, record in records.items() if (entity, id) in self.touched]

    def _write_conflicts(self, client, at):
        for conflict in pages(client, "/v1/conflicts?limit=100"):
            if conflict["entity"] not in FIELDS:
                continue
            is_undone = conflict["undone_at"] is not None
            mark = (at, conflict["id"], conflict["at"], conflict["winner"], is_undone)
            if mark not in self.conflicts:
                self.conflicts.add(mark)
                self.write(op="conflict", at=at, entity=conflict["entity"], id=conflict["record_id"],
                           field=conflict["field"], local=short(conflict["local"]), server=short(conflict["server"]),
                           winner=conflict["winner"], undone=is_undone)

    def _check(self):
        began = time.monotonic()
        kept = Path(os.environ.get("TORTURE_HISTORY") or ROOT / ".build" / "torture" / "histories")
        kept = kept / f"{self.name.replace(' ', '-')}-{self.round}.jsonl"
        try:
            found = [str(violation) for violation in check(self.path)]
        except InvalidHistory as error:
            found = [f"not a history: {error}"]
        checked.update(histories=1, milliseconds=round(1000 * (time.monotonic() - began)))
        if found or os.environ.get("TORTURE_HISTORY"):
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.path, kept)
        if found:
            raise Failed("\n".join([f"the history is not causal; Tests/Torture/histories/check {kept}", *found[:5]]))

    def close(self):
        self.file.close()


class RecordedClient(Client):
    """A caller whose reads and writes of records are recorded."""

    def __init__(self, history, address, timeout, at):
        super().__init__(address, timeout)
        self.history, self.at = history, at
        self.by = history.caller()

    def call(self, method, path, body=None, headers=None):
        event = described(method, path, body, headers)
        if event is None:
            return super().call(method, path, body, headers)
        event = {"op": event.pop("op"), "by": self.by, "at": self.at, "start": self.history.now(), **event}
        try:
            answer = super().call(method, path, body, headers)
        except Unanswered:
            if event["op"] not in ("read", "list"):
                self.history.write(**event, end=self.history.now(), outcome="unknown")
            raise
        event["end"] = self.history.now()
        finish(event, answer)
        self.history.write(**event)
        if isinstance(event.get("seen"), dict) and event["seen"]["id"] != event["id"]:
            self.history.renamed[event["entity"], event["id"]] = event["seen"]["id"]
        return answer


def described(method, path, body, headers):
    """The event of a call, without its times and outcome; None for a call that is not recorded."""
    parts = urlsplit(path)
    steps = parts.path.removeprefix("/v1/").split("/")
    query = parse_qs(parts.query)
    if not parts.path.startswith("/v1/") or steps[0] not in FIELDS:
        return None
    event = {"entity": steps[0], **({"id": steps[1]} if len(steps) > 1 else {})}
    if method == "GET" and "fields" not in query:
        if len(steps) == 1:
            return {"op": "list", **event, "is_complete": query.keys() <= UNFILTERED}
        if steps[2:] in ([], ["content"]):
            return {"op": "read", **event, "is_content": len(steps) > 2}
        return None
    if steps[2:] == ["content"] and method == "PUT":
        return {"op": "write", **event, "values": {"content": digest(body)}}
    if len(steps) > 2 or isinstance(body, bytes):
        return None
    op = {("POST", 1): "create", ("PATCH", 2): "write", ("DELETE", 2): "delete"}.get((method, len(steps)))
    if op is None:
        return None
    if op != "delete":
        event["values"] = {field: short(value) for field, value in body.items() if field in FIELDS[steps[0]]}
    if headers and "If-Match" in headers:
        event["if_match"] = headers["If-Match"]
    return {"op": op, **event}


def finish(event, answer):
    """Adds the outcome, and what the answer shows."""
    entity = event["entity"]
    is_complete, is_content = event.pop("is_complete", False), event.pop("is_content", False)
    is_read = event["op"] in ("read", "list")
    if answer.status >= 300:
        event["outcome"] = "fail" if answer.status < 500 or answer.status == 503 else "unknown"
        if event["op"] == "read" and not is_content and answer.status in (404, 410) and answer.is_problem:
            event.update(outcome="ok", seen=None)
        elif is_read:
            event["outcome"] = "fail"
        return
    event["outcome"] = "ok"
    if event["op"] == "list":
        page = answer.json
        event["complete"] = is_complete and page["next"] is None and page.get("complete", True)
        shown = page["data"] if event["complete"] else page["data"][:MOST_OF_LIST]
        event["seen"] = [seen(entity, record) for record in shown]
    elif is_content:
        event["seen"] = {"id": event["id"], "content": digest(answer.body)}
    elif event["op"] != "delete":
        record = answer.json
        event.update(seen=seen(entity, record), tag=answer.headers.get("etag"))
        event.setdefault("id", record["id"])


def seen(entity, record):
    return {"id": record["id"], **{field: short(record.get(field)) for field in FIELDS[entity]}}


def by_id(entity, records):
    return {record["id"]: seen(entity, record) for record in records}


def short(value):
    """A value that fits into a line; long ones keep their beginning, their length and a digest."""
    if not isinstance(value, str) or len(value) <= LONGEST:
        return value
    return f"{value[:30].rstrip('.')} ({len(value)}, {digest(value.encode())})"


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def pages(client, path):
    """All items of a paged list."""
    cursor = None
    while True:
        page = client.get(path + (f"&cursor={cursor}" if cursor else "")).json
        yield from page["data"]
        cursor = page["next"]
        if not cursor:
            return


def everything(client, entity):
    return list(pages(client, f"/v1/{entity}?limit=1000"))
