"""What must hold when all faults are over."""
import json
from collections import Counter, defaultdict

from lib.programs import Failed


# Where a local edit can win against a deletion, each machine that has one creates the record again.
RECREATED = ("ours", "asked")


def waits_for_people(change):
    """Whether a queued change waits for a decision."""
    return bool(change["conflict"] or change["blocked_by"])


def values_in(thing):
    """Every text in a JSON value."""
    if isinstance(thing, dict):
        return set().union(*(values_in(value) for value in thing.values()), set())
    if isinstance(thing, list):
        return set().union(*(values_in(value) for value in thing), set())
    return {thing} if isinstance(thing, str) else set()


class Look:
    """One machine as it is now: its queue, and the conflicts that it has met."""

    def __init__(self, machine):
        self.machine = machine
        self.pending = machine.pages("/v1/pending")
        self.conflicts = machine.pages("/v1/conflicts")
        self.open = [conflict for conflict in self.conflicts if conflict["winner"] is None]
        self.undecided = {(one["entity"], one["record_id"]) for one in [*self.pending, *self.open]}

    def check_queue(self):
        """Only what a person must decide is queued, and what waits for that."""
        for change in self.pending:
            if change["entity"] != "asked" or not waits_for_people(change):
                raise Failed(f"{self.machine} still has {change}")

    def check_equality(self, entities, there):
        """`there`: entity -> id -> record upstream."""
        for entity in entities:
            here = self.machine.rows(entity)
            for id in sorted(here.keys() | there[entity].keys()):
                if (entity, id) not in self.undecided and here.get(id) != there[entity].get(id):
                    history = self.machine.call("GET", f"/v1/{entity}/{id}/history").body.decode()
                    raise Failed(f"{self.machine} differs in {entity}/{id}: upstream {there[entity].get(id)}, "
                                 f"cache {here.get(id)}\n{history[-1500:]}")


def check_lost(machine, look, done, there):
    """Each acknowledged write has reached the upstream, lost a conflict that is recorded, waits for a person, or was
    replaced here by a later one."""
    arrived = {value for one in done for value in values_in(one.values)}
    kept = values_in(look.conflicts) | values_in(look.pending)
    for index, write in enumerate(machine.writes):
        if write.outcome != "answered":
            continue
        later = [one for one in machine.writes[index + 1:]
                 if (one.entity, one.name) == (write.entity, write.name) and one.outcome != "refused"]
        if write.operation == "delete":
            check_deletion(machine, write, look, done, there)
            continue
        for field, mark in write.marks.items():
            is_replaced = any(one.operation == "delete" or field in one.values for one in later)
            if mark not in arrived and mark not in kept and not is_replaced:
                raise Failed(f"lost: {field} of the {write} is neither upstream nor in the queue or a conflict\n"
                             f"{machine.call('GET', f'/v1/{write.entity}/{write.id}/history').body.decode()[-3000:]}")


def check_deletion(machine, write, look, done, there):
    is_done = any(one.method == "DELETE" and (one.entity, one.id) == (write.entity, write.id) for one in done)
    is_known = any((one["entity"], one["record_id"]) == (write.entity, write.id)
                   for one in [*look.conflicts, *look.pending])
    if not is_done and not is_known and write.id in there[write.entity]:
        raise Failed(f"lost: the {write} ({write.id})")


def check_creations(machines, done, there):
    """Each record that was created exists once. Where local edits win, each machine that has edited a record which was
    deleted meanwhile creates it again: once each, if the upstream chooses the keys. Returns the number of creations."""
    creations = defaultdict(Counter)  # (entity, name) -> by machine
    for one in done:
        if one.method == "POST":
            creations[one.entity, one.values["name"]][one.machine] += 1
    for entity, records in there.items():
        for name, count in Counter(record["name"] for record in records.values()).items():
            by = creations[entity, name]
            if count > 1 and (entity not in RECREATED or count > len(by) + name.startswith(("a shared", "edited"))):
                raise Failed(f"doubled: {entity} {name!r} exists {count} times upstream; machines created it: {dict(by)}")
    for machine in machines:
        for index, write in enumerate(machine.writes):
            if write.operation != "create":
                continue
            count = creations[write.entity, write.name].total()
            gone = [one for one in machine.writes[index + 1:] if one.operation == "delete" and one.name == write.name]
            if count > 1 and write.entity not in RECREATED:
                raise Failed(f"doubled: the {write} was applied {count} times")
            if count == 0 and write.outcome == "answered" and not gone:
                raise Failed(f"lost: the {write} never reached the upstream")
    return sum(by.total() for by in creations.values())


def check_decisions(looks):
    """Every machine decides by the same rule: the outcome follows from the conflict alone. Returns how many kinds of
    conflicts several machines have met, and how many conflicts there are."""
    met = defaultdict(lambda: defaultdict(set))
    for look in looks:
        for conflict in look.conflicts:
            winner, expected = conflict["winner"], expected_winner(conflict)
            if winner not in expected:
                raise Failed(f"{look.machine} has decided for {winner}, not {expected}: {conflict}")
            times = None
            if conflict["rule"] == "last_write_wins" and conflict["server_at"]:
                times = conflict["local_at"] > conflict["server_at"]
            kind = json.dumps([conflict[name] for name in
                               ("entity", "operation", "field", "base", "local", "server", "rule")] + [times])
            if conflict["rule"] != "manual":
                met[kind][winner].add(look.machine.number)
    for kind, winners in met.items():
        if len(winners) > 1:
            raise Failed(f"the same conflict is decided differently: {kind}: {dict(winners)}")
    shared = sum(len(set().union(*winners.values())) > 1 for winners in met.values())
    return shared, sum(len(look.conflicts) for look in looks)


def expected_winner(conflict):
    """The winners that docs/schema/push.md#conflict allows."""
    rule = conflict["rule"]
    if rule in ("local_wins", "server_wins"):
        return {rule.removesuffix("_wins")}
    if rule == "manual":
        return {None, "local", "server"}
    if conflict["field"] is None and conflict["operation"] == "update":
        return {"server"}  # edited here, deleted there: it stays deleted
    if conflict["server_at"] is None:
        return {"local"}
    return {"local" if conflict["local_at"] > conflict["server_at"] else "server"}
