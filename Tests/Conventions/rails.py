"""A Rails application in API mode, as its scaffold generator writes controllers, with the usual gems.

- Controllers: https://guides.rubyonrails.org/api_app.html, https://api.rubyonrails.org/classes/ActionController/Parameters.html
  (`params.expect(order: [...])`: the fields are inside a member with the model's name)
- Errors: `render json: { errors: @order.errors }, status: :unprocessable_entity`,
  https://guides.rubyonrails.org/active_record_validations.html#working-with-validation-errors
- Decimals are text without zeros at the end: https://api.rubyonrails.org/classes/BigDecimal.html#method-i-as_json
- Pages: the `Link` header of RFC 8288 and `total-count`, https://ddnexus.github.io/pagy/docs/extras/headers/
- `q[updated_at_gteq]`: https://activerecord-hackery.github.io/ransack/getting-started/search-matches/
- Conditional reads (`stale?`): weak tags, 304, https://api.rubyonrails.org/classes/ActionController/ConditionalGet.html
- Optimistic locking: `lock_version`, https://api.rubyonrails.org/classes/ActiveRecord/Locking/Optimistic.html; a stale one
  is answered with 409
- Tokens: https://api.rubyonrails.org/classes/ActionController/HttpAuthentication/Token.html
"""
import hmac
import http.client
import json
from datetime import date, datetime
from decimal import Decimal
from urllib.parse import parse_qsl, urlencode

from common.server import Convention, Refused, Response
from common.store import FIELDS, iso, parse_time
from common.story import Failed, Side, free_port

MODELS = {"customers": "customer", "orders": "order", "lines": "line"}
PHRASES = {400: "Bad Request", 404: "Not Found", 409: "Conflict", 406: "Not Acceptable"}


def failure(status):
    return Response(status, {"status": status, "error": PHRASES[status]})


def amount(value):
    """As BigDecimal writes it: `12.5`, `3.0`."""
    text = format(value.normalize(), "f")
    return text if "." in text else text + ".0"


