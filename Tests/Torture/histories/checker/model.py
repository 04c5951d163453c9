"""The operations of a history, as transactions over registers."""
from collections import defaultdict

from .events import CALLS, InvalidHistory, validate
from .identity import identify
from .violation import Violation

EXISTS = "*"  # the register that says whether the record exists
UNBORN, ALIVE, DELETED = "not there yet", "there", "deleted"
FOREVER = float("inf")
UPSTREAM = "upstream"


class Operation:
    """What one call, or one look of the test, read and wrote. Registers are (record, field)."""

    def __init__(self, event):
        self.line, self.kind, self.by, self.at = event["line"], event["op"], event.get("by"), event["at"]
        self.start, self.end = event["start"], event["end"]
        self.outcome = event.get("outcome", "ok")
        self.event = event
        self.reads, self.writes = {}, {}

    def __repr__(self):
        return f"line {self.line}"


class History:
    """Everything the checks need to know about a history."""

    def __init__(self, events):
        self.violations = []
        for event in events:
            validate(event)
        self.events = events
        self.identity = identify(events)
        for name, place, story, lines in self.identity.violations:
            self.report(name, place, story, lines)
        self.confused = self.identity.confused
        self.operations = []
        self.refused = {}  # (register, value): the operation
        self.writers = {}  # (register, value): the operation; without one it is an initial value
        self.initial = {}  # register: value before the first operation, where it is known
        self.deletions = defaultdict(list)  # record: operations
        self.conflicts = defaultdict(list)  # register: events
        self.discarded = set()  # records
        self.known = set()  # records that the history has the beginning of
        self.allowed = {event["name"] for event in events if event["op"] == "allow"}
        self._doubled = set()
        self._last_own, self._first_renamed = {}, {}  # (daemon, record): time
        self.blamed = set()  # records with a violation that explains others
        self._downs = defaultdict(list)
        for event in events:
            if event["op"] == "down":
                self._downs[event["at"]].append(event["start"])
        self._add_notes()
        self._find_own_ids()
        self._add_operations()
        self._drop_unseen()
        self.required = self._required_versions()
        self.nodes = sorted({operation.at for operation in self.operations})

    def report(self, name, place, story, lines=()):
        self.violations.append(Violation(name, place, list(story), tuple(dict.fromkeys(lines))))

    def place(self, register):
        record, field = register
        return self.identity.name(record) + ("" if field == EXISTS else f", {field}")

    def record(self, event, id):
        return self.identity.record(event["entity"], id)

    # Building

    def _add_notes(self):
        for event in self.events:
            if event["op"] == "initial":
                for seen in event["seen"]:
                    self._begin(self.record(event, seen["id"]), seen)
            elif event["op"] == "conflict":
                record = self.record(event, event["id"])
                self.conflicts[record, event["field"] or EXISTS].append(event)
            elif event["op"] == "discard":
                self.discarded.add(self.record(event, event["id"]))

    def _begin(self, record, values):
        self.known.add(record)
        self.initial[record, EXISTS] = ALIVE
        for field, value in values.items():
            if field != "id":
                self.initial[record, field] = plain(value)

    def _add_operations(self):
        order = sorted((event for event in self.events if event["op"] in CALLS or event["op"] == "final"),
                       key=lambda event: (event["start"], event["end"]))
        made = [(Operation(event), event) for event in order]
        for operation, event in made:
            self._add_writes(operation, event)
        for operation, event in made:
            if operation.outcome == "ok" and "seen" in event:
                self._add_reads(operation, event)
            if operation.outcome != "fail":
                self.operations.append(operation)

    def _add_writes(self, operation, event):
        if operation.kind not in ("create", "write", "delete"):
            return
        if operation.outcome == "unknown":
            # What a daemon has not done when it ends, it never does.
            downs = [down for down in self._downs[operation.at] if down >= operation.start]
            operation.end = min(downs, default=FOREVER)
        record = self._written_record(event)
        if record is None or record in self.confused:
            return  # if there is none, its outcome is unknown, and nobody has seen it
        if operation.kind == "delete":
            if operation.outcome != "fail":
                operation.writes[record, EXISTS] = DELETED
                self.deletions[record].append(operation)
            return
        if operation.kind == "create":
            self.known.add(record)
            if operation.outcome != "fail":
                operation.writes[record, EXISTS] = ALIVE
                self.writers[(record, EXISTS), ALIVE] = operation
        for field, value in event["values"].items():
            register, value = (record, field), plain(value)
            if operation.outcome == "fail":
                self.refused[register, value] = operation
                continue
            if value is None and operation.kind == "create":
                continue
            if value is None or (register, value) in self.writers or self.initial.get(register) == value:
                raise InvalidHistory(f"line {operation.line}: {field}={short(value)} is not unique")
            operation.writes[register] = value
            self.writers[register, value] = operation

    def _written_record(self, event):
        if event.get("id") is not None:
            return self.record(event, event["id"])
        line = event["line"]
        return next((record for record, created in self.identity.creations.items() if created == line), None)

    def _add_reads(self, operation, event):
        seen = event["seen"]
        if isinstance(seen, dict):
            id = event["id"] if event.get("id") is not None else seen["id"]
            self._see(operation, self.record(event, id), seen)
        elif seen is None:
            self._miss(operation, self.record(event, event["id"]))
        else:
            there = set()
            for values in seen:
                record = self.record(event, values["id"])
                there.add(record)
                self._see(operation, record, values)
            if event.get("complete") or event["op"] == "final":
                for record in self.known:
                    if record not in there and record[0] == event["entity"]:
                        self._miss(operation, record)

    def _see(self, operation, record, values):
        if record in self.confused or self._is_second_copy(operation, record, values["id"]):
            return
        operation.reads[record, EXISTS] = ALIVE
        for field, value in values.items():
            if field != "id":
                operation.reads[record, field] = plain(value)

    def _find_own_ids(self):
        """Finds when daemons showed records that were created there under their own ids last, and under the upstream's
        in an answer about their own."""
        for event in self.events:
            shown = event.get("seen") or []
            for values in shown if isinstance(shown, list) else [shown]:
                if "at" not in event:
                    continue
                key = (event["at"], self.record(event, values["id"]))
                own = self._own_ids(key[1])
                if values["id"] in own:
                    self._last_own[key] = max(self._last_own.get(key, 0), event["start"])
                elif event.get("id") in own:
                    self._first_renamed[key] = min(self._first_renamed.get(key, FOREVER), event["end"])

    def _own_ids(self, record):
        return self.identity.local_ids.get(self.identity.creations.get(record), ())

    def _is_second_copy(self, operation, record, id):
        """Whether this is the upstream's copy of a record that is still shown under the daemon's own id."""
        key = (operation.at, record)
        own = self._own_ids(record)
        if not own or id in own or operation.event.get("id") in own or operation.at == UPSTREAM:
            return False
        if "two-copies" in self.allowed:  # it may be one, unless the daemon has said that both ids are one record
            return key in self._last_own and operation.start <= self._first_renamed.get(key, FOREVER)
        last = self._last_own.get(key)
        if last is None or operation.start > last:
            return False
        if record not in self._doubled and (operation.end < last or operation.start == last):
            self._doubled.add(record)
            self.report("two-copies", self.identity.name(record),
                        [f"line {operation.line}: {operation.by or 'the test'} at {operation.at} saw it as {id}",
                         "it was seen under its own id at the same time or later"], (operation.line,))
        return True

    def _miss(self, operation, record):
        if record not in self.confused:
            operation.reads[record, EXISTS] = None  # `_drop_unseen` finds out: not there yet, or deleted

    def _drop_unseen(self):
        """Drops writes without an answer that left no trace, and tells the two kinds of absence apart."""
        met = defaultdict(lambda: FOREVER)  # (register, value): when it was first known at a daemon
        for operation in self.operations:
            for register, value in [*operation.reads.items(), *operation.writes.items()]:
                if value is not None or register[1] != EXISTS:
                    key = (operation.at, register, value)
                    met[key] = min(met[key], operation.end)
        seen = set()
        for operation in self.operations:
            for register, value in list(operation.reads.items()):
                if value is None and register[1] == EXISTS:
                    value = self._absence(operation, register[0], met[operation.at, register, ALIVE])
                    if value is None:
                        del operation.reads[register]
                        continue
                    operation.reads[register] = value
                seen.add((register, value))
        self.operations = [operation for operation in self.operations
                           if operation.outcome == "ok" or self._has_left_traces(operation, seen)]

    def _absence(self, operation, record, met):
        """Why a record was not found; None if it may have been deleted, or not have arrived yet."""
        may_be_deleted = any(deletion.start < operation.end for deletion in self.deletions[record])
        was_there = met < operation.start or any(
            deletion.at == operation.at and deletion.end < operation.start for deletion in self.deletions[record])
        if may_be_deleted:
            return DELETED if was_there else None
        return UNBORN

    def _has_left_traces(self, operation, seen):
        if operation.kind == "delete":  # several deletions cannot be told apart: believe those that were answered
            record = next(iter(operation.writes), (None,))[0]
            return ((record, EXISTS), DELETED) in seen and self.deletions[record] == [operation]
        return any(item in seen for item in operation.writes.items())


    def _required_versions(self):
        """{(operation, register): the value that it replaced}, for writes with `if_match`."""
        shown = {}
        for operation in self.operations:
            if operation.event.get("tag") is not None:
                for register, value in [*operation.reads.items(), *operation.writes.items()]:
                    shown[operation.at, register, operation.event["tag"]] = value
        keys = ((operation, register, (operation.at, register, operation.event.get("if_match")))
                for operation in self.operations for register in operation.writes if register[1] != EXISTS)
        return {(operation, register): shown[key] for operation, register, key in keys if key in shown}


def plain(value):
    """A value that can be a key of a dictionary."""
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)


def short(value):
    if value is None:
        return "nothing"
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}…"


def describe(operation, register=None):
    """The operation in words, with what it read and wrote in the register."""
    who = f"line {operation.line}: {operation.by or 'the test'} at {operation.at}"
    verb = {"create": "created", "write": "wrote", "delete": "deleted", "read": "read", "list": "listed",
            "final": "finally held"}[operation.kind]
    if register is None:
        parts = [f"{field}={short(value)}" for (_, field), value in operation.writes.items() if field != EXISTS]
        return " ".join([who, verb, *parts[:3]])
    field = "the record" if register[1] == EXISTS else register[1]
    did = []
    if register in operation.writes:
        did.append(f"wrote {field}: {short(operation.writes[register])}")
    elif register in operation.reads:
        did.append(f"saw {field}: {short(operation.reads[register])}")
    return f"{who} {' and '.join(did) or verb}"
