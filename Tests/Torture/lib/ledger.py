"""Records all writes through the local API and their answers, and compares them with the daemon and the upstream."""
import threading
from collections import Counter
from dataclasses import dataclass

from .programs import Failed

FIELDS = ("one", "two", "three")


@dataclass
class Note:
    """A record created locally. Its `text` is unique and identifies it, whatever its key."""
    text: str
    id: str = None
    was_answered: bool = False
    deletion: str = None  # "sent" or "answered"

    def __post_init__(self):
        self.sent = {}  # field: value; each field is written once
        self.answered = {}
        self.updates = 0  # update requests, answered or not


class Ledger:
    """Shared by all writers. Every value is written only once, so finding it twice means that it arrived twice."""

    def __init__(self, mark):
        self.mark = mark
        self.lock = threading.Lock()
        self.count = 0
        self.notes = []
        self.refusals = Counter()  # by status

    def _value(self, padding=0):
        with self.lock:
            self.count += 1
            return f"{self.mark}.{self.count}" + "." * padding

    # Writing

    def write(self, client, random, padding=0):
        """Does a random write and returns its answer. Raises `Unanswered`; the write then counts as possibly done."""
        with self.lock:
            open_notes = [note for note in self.notes[-40:]
                          if note.was_answered and not note.deletion and len(note.sent) < len(FIELDS)]
        chance = random.random()
        if not open_notes or chance < 0.5:
            return self.create(client, padding)
        note = random.choice(open_notes)
        return self.delete(client, note) if chance > 0.95 else self.change(client, note, padding)

    def create(self, client, padding=0):
        note = Note(self._value(padding))
        with self.lock:
            self.notes.append(note)
        answer = client.call("POST", "/v1/notes", {"text": note.text})
        if answer.status == 201:
            note.id = answer.json["id"]
            note.was_answered = True
        else:
            self._refuse(answer, lambda: self.notes.remove(note))
        return answer

    def change(self, client, note, padding=0):
        value = self._value(padding)
        with self.lock:
            field = next((field for field in FIELDS if field not in note.sent), None)
            if field is None or note.deletion:
                return None
            note.sent[field] = value
            note.updates += 1
        answer = client.call("PATCH", f"/v1/notes/{note.id}", {field: value})
        if answer.status == 200:
            note.answered[field] = value
        else:
            self._refuse(answer, lambda: note.sent.pop(field))
        return answer

    def delete(self, client, note):
        with self.lock:
            if note.deletion:
                return None
            note.deletion = "sent"
        answer = client.call("DELETE", f"/v1/notes/{note.id}")
        if answer.status == 204:
            note.deletion = "answered"
        elif answer.status != 404:  # another writer has deleted it meanwhile
            self._refuse(answer, lambda: setattr(note, "deletion", None))
        return answer

    def _refuse(self, answer, undo):
        if not answer.is_problem:
            raise Failed(f"{answer.status} without a problem document: {answer.body[:300]!r}")
        with self.lock:
            self.refusals[answer.status] += 1
            undo()

    @property
    def answered(self):
        """The number of acknowledged writes."""
        with self.lock:
            return sum(note.was_answered + len(note.answered) + (note.deletion == "answered") for note in self.notes)

    # Comparing

    def check_local(self, client):
        """Checks that every acknowledged write can be read as it was written. Call it while nothing writes."""
        for note in self.notes:
            if not note.was_answered:
                continue
            answer = client.get(f"/v1/notes/{note.id}")
            if note.deletion:
                if note.deletion == "answered" and answer.status not in (404, 410):
                    raise Failed(f"lost: the deletion of {note.text[:40]}: {answer.status} {answer.body[:600]}\n{note}"
                                 f"{client.get(f'/v1/notes/{note.id}/history').body.decode()}")
                continue
            if answer.status != 200:
                raise Failed(f"lost: {note.text[:40]} ({answer.status} {answer.body[:200]!r})")
            self._check_values(note, answer.json, "in the cache")

    def check_upstream(self, upstream):
        """Checks that every acknowledged write has arrived once. Call it while nothing is queued or in flight."""
        applied = upstream.applied()
        records = {}
        for record in upstream.records("notes"):
            records.setdefault(record.get("text"), []).append(record)
        for note in self.notes:
            found = records.get(note.text, [])
            if len(found) > 1:
                raise Failed(f"doubled: {note.text[:40]} exists {len(found)} times upstream")
            if note.deletion:
                if found and note.deletion == "answered":
                    raise Failed(f"lost: {note.text[:40]} was deleted, but still exists upstream")
            elif not found and note.was_answered:
                raise Failed(f"lost: {note.text[:40]} does not exist upstream")
            if not found:
                continue
            self._check_values(note, found[0], "upstream")
            changes = applied["PATCH", f"/api/notes/{found[0]['id']}"]
            if changes > note.updates:
                raise Failed(f"doubled: {note.text[:40]} was changed {note.updates} times locally "
                             f"and {changes} times upstream")

    def _check_values(self, note, record, place):
        for field, value in note.sent.items():
            found = record.get(field)
            if found != value and (field in note.answered or found is not None):
                raise Failed(f"lost: {field} of {note.text[:40]} is {str(found)[:60]!r} {place}, not {value[:40]!r}")
