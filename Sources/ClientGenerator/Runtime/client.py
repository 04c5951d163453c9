import dataclasses
import datetime
import decimal
import http.client
import json
import os
import random
import socket
import time
import urllib.parse
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable, ClassVar, Generic, NewType, Optional, TypedDict, TypeVar, Union

JSON = Any
"""A value of JSON. Numbers with a fraction are `decimal.Decimal`, so money keeps its digits."""


class Problem(Exception):
    """The daemon refused a call; nothing was done."""

    def __init__(self, status: int, document: Mapping[str, JSON], retry_after: Optional[float] = None) -> None:
        super().__init__(document.get("detail") or document.get("title") or f"status {status}")
        self.status = status
        self.document = document
        self.retry_after = retry_after

    @property
    def code(self) -> str:
        """What went wrong, for programs: `invalid_fields`, `version_mismatch`."""
        return str(self.document.get("code", ""))

    @property
    def errors(self) -> Sequence[Mapping[str, JSON]]:
        """What is wrong with each part of the input."""
        return self.document.get("errors") or []


class Unreachable(Exception):
    """No daemon answers there; nothing was sent."""


class Interrupted(Exception):
    """The answer was lost: a write may have been done."""


# Values

V = TypeVar("V")

def _write(value: object) -> str:
    """A value as JSON, with the digits that numbers have."""
    if isinstance(value, decimal.Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is not a JSON number")
        return str(value)
    if isinstance(value, datetime.datetime):
        return json.dumps(_time_text(value))
    if isinstance(value, datetime.date):
        return json.dumps(value.isoformat())
    if isinstance(value, Mapping):
        return "{" + ",".join(json.dumps(str(name)) + ":" + _write(one) for name, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_write, value)) + "]"
    return json.dumps(value, allow_nan=False)


def _read(text: Union[str, bytes]) -> JSON:
    return json.loads(text, parse_int=_whole, parse_float=_fraction)


def _whole(digits: str) -> Union[int, decimal.Decimal]:
    """Python makes no `int` of thousands of digits, and one such number in a record must not end a program."""
    try:
        return int(digits)
    except ValueError:
        return decimal.Decimal(digits)


def _fraction(digits: str) -> decimal.Decimal:
    """A number whose exponent is beyond what a `Decimal` has is infinite, or zero."""
    try:
        return decimal.Decimal(digits)
    except decimal.InvalidOperation:
        return decimal.Decimal(float(digits))


def _time_text(value: datetime.datetime) -> str:
    if value.tzinfo is None:
        raise ValueError("a time needs a time zone: datetime.datetime.now(datetime.timezone.utc)")
    return value.astimezone(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _text(value: object) -> str:
    """A value as it stands in a query."""
    text = value if isinstance(value, str) else _write(value)
    return text[1:-1] if isinstance(value, (datetime.datetime, datetime.date)) else str(text)


def _as_text(value: JSON) -> Optional[str]:
    return value if isinstance(value, str) else None


def _as_id(value: JSON) -> Optional[str]:
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else None


def _as_named(type: Callable[[str], V], value: JSON) -> Optional[V]:
    text = _as_id(value)
    return None if text is None else type(text)


def _as_integer(value: JSON) -> Optional[int]:
    try:
        return None if isinstance(value, (bool, decimal.Decimal)) else int(value)
    except (TypeError, ValueError):
        return None


def _as_decimal(value: JSON) -> Optional[decimal.Decimal]:
    try:
        return None if isinstance(value, bool) else decimal.Decimal(value)
    except (TypeError, ValueError, decimal.InvalidOperation):
        return None


def _as_boolean(value: JSON) -> Optional[bool]:
    return value if isinstance(value, bool) else {"true": True, "false": False}.get(str(value))


def _as_time(value: JSON) -> Optional[datetime.datetime]:
    if not isinstance(value, str):
        return None
    try:
        # Python before 3.11 reads no Z, and only three or six digits of a second.
        head, dot, tail = value.replace("Z", "+00:00").partition(".")
        digits = tail[: len(tail) - len(tail.lstrip("0123456789"))]
        found = datetime.datetime.fromisoformat(head + dot + (digits + "000000")[:6] * bool(dot) + tail[len(digits) :])
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=datetime.timezone.utc)


