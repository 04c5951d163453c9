# The queue


@dataclasses.dataclass(frozen=True)
class _Document:
    """An object as the daemon sent it, with all that this module does not know."""

    json: Mapping[str, JSON]

    def _string(self, name: str) -> str:
        return _as_text(self.json.get(name)) or ""

    def _integer(self, name: str) -> int:
        return _as_integer(self.json.get(name)) or 0

    def _time(self, name: str) -> Optional[datetime.datetime]:
        return _as_time(self.json.get(name))


class _Item(_Document):
    """Something with a number that is about a record."""

    @property
    def id(self) -> int:
        """Its number."""
        return self._integer("id")

    @property
    def entity(self) -> str:
        """The entity of the record."""
        return self._string("entity")

    @property
    def record_id(self) -> str:
        """The key of the record."""
        return self._string("record_id")


class AttemptError(_Document):
    """Why an attempt to send a change failed."""

    @property
    def kind(self) -> str:
        """The class: `refused`, `timeout`, …"""
        return self._string("class")

    @property
    def status(self) -> Optional[int]:
        """The upstream's status; None if it gave none."""
        return _as_integer(self.json.get("status"))

    @property
    def message(self) -> str:
        """The reason, for people."""
        return self._string("message")


class QueuedChange(_Item):
    """A change that the upstream does not have."""

    @property
    def state(self) -> str:
        """`queued`, `uploading`, `waiting`, `blocked` or `failed`."""
        return self._string("state")

    @property
    def operation(self) -> str:
        """`create`, `update`, `delete` or `content`."""
        return self._string("operation")

    @property
    def fields(self) -> Sequence[str]:
        """Which fields change."""
        return _as_list(self.json.get("fields")) or ()

    @property
    def body(self) -> Mapping[str, JSON]:
        """The new values, without secrets."""
        return _as_object(self.json.get("body")) or {}

    @property
    def attempts(self) -> int:
        """The attempts that count."""
        return self._integer("retry_count")

    @property
    def created_at(self) -> Optional[datetime.datetime]:
        """When it was made."""
        return self._time("created_at")

    @property
    def error(self) -> Optional[AttemptError]:
        """Why the last attempt failed; None if it did not."""
        found = _as_object(self.json.get("error"))
        return None if found is None else AttemptError(found)

    @property
    def blocked_by(self) -> Optional[int]:
        """The change that it waits for."""
        return _as_integer(self.json.get("blocked_by"))

    @property
    def conflict(self) -> Optional[int]:
        """The conflict that it waits for."""
        return _as_integer(self.json.get("conflict"))

    @property
    def needs_help(self) -> bool:
        """Whether it stays until someone acts."""
        return self.state in ("failed", "blocked")


@dataclasses.dataclass(frozen=True)
class QueueCount:
    """The number of changes that the upstream does not have."""

    pending: int
    """Changes that are not sent yet."""
    failed: int
    """Changes that failed permanently."""


