"""An OData 4.01 service, https://docs.oasis-open.org/odata/odata/v4.01/odata-v4.01-part1-protocol.html

Sections of part 1: 8.2.8 `Prefer` (`odata.maxpagesize`, `return=representation`, `track-changes`), 11.2.6 query options,
11.2.7 `$filter`, 11.3 changes and delta links (410 Gone for one that is no longer known), 11.4 writes (PATCH merges, POST
answers 201 with `Location`), 11.4.1.1 `ETag` and `If-Match` (412), 9.4 errors. Payloads:
https://docs.oasis-open.org/odata/odata-json-format/v4.01/odata-json-format-v4.01.html, 4.5 control information, 15.3
deleted entities with their key and `@removed`, 21 errors.

Names are in the usual case (`UpdatedAt`, `Orders(5)`); amounts are numbers, times are `Edm.DateTimeOffset`.
"""
import re
from datetime import datetime
from urllib.parse import quote

from common.server import Convention, Refused, Response
from common.store import FIELDS, iso, parse_time
from common.story import Failed, Side

SETS = {"Customers": "customers", "Orders": "orders", "Lines": "lines"}
HEADERS = {"OData-Version": "4.01"}
MEDIA = "application/json;odata.metadata=minimal"


def wire(name):
    return "".join(word.capitalize() for word in name.split("_"))


def failed(status, code, message, details=(), target=None):
    error = {"code": code, "message": message, **({"target": target} if target else {})}
    if details:
        error["details"] = [{"code": code, "target": place, "message": text} for place, text in details]
    return Response(status, {"error": error}, HEADERS, MEDIA)


