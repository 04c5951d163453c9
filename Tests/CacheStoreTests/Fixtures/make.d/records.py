"""The upstream's records: ordinary ones, and values that a column, a time or a sum can get wrong."""

import json
import re
from datetime import datetime, timedelta, timezone


def raw(text):
    """A value that is written exactly like this."""
    return f"@raw {text} raw@"


def text(record):
    """JSON in which `raw` values stand as they were given."""
    encoded = json.dumps(record, ensure_ascii=False)
    return re.sub(r'"@raw (.*?) raw@"', lambda found: json.loads(f'"{found[1]}"'), encoded)


TIMES = [
    "2026-12-01T10:00:00Z", "2026-12-01T10:00:00+02:00", "2026-12-01", "2026-12-01 10:00", "2026-12-01T10:00:00.123456Z",
    "2026-12-01T10:00:00.9996Z", "2026-12-01T23:59:59.9999Z", "soon", "", None, 1764547200, raw("1.5"), True,
    "2026-13-45T00:00:00Z", "2026-02-30T00:00:00Z", "1969-12-31T23:59:59.999Z", "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999Z", "2026-12-01T24:00:00Z", "2026-12-01T10:00:00Zjunk", {"a": 1}, ["2026-12-01"], "now",
    "2026-12-01T10:00:00.5-23:59", "-4712-01-01", "2026-12-01T10:00Z", " 2026-12-01T10:00:00Z", "2026-12-01T10:00:00.1",
]
NUMBERS = [
    raw("1"), raw("1.0"), raw("1e2"), raw("1E400"), raw("-0.0"), raw("12345678901234567890123"), "7", "abc", True, None,
    raw("0.1"), raw("0.30000000000000004"), raw("-1e-400"), " 5 ", "5e0", "", [], raw("9007199254740993"),
]
MONEY = [
    raw("129.90"), "150.00", raw("1e3"), raw("0.10"), raw("-5"), None, "n/a", raw("99999999999999999.99"), "0.1", False,
    raw("12.345"), raw("0"), "1e2",
]
INTEGERS = [
    raw("9223372036854775807"), raw("9223372036854775808"), "12", raw("12.5"), True, raw("-3"), None, "x1", raw("4.0"),
]
BOOLEANS = [True, False, raw("1"), raw("0"), "true", None, "yes", raw("2")]
NAMES = [
    "Ångström", "O'Neil \"x\"", "", None, "Zoë", "İstanbul", "smith", "Smith", "SMITH", "名前", "😀 Smile", "a\tb",
    "nul\u0000cut", "x" * 1500, " leading", "ß", "%_\\", raw("5"), True, raw('"\\\\u0041da \\\\/ esc"'), "Cafe\u0301",
]
KEYS = ["p 1/ü%2F", "0", "00", "1e3", "Ab", "aB", "null", "p\"q'", "-7", "💡"]

WORDS = "screen battery charger keyboard fan hinge speaker camera port housing cable bezel".split()


class Clock:
    def __init__(self, now):
        self.now = now

    def at(self, **distance):
        moment = self.now + timedelta(**distance)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"


def pick(values, number):
    return values[number % len(values)]


def drop_missing(record, number, *fields):
    """Every fifth record lacks these members altogether."""
    return {name: value for name, value in record.items() if number % 5 or name not in fields}


def people(clock):
    for number in range(70):
        key = KEYS[number] if number < len(KEYS) else f"peo_{number:03}"
        yield drop_missing({
            "id": key, "first_name": pick(["Ada", "Bo", "Çelik", "Dai"], number), "last_name": pick(NAMES, number),
            "email": f"p{number}@example.org", "phone": f"+44 7700 900-{number:03}", "passphrase": f"open sesame {number}",
            "address": {"street": f"{number} High St", "door_code": f"{4000 + number}", "lines": [1, {"a": None}]},
            "is_company": pick(BOOLEANS, number), "score": pick(NUMBERS, number),
            "order_count": None if number % 3 else number % 4, "unknown": {"kept": [number, None]},
            "born_at": pick(TIMES, number), "created_at": clock.at(days=-number, hours=-1),
            "updated_at": clock.at(days=-number % 40 - 1)}, number, "score", "unknown", "phone")


def orders(clock):
    for number in range(90):
        yield drop_missing({
            "id": f"ord_{number:03}", "number": pick(INTEGERS, number) if number % 7 == 0 else 1000 + number,
            "person": {"id": KEYS[number % 20] if number % 20 < len(KEYS) else f"peo_{number % 20:03}", "name": "embedded"},
            "status": pick(["booked", "ready", "collected", "cancelled", "lost", None], number),
            "total": pick(MONEY, number), "weight": pick(NUMBERS, number), "tags": [f"t{number % 3}", "all"],
            "details": {"colour": pick(["red", None], number), "size": {"w": number, "h": [1, 2]}},
            "notes": f"{pick(WORDS, number)} and {pick(WORDS, number * 5 + 1)}", "is_urgent": pick(BOOLEANS, number),
            "assigned_user_id": f"usr_{number % 3}", "due_at": pick(TIMES, number),
            "created_at": clock.at(days=-(number % 45), minutes=-number), "updated_at": clock.at(days=-2, minutes=number)},
            number, "is_urgent", "weight", "details")