@dataclasses.dataclass(frozen=True)
class Queue:
    """The changes that the upstream does not have."""

    connection: Connection

    def count(self) -> QueueCount:
        """How many there are."""
        found = self.connection.call("GET", "/v1/pending/count").json
        return QueueCount(found["pending"], found["failed"])

    def list(
        self,
        states: Sequence[str] = (),
        entities: Sequence[str] = (),
        record: Optional[str] = None,
        sort: Sequence[str] = (),
        page_size: Optional[int] = None,
    ) -> Iterator[QueuedChange]:
        """The changes, oldest first, page by page: all, or those in some states, of some entities, of one record."""
        query = _query(state=states, entity=entities, record=record, sort=sort, limit=page_size)
        return map(QueuedChange, _pages(self.connection, "/v1/pending", query))

    def get(self, id: int) -> QueuedChange:
        """A change; the problem is `not_found` once it has left the queue."""
        return QueuedChange(self.connection.call("GET", f"/v1/pending/{id}").json)

    def retry(self, id: int) -> int:
        """Tries a failed or waiting change now. Returns how many changes that were."""
        return int(self.connection.call("POST", f"/v1/pending/{id}/retry").json["retried"])

    def retry_all(self) -> int:
        """Tries all failed changes now. Returns their number."""
        return int(self.connection.call("POST", "/v1/pending/retry").json["retried"])

    def correct(
        self, id: int, fields: Optional[Mapping[str, object]] = None, remove: Sequence[str] = ()
    ) -> QueuedChange:
        """Replaces fields of a change, takes others out of it, and tries it again."""
        return QueuedChange(
            self.connection.call("PATCH", f"/v1/pending/{id}", _query(remove=remove), fields or {}).json
        )

    def discard(self, id: int, cascade: bool = False) -> None:
        """Discards a change: the record is as the upstream has it. `cascade` also discards what depends on it."""
        self.connection.call("DELETE", f"/v1/pending/{id}", _query(cascade=cascade))

    def wait(self, ids: Optional[Sequence[int]] = None, timeout: float = 60) -> Sequence[QueuedChange]:
        """Waits until the upstream has these changes, or all that are queued now. Returns those that it does not have.

        It ends sooner if someone has to act on all that are left. A change that was discarded is not among them.
        For one that has corrected another, that one is.
        """
        end = time.monotonic() + timeout
        position = self.connection.position()
        left = {one.id: one for one in self.list()} if ids is None else self._of(set(ids))
        while True:
            pause = end - time.monotonic()
            if pause <= 0 or all(one.needs_help for one in left.values()):
                return tuple(left.values())
            news, position = self._news(position, min(int(pause) + 1, 30))
            for one in news:
                if one.kind in ("acknowledged", "discarded"):
                    known = left.pop(_as_integer(one.json.get("change_id")) or 0, None)
                    carrier = _as_integer(one.json.get("carrier"))
                    if known is not None and carrier:
                        left.update(self._of({carrier}))
            # What waits for a change that has failed is blocked from then on.
            if not news or any(one.kind in ("failed", "conflict") for one in news):
                left = self._of(set(left))

    def _of(self, ids: set[int]) -> dict[int, QueuedChange]:
        return {one.id: one for one in self.list() if one.id in ids} if ids else {}

    def _news(self, position: str, wait: int) -> tuple[Sequence[Change], str]:
        """What has happened in the queue since then; nothing if it is no longer known."""
        epoch, _, number = position.rpartition("-")
        kinds = ("acknowledged", "discarded", "failed", "conflict")
        query = _query(since=number, epoch=epoch, kind=kinds, wait=wait)
        try:
            found = self.connection.call("GET", "/v1/changes", query, wait=wait).json
        except Problem as problem:
            if problem.status != 410:
                raise
            return (), self.connection.position()
        return [Change(one, "") for one in found["data"]], f"{found['epoch']}-{found['next']}"


class Conflict(_Item):
    """A field, or a whole record, that was changed here and elsewhere."""

    @property
    def change(self) -> Optional[int]:
        """The change that was made here; it may have left the queue."""
        return _as_integer(self.json.get("change_id"))

    @property
    def field(self) -> Optional[str]:
        """The field; None for the whole record."""
        return _as_text(self.json.get("field"))

    @property
    def base(self) -> JSON:
        """The value that both sides started from."""
        return self.json.get("base")

    @property
    def local(self) -> JSON:
        """The value that was written here."""
        return self.json.get("local")

    @property
    def server(self) -> JSON:
        """The value that the upstream has."""
        return self.json.get("server")

    @property
    def winner(self) -> Optional[str]:
        """`local` or `server`; None until someone chooses."""
        return _as_text(self.json.get("winner"))


@dataclasses.dataclass(frozen=True)
class Conflicts:
    """What was changed here and elsewhere."""

    connection: Connection

    def list(self, open_only: bool = False, page_size: Optional[int] = None) -> Iterator[Conflict]:
        """The conflicts, newest first, page by page; `open_only` has those that wait for a choice."""
        query = _query(open=open_only, limit=page_size)
        return map(Conflict, _pages(self.connection, "/v1/conflicts", query))

    def get(self, id: int) -> Conflict:
        """One conflict."""
        return Conflict(self.connection.call("GET", f"/v1/conflicts/{id}").json)

    def resolve(self, id: int, winner: Literal["local", "server"]) -> Conflict:
        """Chooses a side."""
        return Conflict(self.connection.call("POST", f"/v1/conflicts/{id}/resolve", body={"winner": winner}).json)

    def undo(self, id: int) -> Conflict:
        """Queues the other choice as a new change."""
        return Conflict(self.connection.call("POST", f"/v1/conflicts/{id}/undo").json)