def _as_day(value: JSON) -> Optional[datetime.date]:
    try:
        return datetime.date.fromisoformat(value)
    except (TypeError, ValueError):
        return None


def _as_object(value: JSON) -> Optional[dict[str, JSON]]:
    return value if isinstance(value, dict) else None


def _as_list(value: JSON) -> Optional[list[JSON]]:
    return value if isinstance(value, list) else None


# Records


@dataclasses.dataclass(frozen=True)
class Record:
    """A record as the daemon sent it, with all that the schema does not know."""

    json: Mapping[str, JSON]
    tag: Optional[str] = None
    """The version, for `if_match`; None for a record of a list."""

    ENTITY: ClassVar[str] = ""

    def _at(self, name: str, *place: str) -> JSON:
        found: JSON = self.json.get(name)
        if found is not None or not place:
            return found
        found = self.json
        for step in place:
            found = found.get(step) if isinstance(found, dict) else None
        return found

    def _one(self, relation: str) -> Optional[Mapping[str, JSON]]:
        return (self.json.get("_include") or {}).get(relation)

    def _many(self, relation: str) -> Sequence[Mapping[str, JSON]]:
        return (self.json.get("_include") or {}).get(relation) or []

    @property
    def sync_state(self) -> str:
        """`synced`, `pending`, `uploading`, `conflict` or `error`."""
        return str((self.json.get("_sync") or {}).get("state", ""))

    def label_of(self, field: str) -> Optional[str]:
        """The label of an enum value; None unless labels were asked for."""
        return (self.json.get("_labels") or {}).get(field)


R = TypeVar("R", bound=Record)
I = TypeVar("I", bound=str)
N = TypeVar("N", bound=Mapping[str, Any])
U = TypeVar("U", bound=Mapping[str, Any])


# Queries


class Condition:
    """What a record must meet. Combine conditions with `&`, `|` and `~`."""

    def __and__(self, other: "Condition") -> "Condition":
        return _Group("and", (*_parts(self, "and"), *_parts(other, "and")))

    def __or__(self, other: "Condition") -> "Condition":
        return _Group("or", (*_parts(self, "or"), *_parts(other, "or")))

    def __invert__(self) -> "Condition":
        return _Not(self)

    def _expression(self, negation: str = "") -> str:
        """The condition as it stands in parentheses."""
        raise NotImplementedError

    def _parameter(self) -> Optional[tuple[str, str]]:
        """The condition as a parameter of its own; None if only parentheses can say it."""
        return None


@dataclasses.dataclass(frozen=True)
class _Comparison(Condition):
    field: str
    name: str
    values: tuple[str, ...]

    _WORDS: ClassVar[frozenset[str]] = frozenset(
        "eq ne lt lte gt gte in nin null starts contains has not and or".split()
    )

    def _expression(self, negation: str = "") -> str:
        path = ".".join(f'"{one}"' if one in self._WORDS else _quoted(one, ". ") for one in self.field.split("."))
        texts = [_quoted(one) for one in self.values]
        value = f"({','.join(texts)})" if self.name == "in" else texts[0]
        return f"{path}.{negation}{self.name}.{value}"

    def _parameter(self) -> Optional[tuple[str, str]]:
        if self.name == "in":
            return f"{self.field}.in", ",".join(map(_quoted, self.values))
        if self.name in ("lt", "lte", "gt", "gte") and "," in self.values[0]:
            return None
        return f"{self.field}.{self.name}", self.values[0]


@dataclasses.dataclass(frozen=True)
class _Group(Condition):
    word: str
    parts: tuple[Condition, ...]

    def _expression(self, negation: str = "") -> str:
        return f"{negation}{self.word}({','.join(one._expression() for one in self.parts)})"


@dataclasses.dataclass(frozen=True)
class _Not(Condition):
    condition: Condition

    def _expression(self, negation: str = "") -> str:
        return self.condition._expression("" if negation else "not.")


def _parts(condition: Condition, word: str) -> tuple[Condition, ...]:
    return condition.parts if isinstance(condition, _Group) and condition.word == word else (condition,)


def _quoted(value: str, more: str = "") -> str:
    if value and not set(value) & set(',()" \\' + more):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