def devices(clock):
    for number in range(60):
        yield {
            "id": f"dev_{number:03}", "order_id": f"ord_{number % 40:03}", "owner_id": f"peo_{10 + number % 30:03}",
            "model": f"{pick(WORDS, number)} {number % 9}", "serial": f"SN-{number * 7919:08}", "passcode": f"{number:04}",
            "price": pick(MONEY, number), "checked_at": pick(TIMES, number)}


def invoices(clock):
    for number in range(0, 30, 2):
        yield {
            "order_id": f"ord_{number:03}", "amount": pick(MONEY, number), "paid_at": pick(TIMES, number + 3),
            "updated_at": clock.at(days=-3)}


def products(clock):
    for number in range(45):
        yield {
            "sku": number * 100003, "name": f"{pick(WORDS, number)} {pick(NAMES, number)}"[:80], "price": pick(MONEY, number),
            "stock": pick(INTEGERS, number), "ratio": pick(NUMBERS, number), "updated_at": clock.at(days=-4, seconds=number)}


def tickets(clock):
    for number in range(25):
        yield {
            "id": f"tic_{number:02}", "subject": f"About the {pick(WORDS, number)}", "is_open": pick(BOOLEANS, number),
            "updated_at": clock.at(days=-5, seconds=number)}


def replies(clock):
    for number in range(50):
        yield {
            "id": f"rep_{number:02}", "ticket_id": f"tic_{number % 20:02}", "text": f"the {pick(WORDS, number)} is in",
            "pin": f"{number:03}", "created_at": pick(TIMES, number)}


def conversations(clock):
    for number in range(12):
        record = {
            "id": f"con_{number:02}", "participant_ids": ["acc-1", f"usr_{number}"], "updated_at": clock.at(days=-6)}
        if number % 2:
            record |= {"unread_count": number, "last_message_text": "as the server says",
                       "last_message_time": clock.at(days=-7, minutes=number)}
        yield record


def messages(clock):
    for number in range(60):
        yield {
            "id": f"mes_{number:02}", "conversation_id": f"con_{number % 10:02}",
            "sender_id": "acc-1" if number % 3 == 0 else f"usr_{number % 10}", "text": f"line {number} {pick(WORDS, number)}",
            "timestamp": clock.at(days=-8, minutes=number), "status": pick(["sent", "delivered", "read", None], number),
            "read_by": ["acc-1"] if number % 4 == 0 else [], "updated_at": clock.at(days=-6, seconds=number)}


def photos(clock, base):
    for number in range(12):
        yield {
            "id": f"pho_{number:02}", "order_id": f"ord_{number:03}", "caption": f"a {pick(WORDS, number)}",
            "remote_image_url": f"{base}/api/photos/pho_{number:02}/content" if number % 3 < 2 else None,
            "upload_status": "uploaded" if number % 3 < 2 else None, "updated_at": clock.at(days=-6, seconds=number)}


def tasks(clock):
    due = [{"days": 10}, {"hours": 23}, {"hours": 22}, {"hours": 21}, {"hours": 20}, {"days": -30}, {"days": 20}, {"days": 30}]
    for number in range(16):
        yield {
            "id": f"tas_{number:02}", "title": f"check the {'broken' if number == 4 else pick(WORDS, number)} thing",
            "due_at": clock.at(**due[number]) if number < len(due) else pick(TIMES, number),
            "status": pick(["pending", "pending", "pending", "pending", "pending", "pending", "completed", "pending"], number),
            "updated_at": clock.at(days=-6, seconds=number)}


def entries(clock):
    for number in range(130):
        yield {"id": f"ent_{number:03}", "at": clock.at(days=-9, seconds=number), "text": f"entry {number}"}
    # Not usable as keys, so these are set aside.
    yield {"id": raw("1.5"), "text": "a fraction"}
    yield {"id": "x" * 600, "text": "too long"}


def write(folder, base):
    clock = Clock(datetime.now(timezone.utc))
    made = {
        "people": people(clock), "orders": orders(clock), "devices": devices(clock), "invoices": invoices(clock),
        "products": products(clock), "tickets": tickets(clock), "replies": replies(clock),
        "conversations": conversations(clock), "messages": messages(clock), "photos": photos(clock, base),
        "tasks": tasks(clock), "entries": entries(clock), "notices": []}
    for entity, records in made.items():
        (folder / f"{entity}.ndjson").write_text("".join(text(record) + "\n" for record in records))
    return clock
