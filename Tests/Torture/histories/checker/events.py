"""The format of a history: JSON Lines, one event a line, in any order.

Events of callers have `by` (the caller, one operation at a time), `at` (a daemon, or "upstream"), `start` and `end`
(integers of one clock, of any unit) and `outcome`: `ok`, `fail` (surely not done) or `unknown` (no answer arrived).

| op | members |
| --- | --- |
| create | entity, values, id (if answered), seen |
| write | entity, id, values, if_match, tag, seen |
| delete | entity, id, if_match |
| read | entity, id, seen (null: no such record), tag |
| list | entity, seen (a list of records), complete (true: no other record of the entity exists) |

`values` are the fields written, each with a value that no other event writes. `seen` is the record in the answer: its
`id`, and the fields that were looked at; null stands for an empty field. `tag` is the ETag of what was seen.

Events of the test itself:

| op | members |
| --- | --- |
| initial | entity, seen: records before the first operation |
| down | at, start: the daemon has ended; what it had not done by now, it never does |
| rename | entity, from, to: both ids are one record |
| conflict | entity, id, field (null: the record), local, server, winner (null: not decided) |
| discard | entity, id, values: changes that a person threw away |
| allow | name: a violation that is known and not to be reported (`two-copies` only) |
| final | at, start, end, entity, seen, round, waiting (number of changes) |

A final state is everything that a daemon or the upstream holds while nothing is in flight; those of one `round` must be
equal.
"""
import json

CALLS = {"create": {"values"}, "write": {"id", "values"}, "delete": {"id"}, "read": {"id", "seen"}, "list": {"seen"}}
NOTES = {"initial": {"entity", "seen"}, "down": {"at", "start"}, "rename": {"entity", "from", "to"},
         "conflict": {"entity", "id", "field", "local", "server", "winner"}, "discard": {"entity", "id", "values"},
         "allow": {"name"},
         "final": {"at", "start", "end", "entity", "seen"}}
OUTCOMES = ("ok", "fail", "unknown")


class InvalidHistory(Exception):
    """The file is not a history, or its writes cannot be told apart."""


def read_events(path):
    """Returns the events, each with its `line`. A last line without an end is left out: the test died writing it."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    events = []
    for number, line in enumerate(lines[:-1], 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            event = json.loads(line)
        except ValueError as error:
            raise InvalidHistory(f"line {number}: {error}") from None
        event["line"] = number
        events.append(event)
    return events


def validate(event):
    """Raises `InvalidHistory` if a member is missing or makes no sense."""
    op = event.get("op")
    needed = CALLS.get(op) or NOTES.get(op)
    if needed is None:
        raise InvalidHistory(f"line {event['line']}: unknown op {op!r}")
    if op in CALLS:
        needed = needed | {"by", "at", "start", "end", "outcome", "entity"}
        if event.get("outcome") == "unknown" and op in ("read", "list"):
            needed = needed - {"seen"}
        if event.get("outcome") == "fail":
            needed = needed - {"seen"}
        if event.get("outcome") not in OUTCOMES:
            raise InvalidHistory(f"line {event['line']}: the outcome is {event.get('outcome')!r}")
    missing = sorted(needed - event.keys())
    if missing:
        raise InvalidHistory(f"line {event['line']}: {op} without {', '.join(missing)}")
    if "end" in needed and event["start"] > event["end"]:
        raise InvalidHistory(f"line {event['line']}: ends before it starts")
