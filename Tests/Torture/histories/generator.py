"""Draws good histories: a small model of daemons and their upstream, with callers whose operations overlap.

Everything follows from the seed. The model keeps all promises, so the checker must find nothing; `breakers` then breaks
one of them.
"""
import json
import random

FIELDS = ("one", "two", "three")


class Node:
    """A daemon: its records, and the changes that the upstream does not have yet."""

    def __init__(self, name):
        self.name = name
        self.records = {}  # id: fields
        self.versions = {}  # id: number, for tags
        self.aliases = {}  # an earlier id: id
        self.told = []  # ids that were in an answer
        self.synced = {}  # (id, field): what the upstream last had
        self.pending = []  # [kind, id, fields]

    def id(self, id):
        return self.aliases.get(id, id)

    def seen(self, id):
        fields = self.records.get(self.id(id))
        return None if fields is None else {"id": self.id(id), **fields}

    def touch(self, id):
        self.versions[id] = self.versions.get(id, 0) + 1

    def tag(self, id):
        return f"{self.name}.{self.id(id)}.{self.versions.get(self.id(id), 0)}"


class Caller:
    def __init__(self, name, node):
        self.name, self.node = name, node
        self.event = self.effect = None
        self.is_done = False
        self.tags = {}


class World:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.clock = self.count = 0
        self.events = []
        self.nodes = [Node(f"d{number}") for number in range(1, self.random.choice((1, 1, 2)) + 1)]
        self.upstream = {}
        self.callers = [self._caller(node) for node in self.nodes for _ in range(self.random.randrange(1, 4))]
        for number in range(self.random.randrange(3)):
            self.upstream[f"i{number}"] = {"text": self.value(), **{field: None for field in FIELDS}}
        self._emit(op="initial", entity="notes", seen=self._all(self.upstream))

    # Helpers

    def value(self):
        self.count += 1
        return f"v{self.count}"

    def _emit(self, **event):
        self.events.append(event)

    def _tick(self):
        self.clock += self.random.randrange(1, 4)
        return self.clock

    def _caller(self, node):
        self.count += 1
        return Caller(f"c{self.count}", node)

    @staticmethod
    def _all(records):
        return [{"id": id, **fields} for id, fields in records.items()]

    # Callers

    def step(self, caller):
        if caller.event is None:
            self._begin(caller)
        elif not caller.is_done:
            self._tick()
            caller.effect()
            caller.is_done = True
        else:
            self._finish(caller, "ok")

    def _begin(self, caller):
        node, chance = caller.node, self.random.random()
        ids = node.told
        caller.event = {"by": caller.name, "at": node.name, "start": self._tick(), "entity": "notes"}
        caller.is_done = False
        if not ids or chance < 0.12:
            self._begin_create(caller)
        elif chance < 0.45:
            self._begin_write(caller, self.random.choice(ids))
        elif chance < 0.48:
            self._begin_delete(caller, self.random.choice(ids))
        elif chance < 0.85:
            self._begin_read(caller, self.random.choice(ids))
        else:
            self._begin_list(caller)

    def _begin_create(self, caller):
        node, event = caller.node, caller.event
        self.count += 1
        id, values = f"{node.name}.{self.count}", {"text": self.value()}
        event.update(op="create", values=values)

        def effect():
            node.records[id] = {**values, **{field: None for field in FIELDS}}
            node.touch(id)
            node.pending.append(["create", id, dict(values)])
            event.update(id=id, seen=node.seen(id), tag=node.tag(id))
        caller.effect = effect

    def _begin_write(self, caller, id):
        node, event = caller.node, caller.event
        values = {field: self.value() for field in self.random.sample(FIELDS, self.random.choice((1, 1, 2)))}
        event.update(op="write", id=id, values=values)
        if id in caller.tags and self.random.random() < 0.5:
            event["if_match"] = caller.tags[id]

        def effect():
            now = node.id(id)
            if now not in node.records or event.get("if_match", node.tag(id)) != node.tag(id):
                event["outcome"] = "fail"
                return
            node.records[now].update(values)
            node.touch(now)
            node.pending.append(["write", now, dict(values)])
            event.update(seen=node.seen(id), tag=node.tag(id))
        caller.effect = effect

    def _begin_delete(self, caller, id):
        node, event = caller.node, caller.event
        event.update(op="delete", id=id)

        def effect():
            now = node.id(id)
            if node.records.pop(now, None) is None:
                event["outcome"] = "fail"
                return
            node.pending.append(["delete", now, {}])
        caller.effect = effect

    def _begin_read(self, caller, id):
        node, event = caller.node, caller.event
        event.update(op="read", id=id)

        def effect():
            event["seen"] = node.seen(id)
            if event["seen"]:
                event["tag"] = caller.tags[id] = node.tag(id)
        caller.effect = effect

    def _begin_list(self, caller):
        node, event = caller.node, caller.event
        event["op"] = "list"
        caller.effect = lambda: event.update(seen=self._all(node.records), complete=True)

    def _finish(self, caller, outcome):
        event = {**caller.event, "end": self._tick()}
        event.setdefault("outcome", outcome)
        if outcome == "unknown":
            for member in ("seen", "tag", *(["id"] if event["op"] == "create" else [])):
                event.pop(member, None)
            event["outcome"] = "unknown"
        seen = event.get("seen") or []
        for record in seen if isinstance(seen, list) else [seen]:
            caller.node.told += [id for id in (event.get("id"), record["id"]) if id and id not in caller.node.told]
        self._emit(**event)
        caller.event = None

    # The machine

    def kill(self, node):
        for caller in [caller for caller in self.callers if caller.node is node]:
            if caller.event:
                if not caller.is_done and self.random.random() < 0.5:
                    caller.effect()
                self._finish(caller, "unknown")
            self.callers[self.callers.index(caller)] = self._caller(node)
        self._emit(op="down", at=node.name, start=self._tick())

    def push(self, node):
        """The oldest change arrives upstream, and its answer here."""
        if not node.pending:
            return
        kind, id, values = node.pending.pop(0)
        if kind == "create":
            self.count += 1
            new = f"u{self.count}"
            self.upstream[new] = {**values, **{field: None for field in FIELDS}}
            node.aliases = {old: new if now == id else now for old, now in node.aliases.items()} | {id: new}
            node.versions[new] = node.versions.get(id, 0)
            if id in node.records:
                node.records[new] = node.records.pop(id)
            for change in node.pending:
                change[1] = new if change[1] == id else change[1]
        elif kind == "delete":
            self.upstream.pop(id, None)
        elif id in self.upstream:
            self.upstream[id].update(values)
            node.synced.update({(id, field): value for field, value in values.items()})

    def pull(self, node):
        """Brings everything from the upstream; a field that both sides have changed is in conflict."""
        waiting = {change[1] for change in node.pending if change[0] != "write"}
        for id, fields in self.upstream.items():
            if id in waiting:
                continue
            mine = node.records.setdefault(id, {})
            for field, value in fields.items():
                changes = [change for change in node.pending if change[1] == id and field in change[2]]
                if changes and not self._merge(node, id, field, value, changes):
                    continue
                node.synced[id, field] = value
                if mine.get(field) != value or field not in mine:
                    mine[field] = value
                    node.touch(id)
        created = {change[1] for change in node.pending if change[0] == "create"}
        for id in [id for id in node.records if id not in self.upstream and id not in created]:
            del node.records[id]
            if any(change[1] == id for change in node.pending):
                self._emit(op="conflict", at=node.name, entity="notes", id=id, field=None, local=None, server=None,
                           winner="server")
            node.pending = [change for change in node.pending if change[1] != id]

    def _merge(self, node, id, field, value, changes):
        """Returns whether the server's value wins."""
        local = changes[-1][2][field]
        if value in (node.synced.get((id, field)), local):
            return False
        node.synced[id, field] = value
        winner = self.random.choice(("local", "server"))
        self._emit(op="conflict", at=node.name, entity="notes", id=id, field=field, local=local, server=value,
                   winner=winner)
        for change in changes if winner == "server" else []:
            del change[2][field]
        node.pending = [change for change in node.pending if change[2] or change[0] != "write"]
        return winner == "server"

    def person(self):
        """Somebody edits a record upstream."""
        if self.upstream:
            id, values = self.random.choice(list(self.upstream)), {self.random.choice(FIELDS): self.value()}
            start = self._tick()
            self.upstream[id].update(values)
            self._emit(op="write", by="person", at="upstream", start=start, end=self._tick(), outcome="ok",
                       entity="notes", id=id, values=values)

    def look(self):
        start = self._tick()
        self._emit(op="list", by="observer", at="upstream", start=start, end=self._tick(), outcome="ok", entity="notes",
                   seen=self._all(self.upstream), complete=True)

    def settle(self, number):
        """Lets everything arrive, then notes the final states."""
        for caller in self.callers:
            while caller.event:
                self.step(caller)
        while any(node.pending for node in self.nodes):
            for node in self.nodes:
                while node.pending:
                    self.push(node)
                self.pull(node)
        for node in self.nodes:
            self.pull(node)
        for name, records in [(node.name, node.records) for node in self.nodes] + [("upstream", self.upstream)]:
            self._emit(op="final", at=name, start=self._tick(), end=self._tick(), entity="notes", round=number,
                       seen=self._all(records), waiting=0)


def history(seed, steps=400):
    """Returns the events of a good history."""
    world = World(seed)
    for number in range(world.random.randrange(1, 3)):
        for _ in range(steps):
            chance = world.random.random()
            if chance < 0.8:
                world.step(world.random.choice(world.callers))
            elif chance < 0.87:
                world.push(world.random.choice(world.nodes))
            elif chance < 0.93:
                world.pull(world.random.choice(world.nodes))
            elif chance < 0.96:
                world.person()
            elif chance < 0.99:
                world.look()
            else:
                world.kill(world.random.choice(world.nodes))
        world.settle(number)
    events = json.loads(json.dumps(world.events))  # what a file would hold: nothing shared
    for line, event in enumerate(events, 1):
        event["line"] = line
    return events
