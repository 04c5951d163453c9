"""Breaks a good history in one way that a rule forbids; the checker must name it.

Each breaker changes the events in place and returns the names that may be reported, or None if this history has no
place for it. `random` chooses the place.
"""
from generator import FIELDS

STALE = {"read-your-writes", "monotonic-reads", "stale-read"}


def _answered(events, *kinds):
    return [event for event in events if event["op"] in kinds and event.get("outcome") == "ok"]


def _records(event):
    seen = event.get("seen")
    return seen if isinstance(seen, list) else [seen] if seen else []


def _local(events):
    return [event for event in events if event.get("at") != "upstream" and event["op"] in ("read", "list", "write")
            and event.get("outcome") == "ok" and event.get("seen")]


def _has_conflict(events, field):
    return any(event["op"] == "conflict" and event["field"] in (field, None) for event in events)


def _sightings(events):
    """Yields (read, its record, field, the write it saw), where both were at one daemon."""
    writes = {value: event for event in _answered(events, "write") for value in event["values"].values()}
    for event in _local(events):
        for record in _records(event):
            for field in FIELDS:
                write = writes.get(record.get(field))
                if write is not None and write is not event and write["at"] == event["at"] and (
                        event["op"] != "write" or field not in event["values"]):
                    yield event, record, field, write


def _choose(random, items):
    items = list(items)
    return random.choice(items) if items else None


def _older(events, write, id, field):
    """A value that the daemon showed before the write, for the record with an id; a list of one or none."""
    found = [record[field] for event in _local(events) if event["at"] == write["at"] and event["end"] < write["start"]
             for record in _records(event) if record["id"] == id and field in record]
    return found[-1:]


def stale_read(events, random):
    choices = [(record, field, older, read, write) for read, record, field, write in _sightings(events)
               if write["end"] < read["start"] for older in _older(events, write, record["id"], field)]
    chosen = _choose(random, choices)
    if not chosen:
        return None
    record, field, older, read, write = chosen
    record[field] = older
    return {"read-your-writes"} if read["by"] == write["by"] else STALE


def unknown_value(events, random):
    chosen = _choose(random, _sightings(events))
    if chosen:
        chosen[1][chosen[2]] = "from nowhere"
        return {"unknown-value"}


def foreign_value(events, random):
    chosen = _choose(random, _sightings(events))
    others = [value for event in _answered(events, "write") for field, value in event["values"].items()
              if chosen and field != chosen[2]]
    if others:
        chosen[1][chosen[2]] = random.choice(others)
        return {"foreign-value"}


def refused_write(events, random):
    chosen = _choose(random, _sightings(events))
    if chosen:
        chosen[3].update(outcome="fail")
        return {"refused-write-visible"}


def read_before_write(events, random):
    choices = [(record, field, write) for write in _answered(events, "write") for field in write["values"]
               for read in _local(events) if read["end"] < write["start"] and read["op"] != "write"
               for record in _records(read) if write.get("seen") and record["id"] == write["seen"]["id"]]
    chosen = _choose(random, choices)
    if chosen:
        record, field, write = chosen
        record[field] = write["values"][field]
        return {"read-before-write"}


def half_applied(events, random):
    choices = [(record, field, older) for _, record, field, write in _sightings(events)
               if len(write["values"]) > 1
               and all(record.get(other) == value for other, value in write["values"].items())
               for older in _older(events, write, record["id"], field)]
    chosen = _choose(random, choices)
    if chosen:
        record, field, older = chosen
        record[field] = older
        return STALE | {"half-applied-write", "dependency-cycle"}


def lost_update(events, random):
    writes = _answered(events, "write")
    chosen = _choose(random, [(one, other) for one in writes for other in writes
                              if one is not other and "if_match" in one and one["at"] == other["at"]
                              and one["seen"] and other["seen"] and one["seen"]["id"] == other["seen"]["id"]])
    if chosen:
        chosen[1]["if_match"] = chosen[0]["if_match"]
        return {"lost-update"}


def own_write_missing(events, random):
    chosen = _choose(random, [event for event in _answered(events, "write") if event.get("seen")])
    if chosen:
        chosen["seen"][random.choice(list(chosen["values"]))] = None
        return {"own-write-not-in-answer"}


def _final_writes(events):
    """Yields (field, value) of acknowledged writes that are final everywhere, without a conflict."""
    finals = [record for event in events if event["op"] == "final" for record in event["seen"]]
    for write in _answered(events, "write"):
        for field, value in write["values"].items() if write["at"] != "upstream" else ():
            if not _has_conflict(events, field) and any(record.get(field) == value for record in finals):
                yield field, value


def lost_write(events, random):
    chosen = _choose(random, _final_writes(events))
    if not chosen:
        return None
    field, value = chosen
    for event in events:
        for record in _records(event) if event["op"] == "final" else ():
            if record.get(field) == value:
                record[field] = None
    return {"lost-write"}


def not_converged(events, random):
    chosen = _choose(random, _final_writes(events))
    if not chosen:
        return None
    field, value = chosen
    for event in events:
        for record in _records(event) if event["op"] == "final" and event["at"] == "upstream" else ():
            if record.get(field) == value:
                record[field] = None
    return {"not-converged"}


