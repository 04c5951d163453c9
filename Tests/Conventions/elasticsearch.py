"""The parts of Elasticsearch 8 that read and write documents.

- Search, `search_after`, `size`: https://www.elastic.co/guide/en/elasticsearch/reference/8.19/paginate-search-results.html
- `range`: https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-range-query.html
- Documents: https://www.elastic.co/guide/en/elasticsearch/reference/8.19/docs-index_.html (`_doc`, `_create`),
  docs-update.html (`_update` with `doc`, `noop`), docs-delete.html, docs-get.html
- `if_seq_no`, `if_primary_term`, 409: https://www.elastic.co/guide/en/elasticsearch/reference/8.19/optimistic-concurrency-control.html
- What is written is found by searches a second later, and read by its id at once:
  https://www.elastic.co/guide/en/elasticsearch/reference/8.19/near-real-time.html, `refresh`: docs-refresh.html
- API keys: `Authorization: ApiKey …`, https://www.elastic.co/guide/en/elasticsearch/reference/8.19/security-api-create-api-key.html
- Types are mapped, other fields refused (`dynamic: strict`): https://www.elastic.co/guide/en/elasticsearch/reference/8.19/dynamic.html

An ingest pipeline sets `created_at` and `updated_at`. There are no references: what belongs to a deleted document stays.
"""
import copy
import re
import time
from datetime import datetime
from decimal import Decimal
from random import Random

from common.server import Convention, Refused, Response
from common.store import FIELDS, iso, parse_time
from common.story import Side

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
REFRESH_S = 1.0
HEADERS = {"X-elastic-product": "Elasticsearch"}
SHARDS = {"total": 2, "successful": 1, "failed": 0}


def failed(status, kind, reason):
    cause = {"type": kind, "reason": reason}
    return Response(status, {"error": {"root_cause": [cause], **cause}, "status": status}, HEADERS)


