"""Which ids are one record: a created record is renamed when the upstream gives it another id."""
from collections import defaultdict

from .events import InvalidHistory


class Identity:
    """Finds the record of an id. Two ids are one record if an answer or a rename says so, or if both show a value of
    one creation and nobody saw both at once."""

    def __init__(self):
        self.parents = {}
        self.creations = {}  # record: the line of its creation
        self.local_ids = {}  # line of a creation: the ids that only the daemon used
        self.names = {}
        self.violations = []  # (name, place, story, lines)
        self._confused = []  # (entity, id) that stand for more or for less than one record

    def record(self, entity, id):
        """The record, as one of its ids."""
        node = (entity, id)
        path = []
        while (parent := self.parents.get(node, node)) != node:
            path.append(node)
            node = parent
        for passed in path:
            self.parents[passed] = node
        return node

    def unite(self, entity, one, other):
        one, other = self.record(entity, one), self.record(entity, other)
        if one != other:
            self.parents[other] = one

    def confuse(self, entity, ids):
        self._confused += [(entity, id) for id in ids if id is not None]

    @property
    def confused(self):
        """The records of which nothing else can be said."""
        return {self.record(*node) for node in self._confused}

    def name(self, record):
        return self.names.get(record) or f"{record[0]}/{record[1]}"


def identify(events):
    """Returns the `Identity` of a history's events."""
    identity = Identity()
    creations = []
    for event in events:
        entity = event.get("entity")
        if event["op"] == "rename":
            identity.unite(entity, event["from"], event["to"])
        seen = event.get("seen")
        if isinstance(seen, dict) and seen.get("id") is not None and event.get("id") is not None:
            identity.unite(entity, event["id"], seen["id"])
        if event["op"] == "create" and event["outcome"] != "fail":
            creations.append(event)
    _find_twice_created(identity, creations)
    _bind_to_creations(identity, events, creations)
    return identity


def _find_twice_created(identity, creations):
    """Two creations with different ids must not be one record."""
    owners = {}
    for event in creations:
        if event.get("id") is None:
            continue
        record = identity.record(event["entity"], event["id"])
        identity.names.setdefault(record, f"{event['entity']}/{event['id']}")
        other = owners.setdefault(record, event)
        if other is not event and other["id"] != event["id"]:
            identity.confuse(event["entity"], (other["id"], event["id"]))
            identity.violations.append((
                "merged-creations", f"{event['entity']}/{other['id']} and {event['id']}",
                ["both were created, and an answer or a rename shows them as one record"],
                (other["line"], event["line"])))


def _bind_to_creations(identity, events, creations):
    """Binds ids to a creation by its values, and finds creations that exist twice."""
    owner = {}
    for event in creations:
        for field, value in event["values"].items():
            if value is not None and owner.setdefault((event["entity"], field, _plain(value)), event) is not event:
                raise InvalidHistory(f"line {event['line']}: {field}={value} of a created record is not unique")
    shown = defaultdict(dict)  # creation's line: {id seen: first event}
    at_upstream = defaultdict(dict)
    reported = set()
    for event in events:
        seen = event.get("seen")
        together = defaultdict(set)
        for record in seen if isinstance(seen, list) else [seen] if seen else []:
            creation = next((owner[key] for field, value in record.items()
                             if (key := (event["entity"], field, _plain(value))) in owner), None)
            if creation is None or record.get("id") is None:
                continue
            if event["op"] == "initial":
                raise InvalidHistory(f"line {creation['line']}: a value of {creation['values']} was there before")
            line, id = creation["line"], record["id"]
            shown[line].setdefault(id, event)
            together[line].add(id)
            if event.get("at") == "upstream":
                at_upstream[line].setdefault(id, event)
        for line, ids in together.items():
            if len(ids) > 1 and line not in reported and event["op"] == "final":
                reported.add(line)
                _report_double(identity, creations, line, ids, (event["line"],))
    for line, found in at_upstream.items():
        if len(found) > 1 and line not in reported:
            reported.add(line)
            _report_double(identity, creations, line, found, tuple(event["line"] for event in found.values()))
    for creation in creations:
        ids = list(shown[creation["line"]])
        if creation.get("id") is not None:
            ids.insert(0, creation["id"])
        if creation["line"] in reported or not ids:
            continue
        for id in ids[1:]:
            identity.unite(creation["entity"], ids[0], id)
        there = set(at_upstream[creation["line"]])
        identity.local_ids[creation["line"]] = set(ids) - there if there else {creation.get("id")}
        identity.creations[identity.record(creation["entity"], ids[0])] = creation["line"]
        identity.names[identity.record(creation["entity"], ids[0])] = f"{creation['entity']}/{ids[0]}"


def _report_double(identity, creations, line, ids, lines):
    creation = next(event for event in creations if event["line"] == line)
    identity.confuse(creation["entity"], [creation.get("id"), *ids])
    identity.violations.append((
        "doubled-creation", f"{creation['entity']}, created in line {line}",
        [f"{creation['by']} created {creation['values']}; it exists as {' and as '.join(map(str, sorted(ids)))}"],
        (line, *lines)))


def _plain(value):
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)
