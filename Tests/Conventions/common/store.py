"""Customers, their orders and the lines of those, in memory: what all conventions serve.

Values are Python's: `Decimal` for amounts, `datetime` in UTC for times. The same seed gives the same records. Every
change gets a number and a time later than all before.
"""
import random
from datetime import datetime, timedelta, timezone
from decimal import Decimal

STATUSES = ("open", "paid", "shipped")
FIRST = ("Ada", "Zoë", "Łukasz", "Ωmega", "Jürgen", "Mary", "小林", "O'Neil", "Tomás", "Ingrid")
LAST = ("Byron", "Müller", "Nowak", "Šimić", "田中", "Smith-Jones", "d’Arc", "Ünal")
CITIES = ("Leeds", "Köln", "São Paulo", None)

# entity -> field -> kind; `?` allows null, a number is the greatest length, `->` refers to another entity
FIELDS = {
    "customers": {"name": "text 60", "email": "text 80", "city": "text? 40"},
    "orders": {"customer_id": "-> customers", "number": "text 20", "status": "status", "total": "amount",
               "note": "text? 200", "due_at": "time?"},
    "lines": {"order_id": "-> orders", "label": "text 60", "quantity": "integer", "price": "amount"},
}
PARENTS = {"orders": ("customer_id", "customers"), "lines": ("order_id", "orders")}


class Invalid(Exception):
    """Values that the rules do not allow: `errors` is field -> list of texts."""

    def __init__(self, errors):
        super().__init__(str(errors))
        self.errors = errors


class Missing(Exception):
    """There is no such record."""


