"""A server of JSON:API 1.1, https://jsonapi.org/format/1.1/

Sections: content negotiation (`#content-negotiation-servers`), documents (`#document-structure`), fetching
(`#fetching-resources`), paging (`#fetching-pagination`), creating (`#crud-creating`, with ids made by clients), updating
(`#crud-updating`), deleting (`#crud-deleting`), errors (`#errors`). The specification leaves filters and pages to the
server; this one has `filter[updated_at][gte]`, `page[number]` and `page[size]`, as most have.
"""
import uuid
from datetime import datetime
from random import Random
from urllib.parse import parse_qsl, urlencode

from common.server import Convention, Refused, Response
from common.store import FIELDS, PARENTS, iso, parse_time

MEDIA = "application/vnd.api+json"
NAMES = {"customer_id": "customer", "order_id": "order"}


def failed(status, title, *details):
    """`details` are (text, pointer) or nothing."""
    errors = [{"status": str(status), "title": title, "detail": text, "source": {"pointer": place}}
              for text, place in details] or [{"status": str(status), "title": title}]
    return Response(status, {"jsonapi": {"version": "1.1"}, "errors": errors}, type=MEDIA)


class JSONAPI(Convention):
    """`IS_STRICT`: also refuses what the specification leaves open, requests that accept another media type and attributes
    that there are not, as many servers do."""
    IS_STRICT = False
    DIGITS = 3
    LOCAL = {entity: {name: name for name in fields} for entity, fields in FIELDS.items()}
    PLACES = {entity: {name: f"relationships.{NAMES[name]}.data.id" if name in NAMES else f"attributes.{name}"
                       for name in fields} for entity, fields in FIELDS.items()}

    def __init__(self, seed=1):
        self.random = Random(seed)
        super().__init__(seed)

    def make_id(self, entity, number):
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def resource(self, entity, row):
        def value(one):
            return iso(one, 3) if isinstance(one, datetime) else one
        resource = {"type": entity, "id": row["id"], "links": {"self": f"{self.url}/{entity}/{row['id']}"}}
        resource["attributes"] = {name: value(one) for name, one in row.items()
                                  if name not in ("id", "version", "seq", *NAMES)}
        if entity in PARENTS:
            field, parent = PARENTS[entity]
            resource["relationships"] = {NAMES[field]: {"data": {"type": parent, "id": row[field]}}}
        return resource

    def document(self, entity, row, status=200, **headers):
        return Response(status, {"jsonapi": {"version": "1.1"}, "data": self.resource(entity, row)}, headers, MEDIA)

    def answer(self, request):
        if (request.headers.get("Authorization") or "") != f"Bearer {self.KEY}":
            return failed(401, "Unauthorized")
        self.negotiate(request)
        parts = request.path.strip("/").split("/")
        if parts[0] not in FIELDS or len(parts) > 2:
            return failed(404, "Not Found")
        entity = parts[0]
        if len(parts) == 1:
            if request.method == "POST":
                return self.create(entity, request)
            return self.page(entity, request) if request.method == "GET" else failed(405, "Method Not Allowed")
        row = self.store.get(entity, parts[1])
        if request.method == "GET":
            return self.document(entity, row)
        if request.method == "PATCH":
            resource = self.given(entity, request)
            if resource.get("id") != row["id"]:
                return failed(409, "Conflict", ("The id is not that of the address.", "/data/id"))
            return self.document(entity, self.store.update(entity, row["id"], self.values(entity, resource)))
        if request.method == "DELETE":
            self.store.delete(entity, row["id"])
            return Response(204)
        return failed(405, "Method Not Allowed")

    def negotiate(self, request):
        ranges = [part.strip() for part in (request.headers.get("Accept") or "*/*").split(",")]
        plain = [part.split(";")[0].strip() for part in ranges
                 if not part.startswith(MEDIA) or all(one.strip().startswith("q=") for one in part.split(";")[1:])]
        wanted = {MEDIA, "*/*", "application/*"} if self.IS_STRICT else {*plain}
        if not set(plain) & wanted or not plain:
            raise Refused(failed(406, "Not Acceptable"))
        if request.body and request.headers.get("Content-Type") != MEDIA:
            raise Refused(failed(415, "Unsupported Media Type"))

    def given(self, entity, request):
        document = request.json
        resource = document.get("data") if isinstance(document, dict) else None
        if not isinstance(resource, dict) or "type" not in resource:
            raise Refused(failed(400, "Bad Request", ("There is no resource with a type.", "/data")))
        if resource["type"] != entity:
            raise Refused(failed(409, "Conflict", (f"{resource['type']} does not belong to /{entity}.", "/data/type")))
        return resource

    def values(self, entity, resource):
        """Attributes and relationships; a foreign key is no attribute."""
        values = resource.get("attributes", {})
        for name in values:
            if self.IS_STRICT and (name not in FIELDS[entity] or name in NAMES):
                raise Refused(failed(400, "Bad Request", (f"There is no attribute {name}.", f"/data/attributes/{name}")))
        values = {name: value for name, value in values.items() if name in FIELDS[entity] and name not in NAMES}
        for name, relation in NAMES.items():
            if relation in resource.get("relationships", {}) and name in FIELDS[entity]:
                link = resource["relationships"][relation].get("data")
                values[name] = link and link.get("id")
        return values

    def create(self, entity, request):
        resource = self.given(entity, request)
        key = resource.get("id")
        if key is not None:
            try:
                uuid.UUID(key)
            except ValueError:
                return failed(403, "Forbidden", ("An id of a client is a UUID.", "/data/id"))
            if key in self.store.rows[entity]:
                return failed(409, "Conflict", ("There is a resource with this id.", "/data/id"))
        row = self.store.create(entity, self.values(entity, resource), key=key)
        return self.document(entity, row, 201, Location=f"{self.url}/{entity}/{row['id']}")

    def page(self, entity, request):
        unknown = [name for name in request.query
                   if name not in ("page[number]", "page[size]", "filter[updated_at][gte]", "sort")]
        if unknown:
            return failed(400, "Bad Request", (f"No parameter {unknown[0]}.", ""))
        rows = self.store.listed(entity)
        if since := request.query.get("filter[updated_at][gte]"):
            rows = [row for row in rows if row["updated_at"] >= parse_time(since)]
        size, page = int(request.query.get("page[size]", 20)), int(request.query.get("page[number]", 1))
        size = max(1, min(size, 100))
        pages = max(1, -(-len(rows) // size))
        others = [(name, value) for name, value in parse_qsl(request.target.partition("?")[2]) if name != "page[number]"]

        def link(number):
            if not 1 <= number <= pages:
                return None
            return f"{self.url}{request.path}?{urlencode([*others, ('page[number]', number)])}"
        links = {"self": f"{self.url}{request.target}", "first": link(1), "prev": link(page - 1), "next": link(page + 1),
                 "last": link(pages)}
        return Response(200, {"jsonapi": {"version": "1.1"}, "links": links, "data": [
            self.resource(entity, row) for row in rows[(page - 1) * size:page * size]]}, type=MEDIA)

    def invalid(self, request, errors):
        def place(name):
            return f"/data/relationships/{NAMES[name]}" if name in NAMES else f"/data/attributes/{name}"
        return failed(422, "Unprocessable Content", *(
            (text, place(name)) for name, texts in errors.items() for text in texts))

    def missing(self, request):
        return failed(404, "Not Found")

    def broken(self, request):
        return failed(400, "Bad Request", ("The document is no JSON.", ""))


SERVER = JSONAPI
