# The daemon


class Reminder(_Item):
    """A reminder of a record."""

    @property
    def state(self) -> str:
        """`scheduled`, `due`, `delivered`, `snoozed` or `dismissed`."""
        return self._string("state")

    @property
    def rule(self) -> str:
        """The schema's rule."""
        return self._string("rule")

    @property
    def text(self) -> str:
        """What it says."""
        return self._string("text")

    @property
    def due_at(self) -> Optional[datetime.datetime]:
        """When it falls due."""
        return self._time("due_at")

    @property
    def snoozed_until(self) -> Optional[datetime.datetime]:
        """When it comes again."""
        return self._time("snoozed_until")


@dataclasses.dataclass(frozen=True)
class Reminders:
    """What the schema's rules remind of."""

    connection: Connection

    def list(self, states: Sequence[str] = (), page_size: Optional[int] = None) -> Iterator[Reminder]:
        """The reminders by time, page by page: those in some states, or all that were not dismissed."""
        query = _query(state=states, limit=page_size)
        return map(Reminder, _pages(self.connection, "/v1/reminders", query))

    def get(self, id: int) -> Reminder:
        """One reminder."""
        return Reminder(self.connection.call("GET", f"/v1/reminders/{id}").json)

    def dismiss(self, id: int) -> Reminder:
        """Dismisses a reminder."""
        return Reminder(self.connection.call("POST", f"/v1/reminders/{id}/dismiss").json)

    def snooze(self, id: int, delay: datetime.timedelta) -> Reminder:
        """Repeats a reminder that is due, after this time."""
        body = {"for": _duration(delay)}
        return Reminder(self.connection.call("POST", f"/v1/reminders/{id}/snooze", body=body).json)


class Hook(_Document):
    """A hook of the configuration."""

    @property
    def state(self) -> str:
        """`waiting` for an event, `retrying` a delivery, or `paused`."""
        return self._string("state")

    @property
    def name(self) -> str:
        """Its name in the configuration."""
        return self._string("name")

    @property
    def attempts(self) -> int:
        """The failed attempts of the delivery that is next."""
        return self._integer("attempts")

    @property
    def error(self) -> Optional[str]:
        """Why the last of them failed; None if there is none."""
        return _as_text(self.json.get("error"))

    @property
    def next_attempt_at(self) -> Optional[datetime.datetime]:
        """When it is tried again."""
        return self._time("next_attempt_at")

    @property
    def delivered(self) -> int:
        """The number of deliveries that were accepted."""
        return self._integer("delivered")

    @property
    def parked(self) -> int:
        """The number of deliveries that failed too often and wait for someone."""
        return self._integer("parked")

    @property
    def parked_deliveries(self) -> Sequence[Mapping[str, JSON]]:
        """The oldest of them, each with its `id`; empty in a list of hooks."""
        return _as_list(self.json.get("parked_deliveries")) or ()


@dataclasses.dataclass(frozen=True)
class Hooks:
    """The hooks of the configuration, by their names."""

    connection: Connection

    def list(self) -> Sequence[Hook]:
        """All hooks."""
        return [Hook(one) for one in self.connection.call("GET", "/v1/_hooks").json["data"]]

    def get(self, name: str) -> Hook:
        """A hook, with its parked deliveries."""
        return Hook(self.connection.call("GET", self._path(name)).json)

    def pause(self, name: str) -> Hook:
        """Pauses a hook; what happens meanwhile is delivered afterwards."""
        return self._do(name, "pause")

    def resume(self, name: str) -> Hook:
        """Ends the pause."""
        return self._do(name, "resume")

    def skip(self, name: str) -> Hook:
        """Gives up the delivery that has failed, and goes on with the next."""
        return self._do(name, "skip")

    def retry(self, name: str, parked: Optional[int] = None) -> Hook:
        """Tries the failed delivery now, and all parked ones again, or only this parked one."""
        return self._do(name, "retry", parked)

    def discard(self, name: str, parked: Optional[int] = None) -> Hook:
        """Discards all parked deliveries, or only this one."""
        return self._do(name, "discard", parked)

    def _path(self, *names: str) -> str:
        return "/".join(("/v1/_hooks", *(urllib.parse.quote(one, safe="") for one in names)))

    def _do(self, name: str, action: str, parked: Optional[int] = None) -> Hook:
        body = None if parked is None else {"id": parked}
        return Hook(self.connection.call("POST", self._path(name, action), body=body).json)