class Elasticsearch(Convention):
    DIGITS = 3
    KEY_FIELD = "_id"
    LOCAL = {entity: {name: name for name in fields} for entity, fields in FIELDS.items()}
    PLACES = {entity: {name: f"_source.{name}" for name in fields} for entity, fields in FIELDS.items()}

    def __init__(self, seed=1):
        self.random = Random(seed)
        self.found, self.refreshed = {}, 0.0
        super().__init__(seed)
        self.refresh()

    def make_id(self, entity, number):
        return "".join(self.random.choices(LETTERS, k=20))

    def refresh(self):
        self.found = copy.deepcopy(self.store.rows)
        self.refreshed = time.monotonic()

    def source(self, entity, row):
        def value(one):
            return iso(one, 3) if isinstance(one, datetime) else one
        return {name: value(row[name]) for name in (*FIELDS[entity], "created_at", "updated_at")}

    def answer(self, request):
        if request.headers.get("Authorization") != f"ApiKey {self.KEY}":
            return failed(401, "security_exception", "unable to authenticate with provided credentials and anonymous access "
                          "is not allowed for this request")
        if time.monotonic() - self.refreshed >= REFRESH_S:
            self.refresh()
        parts = request.path.strip("/").split("/")
        if parts == [""]:
            return Response(200, {"name": "node-1", "version": {"number": "8.19.0"}}, HEADERS)
        if parts[0] not in FIELDS:
            return failed(404, "index_not_found_exception", f"no such index [{parts[0]}]")
        entity, kind, key = parts[0], (parts[1:] or [""])[0], (parts[2:] or [None])[0]
        if kind == "_search" and request.method in ("GET", "POST"):
            return self.search(entity, request.json if request.body else {})
        if kind == "_refresh":
            self.refresh()
            return Response(200, {"_shards": SHARDS}, HEADERS)
        response = self.document(entity, kind, key, request)
        if request.query.get("refresh") in ("", "true", "wait_for"):
            self.refresh()
        return response

    # Documents

    def document(self, entity, kind, key, request):
        if kind == "_doc" and request.method == "GET" and key:
            row = self.row(entity, key)
            if not row:
                return Response(404, {"_index": entity, "_id": key, "found": False}, HEADERS)
            return Response(200, {**self.place(entity, row), "found": True, "_source": self.source(entity, row)}, HEADERS)
        row = self.row(entity, key) if key else None
        self.match(entity, key, row, request)
        if kind == "_doc" and request.method == "DELETE" and key:
            if not row:
                return Response(404, {"_index": entity, "_id": key, "result": "not_found", "_shards": SHARDS}, HEADERS)
            place = self.place(entity, row)
            self.forget(entity, key)
            return Response(200, {**place, "result": "deleted", "_shards": SHARDS}, HEADERS)
        if kind == "_update" and request.method == "POST" and key:
            if not row:
                return failed(404, "document_missing_exception", f"[{key}]: document missing")
            return self.update(entity, row, self.values(entity, request.json.get("doc") or {}))
        if kind in ("_doc", "_create") and request.method in ("PUT", "POST"):
            if kind == "_create" and row:
                return failed(409, "version_conflict_engine_exception", f"[{key}]: version conflict, document already exists "
                              f"(current version [{row['version']}])")
            values = {**dict.fromkeys(FIELDS[entity]), **self.values(entity, request.json)}
            if row:
                return self.written(entity, self.change(entity, row, values), "updated", 200)
            made = self.store._put(entity, values, key)
            self.store.applied.append(("api", "create", entity, made["id"]))
            return self.written(entity, made, "created", 201)
        return failed(405, "method_not_allowed", f"Incorrect HTTP method for uri [{request.path}]")

    def row(self, entity, key):
        return self.store.rows[entity].get(key)

    def update(self, entity, row, values):
        if all(row[name] == value for name, value in values.items()):
            return self.written(entity, row, "noop", 200)
        return self.written(entity, self.change(entity, row, values), "updated", 200)

    def change(self, entity, row, values):
        self.store.seq += 1
        row.update(values, updated_at=self.store.now(), version=row["version"] + 1, seq=self.store.seq)
        self.store.applied.append(("api", "update", entity, row["id"]))
        return row

    def forget(self, entity, key):
        self.store.seq += 1
        del self.store.rows[entity][key]
        self.store.applied.append(("api", "delete", entity, key))

    def place(self, entity, row):
        return {"_index": entity, "_id": row["id"], "_version": row["version"], "_seq_no": row["seq"], "_primary_term": 1}

    def written(self, entity, row, result, status):
        more = {"Location": f"/{entity}/_doc/{row['id']}"} if status == 201 else {}
        return Response(status, {**self.place(entity, row), "result": result, "_shards": SHARDS}, {**HEADERS, **more})

    def match(self, entity, key, row, request):
        if "if_seq_no" not in request.query:
            return
        current = (str(row["seq"]), "1") if row else None
        if (request.query["if_seq_no"], request.query.get("if_primary_term")) != current:
            raise Refused(failed(409, "version_conflict_engine_exception", f"[{key}]: version conflict, required seqNo "
                                 f"[{request.query['if_seq_no']}], primary term [1]. current document has seqNo "
                                 f"[{row['seq'] if row else -2}] and primary term [1]"))

    def values(self, entity, given):
        """Values of the mapped types; nothing is required, and references are only text."""
        values = {}
        for name, value in given.items():
            kind = FIELDS[entity].get(name)
            if name in ("created_at", "updated_at"):
                continue
            if kind is None:
                raise Refused(failed(400, "strict_dynamic_mapping_exception", f"[1:2] mapping set to strict, dynamic "
                                     f"introduction of [{name}] within [_doc] is not allowed"))
            try:
                values[name] = self.mapped(kind.split()[0], value)
            except (ValueError, ArithmeticError):
                raise Refused(failed(400, "document_parsing_exception", f"[1:10] failed to parse field [{name}] of type "
                                     f"[{'date' if 'time' in kind else 'integer'}] in document: [{value}]")) from None
        return values

    @staticmethod
    def mapped(kind, value):
        if value is None or kind in ("->", "status") or kind.startswith("text"):
            return value
        if kind.startswith("time"):
            return parse_time(value)
        if kind == "amount":
            return Decimal(str(value)).quantize(Decimal("0.01"))
        if not -2**31 <= int(value) < 2**31:
            raise ValueError(value)
        return int(value)

    # Search

    def search(self, entity, asked):
        if unknown := set(asked) - {"query", "sort", "size", "search_after", "seq_no_primary_term", "track_total_hits"}:
            return failed(400, "parsing_exception", f"unknown key [{unknown.pop()}]")
        rows = [row for row in self.found[entity].values() if self.holds(row, asked.get("query", {"match_all": {}}))]
        total, order = len(rows), [self.order(part) for part in asked.get("sort", [])]
        for field, way in reversed(order):
            rows.sort(key=lambda row: self.sort_value(row, field), reverse=way == "desc")
        if "search_after" in asked:
            after = asked["search_after"]
            if len(after) != len(order):
                return failed(400, "illegal_argument_exception", f"search_after has {len(after)} value(s) but sort has {len(order)}.")
            rows = [row for row in rows if self.is_after(row, order, after)]
        hits = []
        for row in rows[:asked.get("size", 10)]:
            hit = {"_index": entity, "_id": row["id"], "_score": None if order else 1.0, "_source": self.source(entity, row)}
            if asked.get("seq_no_primary_term"):
                hit |= {"_seq_no": row["seq"], "_primary_term": 1}
            if order:
                hit["sort"] = [self.sort_value(row, field) for field, _ in order]
            hits.append(hit)
        return Response(200, {"took": 1, "timed_out": False, "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
                              "hits": {"total": {"value": total, "relation": "eq"}, "max_score": None, "hits": hits}}, HEADERS)

    @staticmethod
    def order(part):
        if isinstance(part, str):
            return part, "asc"
        (field, way), = part.items()
        return field, way if isinstance(way, str) else way.get("order", "asc")

    @staticmethod
    def sort_value(row, field):
        if field == "_seq_no":
            return row["seq"]
        if field in ("created_at", "updated_at"):
            return int(row[field].timestamp() * 1000)  # as date fields are sorted
        raise Refused(failed(400, "illegal_argument_exception", f"No mapping found for [{field}] in order to sort on"))

    def is_after(self, row, order, after):
        for (field, way), limit in zip(order, after):
            value = self.sort_value(row, field)
            if value != limit:
                return (value > limit) == (way == "asc")
        return False

    def holds(self, row, query):
        (kind, inside), = query.items()
        if kind == "match_all":
            return True
        if kind == "ids":
            return row["id"] in inside["values"]
        if kind != "range":
            raise Refused(failed(400, "parsing_exception", f"unknown query [{kind}]"))
        (field, limits), = inside.items()
        tests = {"gte": lambda a, b: a >= b, "gt": lambda a, b: a > b, "lte": lambda a, b: a <= b, "lt": lambda a, b: a < b}
        return all(tests[name](row[field], self.moment(limit)) for name, limit in limits.items() if name in tests)

    @staticmethod
    def moment(text):
        if isinstance(text, int) or re.fullmatch(r"\d+", str(text)):
            return datetime.fromtimestamp(int(text) / 1000, parse_time("2020-01-01").tzinfo)
        return parse_time(text)

    def invalid(self, request, errors):
        return failed(400, "document_parsing_exception", "; ".join(f"{name}: {texts[0]}" for name, texts in errors.items()))

    def missing(self, request):
        return failed(404, "document_missing_exception", "document missing")

    def broken(self, request):
        return failed(400, "parse_exception", "request body is not readable")


class ElasticsearchSide(Side):
    CREATES_BY = "PUT"
    REFUSED = ("lines", "quantity", 2**40, "quantity")  # an integer of 32 bits; texts have no greatest length


SERVER, SIDE = Elasticsearch, ElasticsearchSide
