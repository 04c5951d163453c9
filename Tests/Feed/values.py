"""Values of every kind, and what the documentation says the tables have of them."""
import json
import re
from decimal import Decimal

LONG = "a_name_with_as_many_letters_as_a_name_of_a_field_may_have_ab"
TYPES = {
    "boxes": {"name": "text", "item_count": "bigint", "updated_at": "timestamptz"},
    "items": {
        "box_id": "text", "select": "text", "state": "text", "amount": "bigint", "price": "numeric",
        "weight": "numeric", "paid": "boolean", "happened_at": "timestamptz", "day": "date", "tags": "jsonb",
        "maker": "jsonb", "maker_name": "text", "instance": "text", "record": "text", "valid_to": "timestamptz",
        "xmin": "bigint", LONG: "text", "updated_at": "timestamptz"},
}
# Fields whose names the feed or PostgreSQL use for something else.
COLUMNS = {"instance": "instance_field", "record": "record_field", "valid_to": "valid_to_field", "xmin": "xmin_field"}
HIDDEN = ("_sync", "address", "passcode")

TEXTS = ["", "plain", "it's", 'say "no"', "back\\slash", "{a,b}", "NULL", "null", "a,b", "line\nbreak\ttab", "$1", "%s",
         "\u0000", "a\u0000b", "\ud800", "x\udc00\ud800y", "\U0001F600", "é", "e\u0301", "');DROP TABLE items;--", "\\N",
         "\u2028"]
NUMBERS = ["0", "-0", "1.50", "1.5", "12345678901234567890", "1e3", "1E-7", "-0.10", "1e1001", "9" * 1001, "0.1", "7"]


def hostile(random):
    """The fields of an item as JSON text, which has what Python cannot write."""
    def text():
        return json.dumps("".join(random.choice(TEXTS) for _ in range(random.randint(1, 3))))

    def number():
        return random.choice(NUMBERS)

    choices = {
        "select": text, "instance": text, "record": text, LONG: text,
        "price": number, "weight": number, "amount": lambda: str(random.randint(-2**63, 2**63 - 1)),
        "xmin": lambda: str(random.randint(0, 9)), "paid": lambda: random.choice(["true", "false", "null"]),
        "state": lambda: random.choice(['"new"', '"used"']),
        "happened_at": lambda: random.choice(
            ['"2026-11-21T10:42:00.123456+01:00"', '"2024-02-29 23:59:59"', '"0001-01-01T00:00:00Z"', "null"]),
        "valid_to": lambda: '"2026-11-21T10:42:00Z"',
        "day": lambda: random.choice(['"2024-02-29"', '"0001-01-01"', '"9999-12-31"', "null"]),
        "tags": lambda: f"[{text()}, {number()}, [{text()}], null]",
        "maker": lambda: f'{{"name": {text()}, {text()}: {number()}, "deep": {{"a": [{text()}]}}}}',
    }
    names = random.sample(sorted(choices), random.randint(1, 5))
    return "{" + ", ".join(f'"{name}": {choices[name]()}' for name in names) + "}"


def fed(value):
    """A value of a record as jsonb has it: what that cannot hold is replaced."""
    if isinstance(value, str):
        return re.sub("[\u0000\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, list):
        return [fed(element) for element in value]
    if isinstance(value, dict):
        return {fed(name): fed(element) for name, element in value.items()}
    if isinstance(value, Number):
        return Decimal(value.text) if value.fits else value.text
    return value


class Number:
    """A number as it was written."""

    def __init__(self, text):
        self.text = text
        exponent = re.search(r"[eE]\+?(-?\d+)$", text)
        self.fits = len(text) <= 1000 and (not exponent or abs(int(exponent[1])) <= 1000)


def parsed(text):
    """JSON with its numbers as they were written."""
    return json.loads(text, parse_float=Number, parse_int=Number)


def plain(value):
    """Numbers of any kind as Decimal."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        return [plain(element) for element in value]
    if isinstance(value, dict):
        return {name: plain(element) for name, element in value.items()}
    return Decimal(value)