def _kept_creations(events):
    """Local creations of records that nobody deleted, with the record as the daemon's answer showed it."""
    deleted = {event["id"] for event in events if event["op"] == "delete"}
    names = {}
    for event in events:
        for record in _records(event):
            names.setdefault(record.get("text"), set()).add(record["id"])
    return [event for event in _answered(events, "create") if not names[event["values"]["text"]] & deleted]


def doubled_creation(events, random):
    created = {event["values"]["text"] for event in _answered(events, "create")}
    choices = [(event, record) for event in events if event["op"] == "final" and event["at"] == "upstream"
               for record in event["seen"] if record["text"] in created]
    chosen = _choose(random, choices)
    if chosen:
        chosen[0]["seen"].append({**chosen[1], "id": "again"})
        return {"doubled-creation"}


def merged_creations(events, random):
    made = _answered(events, "create")
    reads = [event for event in _answered(events, "read") if event["seen"]]
    chosen = _choose(random, [(read, one, other) for read in reads for one in made for other in made
                              if one is not other and read["id"] == one["id"]
                              and read["at"] == one["at"] == other["at"]])
    if chosen:
        chosen[0]["seen"]["id"] = chosen[2]["id"]
        return {"merged-creations"}


def vanished_record(events, random):
    creations = {event["id"]: event for event in _kept_creations(events)}
    chosen = _choose(random, [read for read in _answered(events, "read") if read["seen"] and read["id"] in creations
                              and creations[read["id"]]["end"] < read["start"]
                              and creations[read["id"]]["at"] == read["at"]])
    if chosen and not _has_conflict(events, None):
        chosen["seen"] = None
        return {"vanished-record"}


def lost_creation(events, random):
    chosen = _choose(random, _kept_creations(events))
    if not chosen or _has_conflict(events, None):
        return None
    count = 0
    for event in events:
        if event["op"] == "final":
            kept = [record for record in event["seen"] if record["text"] != chosen["values"]["text"]]
            count += len(event["seen"]) - len(kept) if event["start"] > chosen["end"] else 0
            event["seen"] = kept
    return {"lost-creation"} if count else None


def _deletions(events):
    """Yields (deletion, the record as it was seen before)."""
    for deletion in _answered(events, "delete"):
        seen = [event["seen"] for event in _answered(events, "read", "create", "write") if event.get("seen")
                and event.get("id") == deletion["id"] and event["at"] == deletion["at"]
                and event["end"] < deletion["start"]]
        if seen and not _has_conflict(events, None):
            yield deletion, seen[-1]


def returned_record(events, random):
    choices = [(read, record) for deletion, record in _deletions(events) for read in _answered(events, "read")
               if read["id"] == deletion["id"] and read["at"] == deletion["at"] and read["start"] > deletion["end"]]
    chosen = _choose(random, choices)
    if chosen:
        chosen[0]["seen"] = {**chosen[1]}
        return {"deleted-record-returned"}


def lost_deletion(events, random):
    choices = [(event, record) for deletion, record in _deletions(events) for event in events
               if event["op"] == "final" and event["at"] == "upstream" and event["start"] > deletion["end"]]
    chosen = _choose(random, choices)
    if chosen:
        event, record = chosen
        there = [other["id"] for look in events if look.get("at") == "upstream"
                 for other in _records(look) if other["text"] == record["text"]]
        event["seen"].append({**record, "id": (there or [record["id"]])[0]})
        return {"lost-deletion"}


def overtaken_write(events, random):
    """The upstream shows a daemon's write and not the one before it, to another field of the record."""
    writes = [event for event in _answered(events, "write") if event["at"] != "upstream" and event.get("seen")]
    looks = [event for event in _answered(events, "list") if event["at"] == "upstream"]
    pairs = [(first, second) for first in writes for second in writes
             if first["at"] == second["at"] and first["end"] < second["start"]
             and first["seen"]["id"] == second["seen"]["id"]
             and not set(first["values"]) & set(second["values"])]
    choices = [(record, field) for first, second in pairs for look in looks for record in look["seen"]
               if record["id"] == first["seen"]["id"]
               and any(record.get(field) == value for field, value in second["values"].items())
               for field, value in first["values"].items()
               if record[field] == value and not _has_conflict(events, field)]
    chosen = _choose(random, choices)
    if chosen:
        chosen[0][chosen[1]] = None
        return {"overtaken-write", "stale-read"}


def invented_conflict(events, random):
    """The daemon takes the value that it showed before an edit for a new one of the upstream."""
    choices = [(write, field, older) for write in _answered(events, "write") if write["at"] != "upstream"
               for field in write["values"] for older in _older(events, write, write["seen"]["id"], field) if older]
    chosen = _choose(random, choices)
    if chosen:
        write, field, older = chosen
        events.append({"op": "conflict", "at": write["at"], "entity": "notes", "id": write["id"], "field": field,
                       "local": write["values"][field], "server": older, "winner": "local", "line": len(events) + 1})
        return {"invented-conflict"}


def not_sent(events, random):
    chosen = _choose(random, [event for event in events if event["op"] == "final" and event["at"] != "upstream"])
    if chosen:
        chosen["waiting"] = 3
        return {"not-sent"}


BREAKERS = [stale_read, unknown_value, foreign_value, refused_write, read_before_write, half_applied, lost_update,
            own_write_missing, lost_write, not_converged, doubled_creation, merged_creations, vanished_record,
            lost_creation, returned_record, lost_deletion, overtaken_write, invented_conflict, not_sent]