@dataclasses.dataclass(frozen=True)
class ListedField:
    """A field that lists sort by."""

    name: str

    def is_null(self) -> Condition:
        """The field is null or missing."""
        return _Comparison(self.name, "null", ("true",))

    def descending(self) -> str:
        """The field for `sort`, the greatest first."""
        return f"-{self.name}"

    def __str__(self) -> str:
        return self.name


class SealedField(ListedField, Generic[V]):
    """A field that is stored encrypted: it is compared with whole values."""

    def equals(self, value: V) -> Condition:
        """The field is this value."""
        return _Comparison(self.name, "eq", (_text(value),))

    def is_one_of(self, *values: V) -> Condition:
        """The field is one of these values."""
        return _Comparison(self.name, "in", tuple(map(_text, values)))


class ValueField(SealedField[V]):
    """A number, a truth value, a time or a day."""

    def less(self, value: V) -> Condition:
        """The field is less than this."""
        return _Comparison(self.name, "lt", (_text(value),))

    def at_most(self, value: V) -> Condition:
        """The field is at most this."""
        return _Comparison(self.name, "lte", (_text(value),))

    def greater(self, value: V) -> Condition:
        """The field is greater than this."""
        return _Comparison(self.name, "gt", (_text(value),))

    def at_least(self, value: V) -> Condition:
        """The field is at least this."""
        return _Comparison(self.name, "gte", (_text(value),))


class TextField(ValueField[V]):
    """A field of text."""

    def starts(self, text: str) -> Condition:
        """The field begins with this text; A to Z in either case."""
        return _Comparison(self.name, "starts", (text,))

    def contains(self, text: str) -> Condition:
        """The field has this text in it; A to Z in either case."""
        return _Comparison(self.name, "contains", (text,))


class ListField(ListedField):
    """A list."""

    def has(self, element: object) -> Condition:
        """The list has this element."""
        return _Comparison(self.name, "has", (_text(element),))


class ObjectField(ListedField):
    """An object."""

    def at(self, *names: str) -> SealedField[object]:
        """A place in the object, by the names that lead there."""
        return SealedField(".".join((self.name, *names)))


