"""A Django REST Framework project with the stock classes.

- Tokens: https://www.django-rest-framework.org/api-guide/authentication/#tokenauthentication
- Pages: https://www.django-rest-framework.org/api-guide/pagination/#pagenumberpagination (`PAGE_SIZE` 100, no `page_size`)
- Decimals as text: https://www.django-rest-framework.org/api-guide/settings/#coerce_decimal_to_string
- Errors: https://www.django-rest-framework.org/api-guide/exceptions/
- Routes: https://www.django-rest-framework.org/api-guide/routers/#simplerouter
- `updated_at__gte`, `due_at__gte`, `due_at__lt`: https://django-filter.readthedocs.io/en/stable/guide/rest_framework.html
- Addresses without the last slash: https://docs.djangoproject.com/en/5.1/ref/settings/#append-slash
"""
import operator
from datetime import datetime
from decimal import Decimal

from common.server import Convention, Refused, Response
from common.store import FIELDS, iso, parse_time
from common.story import Side
from common.window import Window

NAMES = {"customer_id": "customer", "order_id": "order"}  # a ForeignKey is shown under its own name
SINGULAR = {"customers": "Customer", "orders": "Order", "lines": "Line"}
PAGE_SIZE = 100
FILTERS = {"updated_at__gte": operator.ge, "due_at__gte": operator.ge, "due_at__lt": operator.lt}


def detail(status, text, **headers):
    return Response(status, {"detail": text}, headers)


class DRF(Convention):
    LOCAL = {entity: {name: NAMES.get(name, name) for name in fields} for entity, fields in FIELDS.items()}

    def render(self, row):
        def value(one):
            return iso(one) if isinstance(one, datetime) else str(one) if isinstance(one, Decimal) else one
        return {NAMES.get(name, name): value(one) for name, one in row.items() if name not in ("version", "seq")}

    def answer(self, request):
        self.authenticate(request)
        if not request.path.endswith("/"):
            return Response(301, None, {"Location": request.target.replace(request.path, request.path + "/", 1)})
        parts = request.path.strip("/").split("/")
        if parts == ["api", "me"]:
            return Response(200, {"id": 1, "username": "ada"})
        if len(parts) not in (2, 3) or parts[0] != "api" or parts[1] not in FIELDS:
            return Response(404, b"<h1>Not Found</h1>", type="text/html")
        entity = parts[1]
        if len(parts) == 2:
            return self.collection(entity, request)
        key = self.store.key(entity, parts[2])
        row = self.store.get(entity, key)
        if request.method == "GET":
            return Response(200, self.render(row))
        if request.method in ("PUT", "PATCH"):
            if request.method == "PUT":
                self.store.checked(entity, self.values(entity, request), is_new=True)
            return Response(200, self.render(self.store.update(entity, key, self.values(entity, request))))
        if request.method == "DELETE":
            self.store.delete(entity, key)
            return Response(204)
        return detail(405, f'Method "{request.method}" not allowed.')

    def authenticate(self, request):
        words = (request.headers.get("Authorization") or "").split()
        if not words or words[0].lower() != "token":
            raise Refused(detail(401, "Authentication credentials were not provided.", **{"WWW-Authenticate": "Token"}))
        if words[1:] != [self.KEY]:
            raise Refused(detail(401, "Invalid token.", **{"WWW-Authenticate": "Token"}))

    def collection(self, entity, request):
        if request.method == "POST":
            return Response(201, self.render(self.store.create(entity, self.values(entity, request))))
        if request.method != "GET":
            return detail(405, f'Method "{request.method}" not allowed.')
        rows = self.store.listed(entity)
        for name, is_in in FILTERS.items():
            field = name.partition("__")[0]
            if name not in request.query or field == "due_at" and entity != "orders":
                continue  # what no filter knows is passed over
            try:
                time = parse_time(request.query[name])
            except ValueError:
                return Response(400, {name: ["Enter a valid date/time."]})
            rows = [row for row in rows if row[field] and is_in(row[field], time)]
        return self.page(rows, request)

    def page(self, rows, request):
        pages = max(1, -(-len(rows) // PAGE_SIZE))
        text = request.query.get("page", "1")
        if not text.isdigit() or not 1 <= int(text) <= pages:
            return detail(404, "Invalid page.")
        number = int(text)
        others = "&".join(part for part in request.target.partition("?")[2].split("&") if part and part[:5] != "page=")
        address = f"{self.url}{request.path}"

        def link(page):
            if not 1 <= page <= pages:
                return None
            # The link to the first page has no number.
            query = "&".join(part for part in (f"page={page}" if page > 1 else "", others) if part)
            return f"{address}?{query}" if query else address
        return Response(200, {"count": len(rows), "next": link(number + 1), "previous": link(number - 1),
                              "results": [self.render(row) for row in rows[(number - 1) * PAGE_SIZE:number * PAGE_SIZE]]})

    def values(self, entity, request):
        if request.type != "application/json":
            raise Refused(detail(415, f'Unsupported media type "{request.type}" in request.'))
        given = request.json
        if not isinstance(given, dict):
            kind = type(given).__name__
            raise Refused(Response(400, {"non_field_errors": [f"Invalid data. Expected a dictionary, but got {kind}."]}))
        # What the serializer does not know, or only shows, is passed over.
        return {name: given[self.LOCAL[entity][name]] for name in FIELDS[entity] if self.LOCAL[entity][name] in given}

    def invalid(self, request, errors):
        return Response(400, {NAMES.get(name, name): texts for name, texts in errors.items()})

    def missing(self, request):
        return detail(404, f"No {SINGULAR[request.path.split('/')[2]]} matches the given query.")

    def broken(self, request):
        return detail(400, "JSON parse error - Expecting value: line 1 column 1 (char 0)")


class DRFSide(Side):
    def more(self, story):
        """Keeps the orders that are due from a time on, then from an earlier one, then all."""
        Window(
            story, "orders", "due_at",
            "    pull:\n      path: /api/orders/\n      where: { due_at.gte: \"{$now-DAYSd}\" }\n      keep: window\n"
            "      query: { due_at__gte: \"{$now-DAYSd}\", due_at__lt: \"{$until}\" }\n",
            instead_of="    pull:\n      path: /api/orders/\n", lower="due_at__gte", upper="due_at__lt",
            since="updated_at__gte").grow()


SERVER, SIDE = DRF, DRFSide