class OData(Convention):
    KEY_FIELD = "Id"
    DIGITS = 3
    LOCAL = {entity: {name: wire(name) for name in fields} for entity, fields in FIELDS.items()}

    def __init__(self, seed=1):
        self.tokens = {}  # delta token -> (set, seq)
        self.count = 0
        super().__init__(seed)

    def expire(self):
        self.tokens.clear()

    def tag(self, row):
        return f'W/"{row["version"]}"'

    def render(self, row, context=None):
        def value(one):
            return iso(one, 3) if isinstance(one, datetime) else one
        shown = {wire(name): value(one) for name, one in row.items() if name not in ("version", "seq")}
        return {**({"@odata.context": f"{self.url}/odata/$metadata#{context}"} if context else {}),
                "@odata.etag": self.tag(row), **shown}

    def answer(self, request):
        if (request.headers.get("Authorization") or "") != f"Bearer {self.KEY}":
            return failed(401, "Unauthorized", "The token is not valid.")
        found = re.fullmatch(r"/odata/(\w+)(?:\((\d+)\))?", request.path)
        if not found or found[1] not in SETS:
            return failed(404, "NotFound", "There is no such resource.")
        name, entity, key = found[1], SETS[found[1]], found[2] and int(found[2])
        if key is None:
            if request.method == "POST":
                row = self.store.create(entity, self.values(entity, request))
                return self.written(name, row, request, 201)
            if request.method != "GET":
                return failed(405, "MethodNotAllowed", "An entity set takes GET and POST.")
            return self.delta(name, entity, request) if "$deltatoken" in request.query else self.page(name, entity, request)
        row = self.store.get(entity, key)
        if request.method == "GET":
            return self.shown(name, row)
        match = request.headers.get("If-Match")
        if match not in (None, "*", self.tag(row)):
            return failed(412, "PreconditionFailed", "The entity has another version.")
        if request.method == "PATCH":
            return self.written(name, self.store.update(entity, key, self.values(entity, request)), request, 200)
        if request.method == "DELETE":
            self.store.delete(entity, key)
            return Response(204, None, HEADERS)
        return failed(405, "MethodNotAllowed", "An entity takes GET, PATCH and DELETE.")

    def shown(self, name, row, status=200, **headers):
        return Response(status, self.render(row, f"{name}/$entity"), {**HEADERS, "ETag": self.tag(row), **headers}, MEDIA)

    def written(self, name, row, request, status):
        """A creation shows the entity unless asked not to, an update only if asked to."""
        address = f"{self.url}/odata/{name}({row['id']})"
        wish = re.search(r"return=(\w+)", request.headers.get("Prefer") or "")
        more = {"Preference-Applied": wish[0]} if wish else {}
        if status == 201:
            more |= {"Location": address}
        if (wish[1] if wish else "representation" if status == 201 else "minimal") == "minimal":
            return Response(204, None, {**HEADERS, "ETag": self.tag(row), "OData-EntityId": address, **more})
        return self.shown(name, row, status, **more)

    def page(self, name, entity, request):
        unknown = [option for option in request.query
                   if option[:1] == "$" and option not in ("$filter", "$orderby", "$top", "$skip", "$count", "$skiptoken")]
        if unknown:
            return failed(501, "NotImplemented", f"{unknown[0]} is not supported.")
        rows = self.sorted(self.filtered(self.store.listed(entity), request.query.get("$filter")), request.query)
        # A skip token has the state of the first page too: the delta link is for what changes after that.
        token, _, state = (request.query.get("$skiptoken") or "").partition("-")
        seq = int(state or self.store.seq)
        total, begin = len(rows), int(token or request.query.get("$skip") or 0)
        rows = rows[begin:]
        if "$top" in request.query and "$skiptoken" not in request.query:
            rows = rows[:int(request.query["$top"])]
        wish = request.headers.get("Prefer") or ""
        most = re.search(r"maxpagesize=(\d+)", wish)
        size = min(int(most[1]), 100) if most else 100
        body = {"@odata.context": f"{self.url}/odata/$metadata#{name}"}
        if request.query.get("$count") == "true":
            body["@odata.count"] = total
        body["value"] = [self.render(row) for row in rows[:size]]
        if len(rows) > size:
            kept = [part for part in request.target.partition("?")[2].split("&") if part and "skip" not in part]
            query = "&".join([*kept, f"$skiptoken={begin + size}-{seq}"])
            body["@odata.nextLink"] = f"{self.url}{request.path}?{query}"
        elif "track-changes" in wish or "$deltatoken" in request.query:
            body["@odata.deltaLink"] = self.delta_link(name, seq)
        applied = {"Preference-Applied": "track-changes"} if "track-changes" in wish else {}
        return Response(200, body, {**HEADERS, **applied}, MEDIA)

    def delta_link(self, name, seq):
        self.count += 1
        self.tokens[str(self.count)] = (name, seq)
        return f"{self.url}/odata/{name}?$deltatoken={quote(str(self.count))}"

    def delta(self, name, entity, request):
        known = self.tokens.get(request.query["$deltatoken"])
        if not known or known[0] != name:
            return failed(410, "SyncStateNotFound", "The delta token is no longer known: begin again.")
        changed = [self.render(row) for row in self.store.listed(entity) if row["seq"] > known[1]]
        removed = [{"@removed": {"reason": "deleted"}, "Id": key}
                   for seq, other, key, _ in self.store.gone if other == entity and seq > known[1]]
        return Response(200, {"@odata.context": f"{self.url}/odata/$metadata#{name}/$delta", "value": changed + removed,
                              "@odata.deltaLink": self.delta_link(name, self.store.seq)}, HEADERS, MEDIA)

    def filtered(self, rows, text):
        """One comparison of `UpdatedAt` or `Id`."""
        if not text:
            return rows
        found = re.fullmatch(r"(UpdatedAt|Id) (ge|gt|le|lt|eq) (\S+)", text.strip("() "))
        if not found:
            raise Refused(failed(400, "BadRequest", f"The filter {text} is not understood."))
        name, operator, value = found[1], found[2], found[3]
        value = int(value) if name == "Id" else parse_time(value)
        field = "id" if name == "Id" else "updated_at"
        holds = {"ge": lambda a: a >= value, "gt": lambda a: a > value, "le": lambda a: a <= value,
                 "lt": lambda a: a < value, "eq": lambda a: a == value}[operator]
        return [row for row in rows if holds(row[field])]

    def sorted(self, rows, query):
        for part in reversed([part for part in query.get("$orderby", "").split(",") if part]):
            name, _, way = part.strip().partition(" ")
            field = {"Id": "id", "UpdatedAt": "updated_at"}.get(name)
            if not field:
                raise Refused(failed(400, "BadRequest", f"The order {part} is not understood."))
            rows = sorted(rows, key=lambda row: row[field], reverse=way == "desc")
        return rows

    def values(self, entity, request):
        if request.type != "application/json":
            raise Refused(failed(415, "UnsupportedMediaType", "Send JSON."))
        given = request.json
        known = {wire(name): name for name in FIELDS[entity]}
        ignored = {"Id", "CreatedAt", "UpdatedAt"}
        for name in given:
            if name not in known and name not in ignored and "@" not in name:
                text = f"The property '{name}' does not exist on type 'Shop.{entity}'."
                raise Refused(failed(400, "BadRequest", text, target=name))
        return {known[name]: value for name, value in given.items() if name in known}

    def invalid(self, request, errors):
        return failed(400, "ValidationFailed", "The entity is not valid.",
                      [(wire(name), text) for name, texts in errors.items() for text in texts])

    def missing(self, request):
        return failed(404, "NotFound", "There is no entity with this key.")

    def broken(self, request):
        return failed(400, "BadRequest", "The request is malformed.")


class ODataSide(Side):
    def more(self, story):
        """What others do comes by delta links, also after those were forgotten."""
        for expire in (False, True):
            story.ask("POST", "/v1/sync?wait=true", {}, 200)
            before = len(self.server.requests)
            if expire:
                self.server.test("expire")
            story.others()
            story.await_true(lambda: not story.difference(), lambda: f"by delta links: {story.difference()}")
            asked = [target for method, target in self.server.requests[before:] if "deltatoken" in target]
            if not asked:
                raise Failed("no delta link was followed")
        story.note("what others did came by delta links")


SERVER, SIDE = OData, ODataSide
