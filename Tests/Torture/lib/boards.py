"""One caller who writes boards and cards, and remembers every answer: nothing may get lost, arrive twice or step back."""
import re
from datetime import datetime, timedelta, timezone

from .programs import Failed

BEGIN = datetime(2030, 1, 1, tzinfo=timezone.utc)
TEXTS = {"boards": "title", "cards": "text"}
FIELDS = {"boards": ("note", "price", "weight", "size", "due", "tags"), "cards": ()}


def mark(number, field):
    """A value that carries a number through everything that a server may make of it."""
    if field in ("title", "note", "text"):
        return f" w{number}.  Text "
    if field in ("price", "weight"):
        return float(f"{number}.126")
    if field == "due":
        time = (BEGIN + timedelta(minutes=number, seconds=17, milliseconds=345))
        return time.isoformat(timespec="seconds" if number % 2 else "milliseconds")[:-6] + "Z"
    return [f"b{number}", f"a{number}"] if field == "tags" else number


def number_of(value, field):
    """The number that a value carries; None for a value of anyone else."""
    if value is None:
        return None
    if field in ("title", "note", "text"):
        found = re.match(r" *w(\d+)\.", value)
        return int(found[1]) if found else None
    if field in ("price", "weight"):
        return int(float(value))
    if field == "due":
        minutes = (datetime.fromisoformat(value.replace("Z", "+00:00")) - BEGIN).total_seconds() // 60
        return int(minutes) if minutes >= 0 else None
    return int(value[0][1:]) if field == "tags" and value else value if field == "size" else None


def is_waiting(waiting, entity, key, row):
    """Whether a change of the record, or of the board that it belongs to, needs a person."""
    return (entity, key) in waiting or ("boards", str((row or {}).get("board_id"))) in waiting


class Boards:
    """`extra` are text fields that only the daemon's schema has: they are written, and may be lost."""

    def __init__(self, client, random, extra=()):
        self.client, self.random, self.extra = client, random, extra
        self.number = 0
        self.newest = {}  # (entity, id): {field: number}
        self.created = {}  # (entity, id): number
        self.deleted = set()
        self.writes = 0

    # Writing

    def write(self):
        """One random write; then everything written so far is read again."""
        chance = self.random.random()
        known = [place for place in self.newest if place not in self.deleted]
        if not known or chance < 0.35:
            self.create()
        elif chance < 0.93:
            self.change(*self.random.choice(known[-8:]))
        else:
            self.delete(*self.random.choice(known))
        self.writes += 1
        self.check_steps()

    def create(self):
        boards = [key for entity, key in self.newest if entity == "boards" and ("boards", key) not in self.deleted]
        if boards and self.random.random() < 0.4:
            board = self.client.get(f"/v1/boards/{self.random.choice(boards)}")
            if board.status != 200:
                raise Failed(f"a board has vanished: {board.body!r}")
            entity, values = "cards", {"board_id": board.json["id"]}
        else:
            entity, values = "boards", {}
        marks = self.marks(entity, self.random.random() < 0.5)
        answer = self.client.call("POST", f"/v1/{entity}", {**values, **marks})
        if answer.status != 201:
            raise Failed(f"a creation was refused here: {answer.status} {answer.body!r}")
        place = entity, answer.json["id"]
        self.created[place] = self.number
        self.newest[place] = dict.fromkeys(marks, self.number)
        if entity == "boards" and self.random.random() < 0.5:
            self.create_card(place[1])

    def create_card(self, board):
        """A card of a board whose key may still be this side's."""
        marks = self.marks("cards", False)
        answer = self.client.call("POST", "/v1/cards", {"board_id": board, **marks})
        if answer.status != 201:
            raise Failed(f"a card was refused here: {answer.status} {answer.body!r}")
        self.newest["cards", answer.json["id"]] = dict.fromkeys(marks, self.number)

    def change(self, entity, key):
        marks = self.marks(entity, True)
        extra = {field: f"w{self.number}." for field in self.extra if entity == "boards"}
        answer = self.client.call("PATCH", f"/v1/{entity}/{key}", {**marks, **extra})
        if answer.status != 200:
            raise Failed(f"{entity}/{key} has vanished: a change was answered with {answer.status} {answer.body!r}")
        self.newest[entity, key].update(dict.fromkeys(marks, self.number))

    def delete(self, entity, key):
        answer = self.client.call("DELETE", f"/v1/{entity}/{key}")
        if answer.status != 204:
            raise Failed(f"{entity}/{key} has vanished: a deletion was answered with {answer.status}")
        self.deleted.add((entity, key))
        if entity == "boards":  # its cards go too
            for place in [place for place in self.newest if place[0] == "cards"]:
                # 404, or no answer about it while the upstream cannot be asked
                if self.client.get(f"/v1/cards/{place[1]}").status != 200:
                    self.deleted.add(place)

    def marks(self, entity, more):
        self.number += 1
        fields = [TEXTS[entity]]
        if more:
            fields += [field for field in FIELDS[entity] if self.random.random() < 0.4]
        return {field: mark(self.number, field) for field in fields}

    # Checking

    def check_steps(self):
        """No reader sees an older value than one before, a record that was deleted, or none where one was written."""
        for (entity, key), numbers in self.newest.items():
            answer = self.client.get(f"/v1/{entity}/{key}")
            if (entity, key) in self.deleted:
                if answer.status == 200:
                    raise Failed(f"{entity}/{key} was deleted and is back: {answer.body!r}")
                continue
            if answer.status != 200:
                raise Failed(f"{entity}/{key} has vanished: {answer.status}")
            self.check_values(entity, key, numbers, answer.json, "for readers")

    def check_values(self, entity, key, numbers, record, where):
        for field, number in numbers.items():
            if number_of(record.get(field), field) != number:
                raise Failed(f"{field} of {entity}/{key} is not of write {number} {where}: {record}")

    def check_upstream(self, upstream, waiting):
        """Everything arrived exactly once. `waiting`: records that a person must decide on, as (entity, id)."""
        for entity, text in TEXTS.items():
            rows = {}
            for row in upstream.records(entity):
                rows.setdefault(str(row["id"]), row)
            marks = [number_of(row.get(text), text) for row in upstream.records(entity)]
            twice = {number for number in marks if number is not None and marks.count(number) > 1}
            if twice:
                raise Failed(f"doubled: writes {twice} of {entity} exist more than once upstream")
            for (name, key), numbers in self.newest.items():
                if name != entity:
                    continue
                answer = self.client.get(f"/v1/{entity}/{key}")
                current = str(answer.json["id"]) if answer.status == 200 else str(key)
                if is_waiting(waiting, name, current, rows.get(current)):
                    continue
                if (name, key) in self.deleted:
                    if current in rows and number_of(rows[current].get(text), text) == numbers.get(text):
                        raise Failed(f"lost: the deletion of {entity}/{key}")
                    continue
                if current not in rows:
                    raise Failed(f"lost: {entity}/{key} (now {current}) does not exist upstream")
                self.check_values(entity, key, numbers, rows[current], "upstream")
