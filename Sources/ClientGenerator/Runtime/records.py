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
