"""A window that moves with time and grows, while both sides write: only the difference is read."""
from datetime import datetime, timedelta, timezone
from urllib.parse import parse_qs, urlsplit

from .store import FIELDS, iso, parse_time
from .story import Failed


class Window:
    """`where` is what a schema has in place of `instead_of`; in it, `DAYS` is how many days back the window begins.

    `lower`, `upper` and `since` are the parameters of a list for the bounds of `field`, and for what changed."""

    def __init__(self, story, entity, field, where, instead_of, lower, upper, since):
        self.story, self.side, self.server = story, story.side, story.server
        self.entity, self.field = entity, field
        self.path = story.folder / "schema.yaml"
        self.whole, self.where, self.instead_of = self.path.read_text(), where, instead_of
        self.lower, self.upper, self.since = lower, upper, since

    def grow(self):
        now = datetime.now(timezone.utc)
        ages = sorted((now - row[self.field]).days for row in self.server.store.listed(self.entity) if row[self.field])
        narrow, wide = ages[len(ages) // 3], ages[2 * len(ages) // 3]
        self.begin(narrow, "a window")
        self.write(narrow, "in the window")
        before = len(self.server.requests)
        self.begin(wide, "a larger window")
        self.check_requests(self.server.requests[before:], narrow, wide)
        self.write(wide, "in the larger window")
        few = len(self.expected(wide))
        self.restart(self.whole)
        self.await_equal(None, "without a window")
        self.story.note(f"window: {len(self.expected(narrow))}, then {few} of {len(self.expected(None))} {self.entity}, and the "
                        "larger one was read without the rest")

    def begin(self, days, when):
        self.restart(self.whole.replace(self.instead_of, self.where.replace("DAYS", str(days)), 1))
        self.await_equal(days, when)

    def restart(self, schema):
        self.story.daemon.stop()
        self.story.client.close()
        self.path.write_text(schema)
        self.story.daemon.start(within=30)
        self.story.client = self.story.daemon.client()

    def write(self, days, when):
        """Both sides write, within the window and outside of it, and one record comes into it."""
        story = self.story
        inside, outside = self.expected(days), [key for key in self.expected(None) if key not in self.expected(days)]
        untouched = [str(key) for key in story.untouched(self.entity)]
        ours, theirs = story.random.sample([key for key in untouched if key in inside], 2)
        far, comes = story.random.sample([key for key in untouched if key in outside], 2)
        keys = self.side.keys(self.entity)
        story.touched |= {(self.entity, key) for key in (ours, theirs, far, comes)}
        story.number += 1
        story.ask("PATCH", f"/v1/{self.entity}/{ours}", self.side.values(self.entity, {"note": f"Here, {when}"}), 200)
        # Both sides write the same record, but not the same field.
        self.server.test("edit", entity=self.entity, id=keys[ours], fields={"status": "shipped"})
        for key in (theirs, far):
            self.server.test("edit", entity=self.entity, id=keys[key], fields={"note": f"There, {when}"})
        now = datetime.now(timezone.utc).replace(microsecond=0)
        self.server.test("edit", entity=self.entity, id=keys[comes], fields={self.field: iso(now)})
        customer = story.random.choice(story.untouched("customers"))
        story.make(self.entity, {"customer_id": customer, "number": f"W-{story.number}", "total": 5, "status": "open",
                                 self.field: now})
        story.sent(when)
        self.await_equal(days, f"after both sides wrote {when}")

    def expected(self, days):
        """What the server has in a window that began so many days ago; all without a number."""
        rows = self.side.rows(self.entity)
        first = datetime.now(timezone.utc) - timedelta(days=days or 0)
        return rows if days is None else {key: row for key, row in rows.items() if row[self.field] and row[self.field] >= first}

    def await_equal(self, days, when):
        problem = ["never compared"]

        def equal():
            self.story.client.call("POST", "/v1/sync?wait=true", {})
            there = self.expected(days)
            here = {str(self.story.key(record)): self.side.row(self.entity, record)
                    for record in self.story.rows_here(self.entity)}
            missing, left = sorted(there.keys() - here.keys()), sorted(here.keys() - there.keys())
            wrong = [(key, name) for key in there.keys() & here.keys() for name in FIELDS[self.entity]
                     if here[key][name] != there[key][name]]
            problem[0] = f"only there {missing[:3]}, only here {left[:3]}, different {wrong[:3]}"
            return not (missing or left or wrong)
        self.story.await_true(equal, lambda: f"{when}: {problem[0]}; {self.story.status()}")

    def check_requests(self, requests, narrow, wide):
        """Each list asked for what changed, or for what is between the old bound and the new one."""
        path = f"/{self.entity}/"
        queries = [parse_qs(urlsplit(target).query) for method, target in requests
                   if method == "GET" and urlsplit(target).path.endswith(path)]
        added = [query for query in queries if self.upper in query]
        if whole := [query for query in queries if self.upper not in query and self.since not in query]:
            raise Failed(f"a larger window read the whole list: {whole[0]}")
        if not added:
            raise Failed(f"a larger window was not read: {queries}")
        for query in added:
            bounds = [(datetime.now(timezone.utc) - parse_time(query[name][0])).total_seconds() / 86400
                      for name in (self.lower, self.upper)]
            if abs(bounds[0] - wide) > 0.01 or abs(bounds[1] - narrow) > 0.01:
                raise Failed(f"days {bounds} were read, not {wide} to {narrow}")


__all__ = ["Window"]
