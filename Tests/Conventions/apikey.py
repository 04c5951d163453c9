"""A service with API keys in the manner of Stripe: forms, lists by cursor, ids with a prefix, idempotency keys, limits.

- Forms with brackets, lists newest first: https://docs.stripe.com/api (`-d "address[city]"=…`)
- Pages: `has_more`, `starting_after`, `limit` up to 100, https://docs.stripe.com/api/pagination
- `created[gte]` in seconds since 1970: https://docs.stripe.com/api/customers/list
- Deletions answer `{"id", "object", "deleted": true}`: https://docs.stripe.com/api/customers/delete
- Errors: https://docs.stripe.com/api/errors (`type`, `code`, `param`, `message`)
- `Idempotency-Key`: the first answer again, with `Idempotent-Replayed: true`; other parameters are an error,
  https://docs.stripe.com/api/idempotent_requests
- Limits: `RateLimit-Limit`, `-Remaining` and `-Reset` in seconds, 429 with `Retry-After`,
  https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-06

The key is in `X-Api-Key`. Amounts are whole cents, times are seconds; an empty text unsets a field. There is no time of
change: what changed is found by reading everything.
"""
import re
import time
from datetime import datetime, timezone
from decimal import Decimal
from random import Random
from urllib.parse import parse_qsl

from common.server import WRITES, Convention, Refused, Response
from common.store import FIELDS

PREFIXES = {"customers": ("cus", "customer"), "orders": ("ord", "order"), "lines": ("li", "line")}
LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
NAMES = {"customer_id": "customer", "order_id": "order"}
CENTS = ("total", "price")


def failed(status, message, kind="invalid_request_error", param=None, code=None, **headers):
    more = {**({"code": code} if code else {}), **({"param": param} if param else {})}
    return Response(status, {"error": {"type": kind, "message": message, **more}}, headers)


