import dataclasses
import datetime
import decimal
import http.client
import json
import os
import random
import socket
import sys
import time
import urllib.parse
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable, ClassVar, Generic, Literal, NewType, Optional, TypedDict, TypeVar, Union

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
