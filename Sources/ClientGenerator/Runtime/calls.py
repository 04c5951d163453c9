# Calls


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _is_own_listener(port: int) -> bool:
    """Whether root or this user listens at 127.0.0.1. True where the kernel has no such table, as on macOS."""
    try:
        with open("/proc/net/tcp", encoding="ascii") as table:
            rows = [line.split() for line in table][1:]
    except OSError:
        return True
    place = f"{int.from_bytes(socket.inet_aton('127.0.0.1'), sys.byteorder):08X}:{port:04X}"
    owners = {int(row[7]) for row in rows if row[1] == place and row[3] == "0A"}
    return bool(owners) and owners <= {0, os.geteuid()}


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

    Without an address nothing is sent to that port unless root or this user listens there: while the daemon is stopped,
    any user of the machine can take it. An address that you name is not checked.
    """

    SOCKET = "/run/repairminder-sync/api.sock"
    PORT = 7679

    def __init__(
        self,
        address: Optional[str] = None,
        token_file: Optional[str] = None,
        attempts: int = 5,
        patience: float = 60,
    ) -> None:
        self._checks_listener = not address and not os.path.exists(self.SOCKET)
        self._address = address or (f"127.0.0.1:{self.PORT}" if self._checks_listener else self.SOCKET)
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
                    if error.status not in (429, 503) and error.code != "busy":
                        raise
                    if error.retry_after is None or error.retry_after > 10:
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
        # After connecting: it may have been free before.
        if self._checks_listener and not _is_own_listener(self.PORT):
            connection.close()
            raise Unreachable(
                f"another user than root and you listens at {self._address}, so nothing was sent; "
                "start the daemon, or name its address if that user runs it"
            )
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
