"""All machines that write meet the same conflicts: they change the same records from the same values to the same others,
while someone else changes them upstream."""
import time

from lib.programs import Failed, await_true

WITHIN_S = 20
APART_S = 2.5  # the upstream's clock is known to a second

# The record's name -> what happens here, what happens there, and whether there comes last.
CASES = {
    "edited on both sides, there last": ("edit", "edit", True),
    "edited on both sides, here last": ("edit", "edit", False),
    "edited here, deleted there": ("edit", "delete", True),
    "deleted here, edited there last": ("delete", "edit", True),
    "deleted on both sides": ("delete", "delete", True),
}


class Meeting:
    def __init__(self, fleet):
        self.fleet, self.upstream, self.machines = fleet, fleet.upstream, fleet.writers
        self.entities = list(fleet.there())
        self.ids = {}

    def hold(self):
        for entity in self.entities:
            for name in CASES:
                record = self.upstream.create(entity, {"name": name, "one": "first", "color": "grey"})
                self.ids[entity, name] = record["id"]
        self.fleet.at_all(lambda machine: await_true(
            lambda: all(machine.call("GET", f"/v1/{entity}/{id}").status == 200 for (entity, _), id in self.ids.items()),
            WITHIN_S, f"{machine} does not pull the records"))
        self.fleet.at_all(lambda machine: machine.call("POST", "/v1/sync/pause"))
        for is_later in (False, True):
            if is_later:
                time.sleep(APART_S)
                self.fleet.at_all(self.change_here, self.machines)
                time.sleep(APART_S)
            for (entity, name), id in self.ids.items():
                if CASES[name][2] is is_later:
                    self.change_there(entity, id, CASES[name][1])
        self.fleet.at_all(lambda machine: machine.call("POST", "/v1/sync/resume"))

    def change_here(self, machine):
        for (entity, name), id in self.ids.items():
            if CASES[name][0] == "edit":
                answer = machine.call("PATCH", f"/v1/{entity}/{id}", {"color": "red"})
            else:
                answer = machine.call("DELETE", f"/v1/{entity}/{id}")
            if answer.status not in (200, 204):
                raise Failed(f"{machine} does not change {entity} {name!r}: {answer.status} {answer.body!r}")

    def change_there(self, entity, id, what):
        if what == "edit":
            self.upstream.change(entity, id, {"color": "blue"})
        else:
            self.upstream._admin("DELETE", f"records/{entity}/{id}")

    def check(self, looks):
        """Where the other side wins or a person decides, every machine has met the conflict, and decided it alike."""
        for (entity, name), id in self.ids.items():
            winners = [conflict["winner"] for look in looks for conflict in look.conflicts
                       if (conflict["entity"], conflict["record_id"]) == (entity, id)]
            expected = self.expected(entity, name)
            if any(winner != expected for winner in winners):
                raise Failed(f"{entity} {name!r} is decided for {winners}, not {expected}")
            if expected != "local" and CASES[name][:2] != ("delete", "delete") and len(winners) != len(self.machines):
                raise Failed(f"{entity} {name!r} is a conflict of {len(winners)} machines, not {len(self.machines)}")

    @staticmethod
    def expected(entity, name):
        here, _, is_there_last = CASES[name]
        if entity == "latest":
            if CASES[name][:2] == ("edit", "delete"):
                return "server"
            return "server" if is_there_last else "local"
        return {"ours": "local", "theirs": "server", "asked": None}[entity]