@dataclasses.dataclass(frozen=True)
class Relation:
    """Records that can come along: `include=[Order.relations.client]`."""

    path: str = ""

    def _then(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def __str__(self) -> str:
        return self.path


@dataclasses.dataclass(frozen=True)
class Page(Generic[R]):
    """A part of a list."""

    items: Sequence[R]
    next: Optional[str]
    """Where the next page begins; None on the last one."""
    total: Optional[int]
    """The number of all records that match, if it was asked for."""


@dataclasses.dataclass(frozen=True)
class Written(Generic[R]):
    """What came of a write. It is on disk; whether the upstream has it depends on whether you waited."""

    status: int
    id: Optional[str]
    """The id of a new record; the upstream may give it another one later, and both work from then on."""
    record: Optional[R]
    """The record as it is now; None after a deletion."""
    is_replayed: bool
    """Whether this is the answer to an earlier call with the same key."""

    @property
    def push(self) -> Optional[Mapping[str, JSON]]:
        """Why the upstream does not have the write, though the call waited; None if it has it, or nothing waited."""
        return (self.record.json.get("_sync") or {}).get("push") if self.record else None


# Calls


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


@dataclasses.dataclass(frozen=True)
class Answer:
    """The answer to a call that succeeded."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> JSON:
        return _read(self.body) if self.body else None


class Connection:
    """Calls of the daemon's local API, one connection each, and safely repeated.

    Without an address it is the socket of the Debian package if that exists, else 127.0.0.1:7679. An address is the
    path of a socket, or `host:port`. The token is only for callers whom the daemon does not know by their user.
    """

    SOCKET = "/run/repairminder-sync/api.sock"

    def __init__(
        self,
        address: Optional[str] = None,
        token_file: Optional[str] = None,
        attempts: int = 5,
        patience: float = 60,
    ) -> None:
        self._address = address or (self.SOCKET if os.path.exists(self.SOCKET) else "127.0.0.1:7679")
        self._token_file = token_file
        self._attempts = attempts
        self._patience = patience

    def call(
        self,
        method: str,
        path: str,
        query: Sequence[tuple[str, str]] = (),
        body: object = None,
        headers: Optional[Mapping[str, str]] = None,
        wait: float = 0,
    ) -> Answer:
        """Any call of the API. Reads, and writes with an `Idempotency-Key`, are repeated when the daemon is down or busy,
        or when the answer was lost."""
        sent = dict(headers or {})
        is_content = isinstance(body, bytes)
        if method != "GET":
            sent.setdefault("Content-Type", "application/json")
            if not is_content:
                sent.setdefault("Idempotency-Key", str(uuid.uuid4()))
        data = body if isinstance(body, bytes) else None if body is None else _write(body).encode()
        target = path + ("?" + urllib.parse.urlencode(query, quote_via=urllib.parse.quote) if query else "")
        attempt = 1
        while True:
            try:
                response = self._send(method, target, data, sent, wait)
                try:
                    return Answer(response.status, response.headers, response.read())
                except (OSError, http.client.HTTPException) as error:
                    raise Interrupted(f"{method} {path}: the answer was cut off: {error}") from error
                finally:
                    response.close()
            except (Problem, Unreachable, Interrupted) as error:
                pause = min(0.2 * 2.0 ** (attempt - 1), 10)
                if isinstance(error, Problem):
                    if error.status not in (429, 503) or error.retry_after is None or error.retry_after > 10:
                        raise
                    pause = max(pause, error.retry_after)
                if attempt >= self._attempts:
                    raise
                time.sleep(pause * random.uniform(1, 1.25))
                attempt += 1

    def _send(
        self, method: str, target: str, data: Optional[bytes], headers: Mapping[str, str], wait: float
    ) -> http.client.HTTPResponse:
        """The answer once its head has come. Its connection closes with it."""
        sent = {"Accept": "application/json", "Connection": "close", **headers}
        if self._token_file is not None:
            with open(self._token_file, encoding="utf-8") as file:
                sent["Authorization"] = "Bearer " + file.read().strip()
        timeout = self._patience + wait
        connection: http.client.HTTPConnection
        if self._address.startswith("/"):
            connection = _UnixConnection(self._address, timeout)
        else:
            connection = http.client.HTTPConnection(self._address, timeout=timeout)
        try:
            connection.connect()
        except OSError as error:
            connection.close()
            raise Unreachable(f"there is no daemon at {self._address}: {error}") from error
        try:
            connection.request(method, target, data, sent)
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            raise Interrupted(f"{method} {target}: the answer was lost: {error}") from error
        finally:
            # The response holds the socket until it is read or closed.
            connection.close()
        if 200 <= response.status < 300 or response.status == 304:
            return response
        return self._refuse(response)

    def _refuse(self, response: http.client.HTTPResponse) -> http.client.HTTPResponse:
        with response:
            try:
                document = _read(response.read())
            except (OSError, ValueError, http.client.HTTPException):
                document = None
        asked = response.getheader("Retry-After", "")
        raise Problem(
            response.status,
            document if isinstance(document, dict) else {},
            float(asked) if asked.isdigit() else None,
        )

    def position(self) -> str:
        """Where the change log ends now, for `follow`."""
        found = self.call("GET", "/v1/changes", [("limit", "1")]).json
        return f"{found['epoch']}-{found['next']}"

    def follow(
        self, since: Optional[str] = None, entities: Sequence[str] = (), kinds: Sequence[str] = ()
    ) -> Iterator["Change"]:
        """The changes as they happen, without end. It connects again after cuts, and continues after the last change.

        A change whose `is_resync` is true says that changes are missing: read the records again. Store the `position`
        of a change to continue there after a restart of your program.
        """
        query = [(name, ",".join(names)) for name, names in (("entity", entities), ("kind", kinds)) if names]
        position = since or self.position()
        failures, has_begun = 0, False
        while True:
            try:
                headers = {"Accept": "text/event-stream", "Last-Event-ID": position}
                with self._send("GET", "/v1/events" + ("?" + urllib.parse.urlencode(query) if query else ""),
                                None, headers, 0) as response:
                    has_begun = True
                    for name, data in _events(response):
                        failures = 0
                        position = name or position
                        if data:
                            yield Change(_read(data), position)
            except Problem as error:
                if error.status == 410:
                    position = self.position()
                    has_begun = True
                    yield Change({}, position, is_resync=True)
                    continue
                if not has_begun or error.status not in (429, 503):
                    raise
            except (Unreachable, Interrupted, OSError, http.client.HTTPException):
                if not has_begun:
                    raise
            time.sleep(min(0.1 * 2.0 ** min(failures, 10), 3) * random.uniform(1, 1.25))
            failures += 1


def _events(response: http.client.HTTPResponse) -> Iterator[tuple[str, str]]:
    """The id and the data of each event of a stream; an event without its empty line is not complete."""
    name, data = "", ""
    for line in response:
        field, _, value = line.decode().rstrip("\r\n").partition(": ")
        if field == "id":
            name = value
        elif field == "data":
            data += value
        elif not field and (name or data):
            yield name, data
            name, data = "", ""


@dataclasses.dataclass(frozen=True)
class Change:
    """An entry of the change log."""

    json: Mapping[str, JSON]
    position: str
    """Where the log continues after this entry."""
    is_resync: bool = False
    """Whether changes are missing: read the records again."""

    @property
    def kind(self) -> str:
        """`upserted`, `deleted`, `queued`, `acknowledged`, `failed`, …"""
        return str(self.json.get("kind", ""))

    @property
    def entity(self) -> str:
        """The entity of the record."""
        return str(self.json.get("entity", ""))

    @property
    def record_id(self) -> str:
        """The key of the record."""
        return str(self.json.get("id", ""))


@dataclasses.dataclass(frozen=True)
class Records(Generic[R, I]):
    """The records of one entity. In every place of an id, a natural key works too (`order_number:1486`)."""

    connection: Connection
    record: Callable[[Mapping[str, JSON], Optional[str]], R]
    entity: str

    def list(
        self,
        *where: Condition,
        words: Optional[str] = None,
        sort: Sequence[Union[ListedField, str]] = (),
        include: Sequence[Union[Relation, str]] = (),
        labels: bool = False,
        page_size: Optional[int] = None,
    ) -> Iterator[R]:
        """All records that meet the conditions, page by page."""
        cursor: Optional[str] = None
        while True:
            page = self.page(
                *where, words=words, sort=sort, include=include, labels=labels, page_size=page_size, cursor=cursor
            )
            yield from page.items
            cursor = page.next
            if cursor is None:
                return

    def page(
        self,
        *where: Condition,
        words: Optional[str] = None,
        sort: Sequence[Union[ListedField, str]] = (),
        include: Sequence[Union[Relation, str]] = (),
        labels: bool = False,
        page_size: Optional[int] = None,
        cursor: Optional[str] = None,
        count: bool = False,
    ) -> Page[R]:
        """A page of a list, which begins at `cursor`: `next` of the page before it."""
        query = _filters(where)
        for name, value in (
            ("q", words),
            ("sort", ",".join(map(str, sort))),
            ("include", ",".join(map(str, include))),
            ("labels", "true" if labels else None),
            ("limit", None if page_size is None else str(page_size)),
            ("count", "true" if count else None),
            ("cursor", cursor),
        ):
            if value:
                query.append((name, value))
        found = self.connection.call("GET", f"/v1/{self.entity}", query).json
        return Page([self.record(one, None) for one in found["data"]], found["next"], found.get("total"))

    def first(self, *where: Condition, sort: Sequence[Union[ListedField, str]] = ()) -> Optional[R]:
        """The first record of a list; None if it is empty."""
        items = self.page(*where, sort=sort, page_size=1).items
        return items[0] if items else None

    def count(self, *where: Condition) -> int:
        """The number of records in a list."""
        return self.page(*where, page_size=1, count=True).total or 0

    def get(
        self, id: I, include: Sequence[Union[Relation, str]] = (), refresh: Optional[bool] = None
    ) -> R:
        """A record; `refresh=True` asks the upstream first, `False` only the cache."""
        query = [("include", ",".join(map(str, include)))] if include else []
        if refresh is not None:
            query.append(("refresh", _write(refresh)))
        answer = self.connection.call("GET", self._path(id), query)
        return self.record(answer.json, answer.headers.get("ETag"))

    def _path(self, id: str, *more: str) -> str:
        return "/v1/" + "/".join(urllib.parse.quote(one, safe="") for one in (self.entity, id, *more))

    def _save(
        self,
        method: str,
        path: str,
        fields: Optional[Mapping[str, object]],
        wait: Optional[int],
        key: Optional[str],
        if_match: Optional[str] = None,
    ) -> Written[R]:
        headers = {"Idempotency-Key": key or str(uuid.uuid4())}
        if wait is not None:
            headers["Prefer"] = f"wait={wait}"
        if if_match is not None:
            headers["If-Match"] = if_match
        answer = self.connection.call(method, path, body=fields, headers=headers, wait=wait or 0)
        json, place = answer.json, answer.headers.get("Location")
        return Written(
            answer.status,
            urllib.parse.unquote(place.rsplit("/", 1)[-1]) if place else None,
            self.record(json, answer.headers.get("ETag")) if isinstance(json, dict) else None,
            answer.headers.get("Idempotent-Replayed") == "true",
        )


def _filters(conditions: Sequence[Condition]) -> list[tuple[str, str]]:
    """A parameter may come once, so a second condition of one name stands in parentheses."""
    query: dict[str, str] = {}
    others: list[Condition] = []
    for condition in (part for one in conditions for part in _parts(one, "and")):
        parameter = condition._parameter()
        if parameter and parameter[0] not in query:
            query[parameter[0]] = parameter[1]
        else:
            others.append(condition)
    if others:
        query["and"] = f"({','.join(one._expression() for one in others)})"
    return list(query.items())


class CreatableRecords(Records[R, I], Generic[R, I, N]):
    """Records that can be created."""

    def create(self, new: N, wait: Optional[int] = None, key: Optional[str] = None) -> Written[R]:
        """Creates a record, and waits up to so many seconds for the upstream.

        A `key` of your own, stored before, makes the same call safe after a restart of your program.
        """
        return self._save("POST", f"/v1/{self.entity}", new, wait, key)


class UpdatableRecords(Records[R, I], Generic[R, I, U]):
    """Records that can be changed."""

    def update(
        self,
        id: I,
        changes: U,
        wait: Optional[int] = None,
        if_match: Optional[str] = None,
        key: Optional[str] = None,
    ) -> Written[R]:
        """Changes the named fields; None sets one to null. `if_match=record.tag` keeps what others have changed."""
        return self._save("PATCH", self._path(id), changes, wait, key, if_match)

    def edit(
        self, id: I, change: Callable[[R], Optional[U]], wait: Optional[int] = None, attempts: int = 10
    ) -> Optional[Written[R]]:
        """Reads a record, changes it and writes it, again if someone else has changed it in between.

        `change` may run several times; None leaves the record as it is.
        """
        while True:
            record = self.get(id)
            changes = change(record)
            if changes is None:
                return None
            try:
                return self.update(id, changes, wait, record.tag)
            except Problem as error:
                attempts -= 1
                if error.code != "version_mismatch" or attempts < 1:
                    raise


class DeletableRecords(Records[R, I]):
    """Records that can be deleted."""

    def delete(
        self, id: I, wait: Optional[int] = None, if_match: Optional[str] = None, key: Optional[str] = None
    ) -> Written[R]:
        """Deletes the record here at once, and queues the deletion."""
        return self._save("DELETE", self._path(id), None, wait, key, if_match)


class ContentRecords(Records[R, I]):
    """Records with content, such as pictures."""

    def content(self, id: I) -> bytes:
        """The content. It is fetched from the upstream if it is not here."""
        return self.connection.call("GET", self._path(id, "content"), headers={"Accept": "*/*"}, wait=240).body

    def thumbnail(self, id: I, size: int = 256) -> bytes:
        """A small, upright picture; `size` is its longest side: 64, 128, 256, 512 or 1024 pixels."""
        query = [("size", str(size))]
        return self.connection.call("GET", self._path(id, "thumbnail"), query, headers={"Accept": "*/*"}, wait=240).body


class UploadableRecords(ContentRecords[R, I]):
    """Records whose content can be set."""

    def set_content(self, id: I, content: bytes, type: str) -> None:
        """Stores the content and queues its upload."""
        self.connection.call("PUT", self._path(id, "content"), body=content, headers={"Content-Type": type})