class Store:
    """`make_id(entity, number)` makes a key. A row has its fields, `id`, `created_at`, `updated_at`, `version` and `seq`."""

    def __init__(self, make_id, seed=1, counts=(120, 250, 130), digits=6):
        self.make_id, self.digits = make_id, digits  # digits: how exact the times are
        self.rows = {entity: {} for entity in FIELDS}
        self.gone = []  # (seq, entity, id, time)
        self.numbers = dict.fromkeys(FIELDS, 0)
        self.seq, self.applied = 0, []  # applied: (who, operation, entity, id)
        self.clock = datetime(2025, 1, 1, 8, tzinfo=timezone.utc)
        self._fill(random.Random(seed), counts)
        self.clock, self.applied = datetime.now(timezone.utc) - timedelta(hours=1), []

    def _fill(self, chance, counts):
        for number in range(counts[0]):
            name = f"{chance.choice(FIRST)} {chance.choice(LAST)}"
            self._put("customers", {"name": name, "email": f"c{number}@example.org", "city": chance.choice(CITIES)})
        for number in range(counts[1]):
            due = self.clock + timedelta(days=chance.randrange(90), minutes=chance.randrange(1440))
            self._put("orders", {
                "customer_id": chance.choice(list(self.rows["customers"])), "number": f"A-{number:04}",
                "status": chance.choice(STATUSES), "total": Decimal(chance.randrange(100_000)) / 100,
                "note": chance.choice((None, "", "Ring “twice”", "50% off\nafter 5 pm", "naïve café ☕")),
                "due_at": chance.choice((None, due))})
        for number in range(counts[2]):
            self._put("lines", {
                "order_id": chance.choice(list(self.rows["orders"])), "label": f"Part {number}",
                "quantity": chance.randrange(1, 9), "price": Decimal(chance.randrange(10_000)) / 100})

    def now(self):
        """The time of the next change, later than that of the one before."""
        step = timedelta(microseconds=10 ** (6 - self.digits))
        time = max(datetime.now(timezone.utc) if self.applied or self.seq > 400 else self.clock, self.clock + step)
        self.clock = time.replace(microsecond=time.microsecond // 10 ** (6 - self.digits) * 10 ** (6 - self.digits))
        return self.clock

    def _put(self, entity, values, key=None):
        self.numbers[entity] += 1
        self.seq += 1
        time = self.now()
        key = self.make_id(entity, self.numbers[entity]) if key is None else key
        row = {"id": key, **dict.fromkeys(FIELDS[entity]), **values, "created_at": time, "updated_at": time,
               "version": 1, "seq": self.seq}
        self.rows[entity][key] = row
        return row

    # Changes

    def create(self, entity, values, who="api", key=None):
        values = self.checked(entity, values, is_new=True)
        row = self._put(entity, values, key)
        self.applied.append((who, "create", entity, row["id"]))
        return row

    def update(self, entity, key, values, who="api"):
        row = self.get(entity, key)
        values = self.checked(entity, values)
        self.seq += 1
        row.update(values, updated_at=self.now(), version=row["version"] + 1, seq=self.seq)
        self.applied.append((who, "update", entity, key))
        return row

    def delete(self, entity, key, who="api"):
        """Deletes a record and everything that belongs to it."""
        self.get(entity, key)
        for child, (field, parent) in PARENTS.items():
            if parent == entity:
                for other in [row["id"] for row in self.rows[child].values() if row[field] == key]:
                    self.delete(child, other, "cascade")
        self.seq += 1
        del self.rows[entity][key]
        self.gone.append((self.seq, entity, key, self.now()))
        self.applied.append((who, "delete", entity, key))

    def get(self, entity, key):
        if key not in self.rows[entity]:
            raise Missing(f"{entity}/{key}")
        return self.rows[entity][key]

    def listed(self, entity):
        """All records in the order in which they were made."""
        return list(self.rows[entity].values())

    # Rules

    def checked(self, entity, values, is_new=False):
        """The values with Python's types; raises `Invalid` with all texts."""
        errors, result = {}, {}
        for field, kind in FIELDS[entity].items():
            if field in values:
                try:
                    result[field] = self.parsed(kind, values[field])
                except ValueError as error:
                    errors[field] = [str(error)]
            elif is_new and "?" not in kind:
                if field == "status":
                    result[field] = "open"
                else:
                    errors[field] = ["This field is required."]
        if errors:
            raise Invalid(errors)
        return result

    def parsed(self, kind, value):
        base, _, most = kind.partition(" ")
        if value is None:
            if "?" in base:
                return None
            raise ValueError("This field may not be null.")
        if base == "->":
            key = self.key(most, value)
            if key is None:
                raise ValueError(f'Invalid pk "{value}" - object does not exist.')
            return key
        if base.startswith("text"):
            if not isinstance(value, str):
                raise ValueError("Not a valid string.")
            if not value and "?" not in base:
                raise ValueError("This field may not be blank.")
            if len(value) > int(most):
                raise ValueError(f"Ensure this field has no more than {most} characters.")
            return value
        if base == "status":
            if value not in STATUSES:
                raise ValueError(f'"{value}" is not a valid choice.')
            return value
        if base.startswith("time"):
            return parse_time(value)
        try:
            number = Decimal(str(value))
        except ArithmeticError:
            raise ValueError("A valid number is required.") from None
        if not number.is_finite() or isinstance(value, bool):
            raise ValueError("A valid number is required.")
        if number < 0:
            raise ValueError("Ensure this value is greater than or equal to 0.")
        if base == "integer":
            if number != int(number):
                raise ValueError("A valid integer is required.")
            return int(number)
        return number.quantize(Decimal("0.01"))

    def key(self, entity, value):
        """The key that a value in a request means: `"5"` is 5 where keys are numbers. None if there is no such record."""
        return next((key for key in (value, _number(value)) if key is not None and key in self.rows[entity]), None)


def _number(value):
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else None


def parse_time(text):
    """ISO 8601, in UTC; raises `ValueError`."""
    try:
        time = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        raise ValueError("Datetime has wrong format.") from None
    return (time if time.tzinfo else time.replace(tzinfo=timezone.utc)).astimezone(timezone.utc)


def iso(time, digits=6):
    """`2026-01-31T09:00:00.000000Z`; null stays null."""
    if time is None:
        return None
    text = time.strftime("%Y-%m-%dT%H:%M:%S.%f")
    return (text[:-6 + digits] if digits < 6 else text).rstrip(".") + "Z"


def plain(row):
    """A row as JSON without anything of a convention."""
    return {name: iso(value) if isinstance(value, datetime) else str(value) if isinstance(value, Decimal) else value
            for name, value in row.items()}