class Rails(Convention):
    DIGITS = 3
    LOCAL = {entity: {name: name for name in fields} for entity, fields in FIELDS.items()}

    def __init__(self, seed=1):
        self.days = {}  # order -> when it was delivered: a column of type date
        super().__init__(seed)

    def render(self, row):
        def value(one):
            return iso(one, 3) if isinstance(one, datetime) else amount(one) if isinstance(one, Decimal) else one
        shown = {name: value(one) for name, one in row.items() if name not in ("version", "seq")}
        days = {"delivered_on": self.days.get(row["id"])} if "number" in row else {}
        return {**shown, **days, "lock_version": row["version"] - 1}

    def take_day(self, request, row):
        inside = request.json.get("order", {})
        if "delivered_on" in inside:
            self.days[row["id"]] = inside["delivered_on"]

    def check_day(self, request):
        day = (request.json.get("order") or {}).get("delivered_on")
        try:
            if day is not None and date.fromisoformat(day).isoformat() != day:
                raise ValueError
        except (TypeError, ValueError):
            raise Refused(self.invalid(request, {"delivered_on": ["is not a date"]})) from None

    def answer(self, request):
        if (request.headers.get("Authorization") or "") != f"Bearer {self.KEY}":
            return Response(401, b"HTTP Token: Access denied.\n", {"WWW-Authenticate": 'Token realm="Application"'}, "text/html")
        parts = request.path.strip("/").split("/")
        if parts[0] not in FIELDS or len(parts) > 2:
            return failure(404)
        entity = parts[0]
        if len(parts) == 1:
            if request.method == "POST":
                values = self.values(entity, request)[0]
                self.check_day(request)
                row = self.store.create(entity, values)
                self.take_day(request, row)
                return Response(201, self.render(row), {"Location": f"{self.url}/{entity}/{row['id']}"})
            return self.index(entity, request) if request.method == "GET" else failure(404)
        key = self.store.key(entity, parts[1])
        row = self.store.get(entity, key)
        if request.method == "GET":
            return self.show(row, request)
        if request.method in ("PATCH", "PUT"):
            values, lock = self.values(entity, request)
            if lock is not None and int(lock) != row["version"] - 1:
                return failure(409)
            self.check_day(request)
            row = self.store.update(entity, key, values)
            self.take_day(request, row)
            return Response(200, self.render(row))
        if request.method == "DELETE":
            self.store.delete(entity, key)
            return Response(204)
        return failure(404)

    def show(self, row, request):
        tag = f'W/"{row["id"]}-{row["version"]}"'
        if request.headers.get("If-None-Match") == tag:
            return Response(304, None, {"ETag": tag})
        return Response(200, self.render(row), {"ETag": tag, "Cache-Control": "max-age=0, private, must-revalidate"})

    def index(self, entity, request):
        rows = self.store.listed(entity)
        if since := request.query.get("q[updated_at_gteq]"):
            rows = [row for row in rows if row["updated_at"] >= parse_time(since)]
        size = min(int(request.query.get("per_page", 25)), 100)
        page, pages = int(request.query.get("page", 1)), max(1, -(-len(rows) // size))
        if not 1 <= page <= pages:
            return failure(404)  # Pagy::OverflowError
        others = [(name, value) for name, value in parse_qsl(request.target.partition("?")[2]) if name != "page"]
        links = {"first": 1, "prev": page - 1, "next": page + 1, "last": pages}
        link = ", ".join(f'<{self.url}{request.path}?{urlencode([*others, ("page", number)])}>; rel="{name}"'
                         for name, number in links.items() if 1 <= number <= pages)
        return Response(200, [self.render(row) for row in rows[(page - 1) * size:page * size]], {
            "Link": link, "current-page": page, "page-limit": size, "total-pages": pages, "total-count": len(rows)})

    def values(self, entity, request):
        """The permitted parameters inside the model's name, and the version they are based on."""
        given = request.json if request.type == "application/json" else {}
        inside = given.get(MODELS[entity]) if isinstance(given, dict) else None
        if not isinstance(inside, dict) or not inside:
            raise Refused(failure(400))  # ActionController::ParameterMissing
        return {name: inside[name] for name in FIELDS[entity] if name in inside}, inside.get("lock_version")

    def invalid(self, request, errors):
        return Response(422, {"errors": errors})

    def missing(self, request):
        return failure(404)

    def broken(self, request):
        return failure(400)


class RailsSide(Side):
    """The application also calls a webhook after each commit, signed as GitHub and many others do:
    https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries"""
    SECRET = b"a-secret-of-forty-characters-or-even-more"
    SOURCE = """
  signals:
    - webhook:
        path: /hooks/shop
        signature: { header: X-Hub-Signature-256, prefix: "sha256=" }
        entity: { at: model, names: { order: orders } }
        key: id
"""

    def schema(self, text):
        return text.replace("\nupstream:\n", f"\nupstream:{self.SOURCE}", 1)

    def settings(self, story):
        self.port = free_port()
        secret = story.folder / "webhook-secret"
        secret.write_bytes(self.SECRET + b"\n")
        secret.chmod(0o600)
        return {"signals": {"listen": f"127.0.0.1:{self.port}", "secret_file": secret}}

    def call(self, key, secret):
        """Returns the status of the daemon's answer."""
        body = json.dumps({"model": "order", "event": "updated", "id": key}).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("POST", "/hooks/shop", body, {
            "Content-Type": "application/json",
            "X-Hub-Signature-256": "sha256=" + hmac.new(secret, body, "sha256").hexdigest()})
        status = connection.getresponse().status
        connection.close()
        return status

    def more(self, story):
        self.days(story)
        self.told(story)

    def days(self, story):
        """A day goes both ways as it is, and so does none."""
        ours, theirs = story.random.sample(story.untouched("orders"), 2)
        story.touched |= {("orders", str(ours)), ("orders", str(theirs))}
        for day in ("2028-02-29", None):
            story.ask("PATCH", f"/v1/orders/{ours}", {"delivered_on": day}, 200)
            story.sent("a day")
            if self.server.days[ours] != day:
                raise Failed(f"{day} arrived as {self.server.days[ours]}")
            self.server.days[theirs] = day
            self.server.test("edit", entity="orders", id=theirs, fields={"note": f"Delivered {day}"})
            story.client.call("POST", "/v1/sync?wait=true", {})
            if (here := story.ask("GET", f"/v1/orders/{theirs}").json)["delivered_on"] != day:
                raise Failed(f"{day} came as {here['delivered_on']}")
            found = story.ask("GET", "/v1/orders?delivered_on.gte=2027-12-31").json["data"]
            if {row["id"] for row in found} != ({ours, theirs} if day else set()):
                raise Failed(f"found by its day: {found}")
        story.note("days: both ways, and found")

    def told(self, story):
        """Changes there are here without a poll; a call that is not signed causes nothing."""
        def note(key):
            return story.ask("GET", f"/v1/orders/{key}").json["note"]

        def edit(key, text):
            self.server.test("edit", entity="orders", id=key, fields={"note": text})

        def tell(key, text):
            edit(key, text)
            if (status := self.call(key, self.SECRET)) != 204:
                raise Failed(f"the signed call was answered with {status}")

        story.client.call("POST", "/v1/sync?wait=true", {})
        *keys, other = story.random.sample(story.untouched("orders"), 8)
        edit(other, "Not told")
        if (status := self.call(other, b"another-secret")) != 401:
            raise Failed(f"a call with another signature was answered with {status}")
        story.prompt([(lambda key=key, number=number: tell(key, f"Told {number}"),
                       lambda key=key, number=number: note(key) == f"Told {number}") for number, key in enumerate(keys)])
        if note(other) == "Not told":
            raise Failed("a call with another signature caused a read")


SERVER, SIDE, SETTINGS = Rails, RailsSide, {"sync": {"interval": "1h"}}