class DaemonStatus(_Document):
    """The state of syncing and of the queue."""

    @property
    def state(self) -> str:
        """`idle`, `syncing`, `completed`, `error`, `offline` or `paused`."""
        return self._string("state")

    @property
    def error(self) -> Optional[str]:
        """Why the state is `error` or `offline`."""
        return _as_text(self.json.get("error"))

    @property
    def missing(self) -> Optional[str]:
        """What someone must provide before anything can sync, such as a sign-in."""
        return _as_text(self.json.get("missing"))

    @property
    def warnings(self) -> Sequence[str]:
        """What the administrator should know."""
        return _as_list(self.json.get("warnings")) or ()

    @property
    def last_sync_at(self) -> Optional[datetime.datetime]:
        """The end of the last successful sync."""
        return self._time("last_sync_at")

    @property
    def pending(self) -> int:
        """Changes that are not sent yet."""
        return self._integer("pending")

    @property
    def failed(self) -> int:
        """Changes that failed permanently."""
        return self._integer("failed")

    @property
    def conflicts(self) -> int:
        """Conflicts that wait for a choice."""
        return self._integer("conflicts")

    @property
    def parked_deliveries(self) -> int:
        """Deliveries of hooks that failed too often and wait for someone."""
        return self._integer("parked_deliveries")

    @property
    def is_reachable(self) -> bool:
        """Whether the upstream can be reached."""
        return bool((_as_object(self.json.get("upstream")) or {}).get("reachable"))

    def rows(self, entity: str) -> int:
        """The number of cached records of an entity."""
        found = (_as_object(self.json.get("entities")) or {}).get(entity) or {}
        return _as_integer(found.get("rows")) or 0


@dataclasses.dataclass(frozen=True)
class Daemon:
    """Status and syncing."""

    connection: Connection

    def status(self) -> DaemonStatus:
        """The state of syncing and of the queue."""
        return DaemonStatus(self.connection.call("GET", "/v1/status").json)

    def sync(
        self, entities: Sequence[str] = (), full: bool = False, delete: bool = False, wait: bool = False
    ) -> DaemonStatus:
        """Starts a sync, or joins the running one; `wait` waits for its end, and raises a problem if it fails.

        `full` pulls everything, not only what changed; `delete` then deletes all that the upstream no longer lists.
        """
        body: dict[str, object] = {"entities": entities} if entities else {}
        body.update({name: True for name, value in (("full", full), ("delete", delete)) if value})
        # A first sync reads everything.
        call = self.connection.call("POST", "/v1/sync", _query(wait=wait), body, wait=3600 if wait else 0)
        return DaemonStatus(call.json)

    def pause(self) -> DaemonStatus:
        """Pauses sending and pulling; reads and writes of the cache go on."""
        return DaemonStatus(self.connection.call("POST", "/v1/sync/pause").json)

    def resume(self) -> DaemonStatus:
        """Ends the pause."""
        return DaemonStatus(self.connection.call("POST", "/v1/sync/resume").json)


class LocalAPI(Connection):
    """What the API has for every schema."""

    @property
    def queue(self) -> Queue:
        """The changes that the upstream does not have."""
        return Queue(self)

    @property
    def conflicts(self) -> Conflicts:
        """What was changed here and elsewhere."""
        return Conflicts(self)

    @property
    def reminders(self) -> Reminders:
        """What the schema's rules remind of."""
        return Reminders(self)

    @property
    def hooks(self) -> Hooks:
        """The hooks of the configuration."""
        return Hooks(self)

    @property
    def daemon(self) -> Daemon:
        """Status and syncing."""
        return Daemon(self)


def _query(**parameters: Union[None, bool, int, str, Sequence[str]]) -> list[tuple[str, str]]:
    """Those that are given; a list is sent as names separated by commas."""
    texts = {
        name: _text(value) if isinstance(value, (bool, int, str)) else ",".join(value)
        for name, value in parameters.items()
        if value
    }
    return list(texts.items())


def _pages(
    connection: Connection, path: str, query: Sequence[tuple[str, str]]
) -> Iterator[Mapping[str, JSON]]:
    """The elements of a list, page by page."""
    cursor: list[tuple[str, str]] = []
    while True:
        found = connection.call("GET", path, [*query, *cursor]).json
        yield from found["data"]
        if not found["next"]:
            return
        cursor = [("cursor", found["next"])]


def _duration(delay: datetime.timedelta) -> str:
    """A number up to 9999 and its unit."""
    seconds = max(1, round(delay.total_seconds()))
    for unit, length in (("s", 1), ("m", 60), ("h", 3600)):
        if seconds <= 9999 * length:
            return f"{-(-seconds // length)}{unit}"
    return f"{min(-(-seconds // 86400), 9999)}d"
