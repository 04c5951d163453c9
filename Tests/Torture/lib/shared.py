"""A few notes that all callers read, change and change again. Only the history tells what is right."""
import threading

from .programs import Failed

COUNT = 3
FIELDS = ("one", "two")


class Shared:
    """Used like a ledger. Returns None for a read, so that only writes are counted as answered."""

    def __init__(self, mark, upstream, ids=(), own=None, fields=FIELDS, theirs=()):
        """`ids` are notes that exist upstream; without them the callers create some. They read all, and change `fields`
        of their `own` (all by default); people change `theirs` upstream."""
        self.own, self.fields, self.theirs = own, fields, theirs
        self.mark, self.upstream = mark, upstream
        self.lock = threading.Lock()
        self.count = self.answered = 0
        self.ids = list(ids)
        self.there = {id: id for id in ids}  # id here: id upstream
        self.tags = threading.local()

    def _value(self, padding=0):
        with self.lock:
            self.count += 1
            return f"{self.mark}.shared.{self.count}" + "." * padding

    def write(self, client, random, padding=0):
        if len(self.ids) < COUNT:
            return self._create(client, padding)
        id, chance = random.choice(self.ids), random.random()
        if chance < 0.45:
            return self._change(client, random, random.choice(self.own or self.ids), padding)
        if chance < 0.75:
            return self._read(client, id)
        if chance < 0.9:
            client.get("/v1/notes?limit=20&sort=-updated_at")
        elif id in self.there:
            self._edit_upstream(random, self.there[id])
        return None

    def _create(self, client, padding):
        answer = client.call("POST", "/v1/notes", {"text": self._value(padding)})
        if self._is_accepted(answer):
            with self.lock:
                self.ids.append(answer.json["id"])
        return answer

    def _change(self, client, random, id, padding):
        fields = random.sample(self.fields, random.choice((1, len(self.fields))))
        values = {field: self._value(padding) for field in fields}
        tag = getattr(self.tags, "known", {}).pop(id, None)
        answer = client.call("PATCH", f"/v1/notes/{id}", values, {"If-Match": tag} if tag else None)
        self._is_accepted(answer)
        return answer

    def _read(self, client, id):
        answer = client.get(f"/v1/notes/{id}")
        if answer.status != 200:
            raise Failed(f"lost: a shared note ({answer.status} {answer.body[:200]!r})")
        if not hasattr(self.tags, "known"):
            self.tags.known = {}
        self.tags.known[id] = answer.headers["etag"]
        if answer.json["id"] != id:
            self.there[id] = answer.json["id"]

    def _edit_upstream(self, random, id):
        if self.theirs and random.random() < 0.5:
            self.upstream.change("notes", id, {random.choice(self.theirs): self._value()})
        else:
            self.upstream.look("notes", id)

    def _is_accepted(self, answer):
        if answer.status < 300:
            with self.lock:
                self.answered += 1
            return True
        if not answer.is_problem:
            raise Failed(f"{answer.status} without a problem document: {answer.body[:300]!r}")
        return False

    def check_local(self, client):
        """Shows every note to the history, which is checked instead, with the id that it has by now."""
        for id in self.ids:
            self._read(client, id)
