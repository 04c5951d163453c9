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

    @property
    def changes(self) -> Sequence[int]:
        """The changes in the queue that carry the write, if it waited and the upstream does not have it: for `queue.wait`."""
        return _as_list((self.push or {}).get("changes")) or ()