class APIKey(Convention):
    DIGITS = 0
    LIMIT, WINDOW_S = 60, 1  # so many requests in so many seconds
    LOCAL = {entity: {name: NAMES.get(name, name) for name in fields} for entity, fields in FIELDS.items()}
    PLACES = {**LOCAL, "customers": {**LOCAL["customers"], "city": "address.city"}}
    LOCAL = {**LOCAL, "customers": {**LOCAL["customers"], "city": "city"}}

    def __init__(self, seed=1):
        self.random = Random(seed)
        self.kept = {}  # idempotency key -> (method, target, body, response)
        self.window, self.used = 0, 0
        super().__init__(seed)

    def make_id(self, entity, number):
        return f"{PREFIXES[entity][0]}_" + "".join(self.random.choices(LETTERS, k=14))

    # Values

    @staticmethod
    def to_local(kind, value):
        if isinstance(value, Decimal):
            return int(value * 100)
        return int(value.timestamp()) if isinstance(value, datetime) else value

    @staticmethod
    def canonical(kind, value):
        if value is None:
            return None
        if kind.startswith("amount"):
            return Decimal(value) / 100
        return datetime.fromtimestamp(value, timezone.utc).isoformat() if kind.startswith("time") else value

    def render(self, entity, row):
        shown = {"id": row["id"], "object": PREFIXES[entity][1], "created": int(row["created_at"].timestamp())}
        for name, kind in FIELDS[entity].items():
            shown[NAMES.get(name, name)] = self.to_local(kind, row[name])
        if entity == "customers":
            shown["address"] = {"city": shown.pop("city")}
        return shown

    def values(self, entity, request):
        """The fields of a form; raises `Refused` for parameters that there are not."""
        if request.body and request.type != "application/x-www-form-urlencoded":
            raise Refused(failed(400, "Send the parameters as a form, not as " + request.type))
        known = {("address[city]" if name == "city" else NAMES.get(name, name)): name for name in FIELDS[entity]}
        values = {}
        for name, text in parse_qsl(request.body.decode(), keep_blank_values=True):
            if name not in known:
                raise Refused(failed(400, f"Received unknown parameter: {name}", param=name, code="parameter_unknown"))
            field = known[name]
            values[field] = None if text == "" else self.parsed(field, FIELDS[entity][field], name, text)
        return values

    @staticmethod
    def parsed(field, kind, name, text):
        if field not in CENTS and not kind.startswith("time"):
            return text
        if not re.fullmatch(r"-?\d+", text):
            raise Refused(failed(400, f"Invalid integer: {text}", param=name, code="parameter_invalid_integer"))
        if field in CENTS:
            return Decimal(text) / 100
        return datetime.fromtimestamp(int(text), timezone.utc).isoformat()

    # Answering

    def answer(self, request):
        if request.headers.get("X-Api-Key") != self.KEY:
            return failed(401, "Invalid API Key provided")
        limits = self.limited()
        key = request.headers.get("Idempotency-Key") if request.method in WRITES else None
        if key in self.kept:
            method, target, body, response = self.kept[key]
            if (method, target, body) != (request.method, request.target, request.body):
                text = "Keys for idempotent requests can only be used with the same parameters they were first used with."
                return failed(400, text, "idempotency_error", **limits)
            return Response(response.status, response.body, {**limits, "Idempotent-Replayed": "true"})
        try:
            response = self.served(request)
        finally:
            self.headers = limits
        if key:
            self.kept[key] = (request.method, request.target, request.body, response)
        response.headers.update(limits)
        return response

    def limited(self):
        """The headers of the limit; raises `Refused` when it is used up."""
        now = time.monotonic()
        if now >= self.window:
            self.window, self.used = now + self.WINDOW_S, 0
        left = max(1, round(self.window - now + 0.5))
        self.used += 1
        headers = {"RateLimit-Limit": self.LIMIT, "RateLimit-Remaining": max(0, self.LIMIT - self.used), "RateLimit-Reset": left}
        if self.used > self.LIMIT:
            refused = failed(429, "Too many requests", "rate_limit_error", code="rate_limit")
            raise Refused(Response(429, refused.body, {**headers, "Retry-After": left}))
        return headers

    def served(self, request):
        parts = request.path.strip("/").split("/")
        if parts == ["v1", "account"]:
            return Response(200, {"id": "acct_1", "object": "account"})
        if parts[0] != "v1" or len(parts) not in (2, 3) or parts[1] not in FIELDS:
            return failed(404, f"Unrecognized request URL ({request.method}: {request.path}).")
        entity = parts[1]
        if len(parts) == 2:
            if request.method == "POST":
                return Response(200, self.render(entity, self.store.create(entity, self.values(entity, request))))
            return self.page(entity, request)
        row = self.store.get(entity, parts[2])
        if request.method == "POST":
            row = self.store.update(entity, row["id"], self.values(entity, request))
        elif request.method == "DELETE":
            self.store.delete(entity, row["id"])
            return Response(200, {"id": row["id"], "object": PREFIXES[entity][1], "deleted": True})
        return Response(200, self.render(entity, row))

    def page(self, entity, request):
        rows = sorted(self.store.listed(entity), key=lambda row: row["created_at"], reverse=True)
        if "created[gte]" in request.query:
            rows = [row for row in rows if row["created_at"].timestamp() >= int(request.query["created[gte]"])]
        if after := request.query.get("starting_after"):
            keys = [row["id"] for row in rows]
            if after not in keys:
                return failed(400, f"No such {PREFIXES[entity][1]}: '{after}'", param="starting_after", code="resource_missing")
            rows = rows[keys.index(after) + 1:]
        limit = int(request.query.get("limit", 10))
        if not 1 <= limit <= 100:
            return failed(400, "This value must be between 1 and 100", param="limit")
        return Response(200, {"object": "list", "url": request.path, "has_more": len(rows) > limit,
                              "data": [self.render(entity, row) for row in rows[:limit]]})

    def invalid(self, request, errors):
        (field, texts), *_ = errors.items()  # only the first, as there
        param = "address[city]" if field == "city" else NAMES.get(field, field)
        return failed(400, f"{param}: {texts[0]}", param=param, **self.headers)

    def missing(self, request):
        parts = request.path.strip("/").split("/")
        name = PREFIXES[parts[1]][1]
        return failed(404, f"No such {name}: '{parts[2]}'", param="id", code="resource_missing", **self.headers)

    def broken(self, request):
        return failed(400, "Invalid request", **self.headers)


SERVER = APIKey
