"""A GraphQL server over HTTP with connections and mutations.

- Requests and answers: https://graphql.github.io/graphql-over-http/draft/ (POST, JSON; 200 also for errors with
  `application/json`), https://spec.graphql.org/October2021/#sec-Errors (`message`, `path`, `extensions`)
- Pages: https://relay.dev/graphql/connections.htm (`edges`, `node`, `cursor`, `pageInfo`, `first`, `after`)
- Objects by id: https://graphql.org/learn/global-object-identification/ (opaque ids, `node`)
- Mutations with an input and a payload; values that are refused are `userErrors` with `field` and `message`:
  https://shopify.dev/docs/api/usage/response-codes
- `extensions.code: UNAUTHENTICATED`: https://www.apollographql.com/docs/apollo-server/data/errors

Types: `Customer`, `Order` and `Line` with the fields of the store in camel case; statuses are enum values in capitals,
amounts are text (a scalar `Decimal`), times `DateTime`. `updatedSince` is an argument of each connection.
"""
import base64
from datetime import datetime
from decimal import Decimal

from common.graphql_query import Enum, QueryError, filled, parsed
from common.server import Convention, Response
from common.store import FIELDS, PARENTS, Invalid, Missing, iso, parse_time

TYPES = {"customers": "Customer", "orders": "Order", "lines": "Line"}
MOST = 100


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


class GraphQLError(Exception):
    def __init__(self, message, code="BAD_USER_INPUT", path=None):
        super().__init__(message)
        self.error = {"message": message, **({"path": path} if path else {}), "extensions": {"code": code}}


class GraphQL(Convention):
    DIGITS = 3
    LOCAL = {entity: {name: camel(name) for name in fields} for entity, fields in FIELDS.items()}
    PLACES = {entity: {name: f"{camel(name)[:-2]}.id" if kind[:2] == "->" else camel(name) for name, kind in fields.items()}
              for entity, fields in FIELDS.items()}

    def make_id(self, entity, number):
        return base64.b64encode(f"{TYPES[entity]}:{number}".encode()).decode()

    @staticmethod
    def to_local(kind, value):
        if kind == "status":
            return value.upper()
        return float(value) if isinstance(value, Decimal) else iso(value, 3) if isinstance(value, datetime) else value

    @staticmethod
    def canonical(kind, value):
        return value.lower() if kind == "status" else value

    # Answering

    def answer(self, request):
        if request.path != "/graphql":
            return Response(404, b"Not Found", type="text/plain")
        if request.method != "POST":
            return Response(405, b"GraphQL only supports POST requests.", {"Allow": "POST"}, "text/plain")
        if request.type != "application/json":
            return Response(415, b"Unsupported Media Type", type="text/plain")
        asked = request.json
        if not isinstance(asked, dict) or not isinstance(asked.get("query"), str):
            return Response(400, {"errors": [{"message": "Must provide query string."}]})
        if request.headers.get("Authorization") != f"Bearer {self.KEY}":
            error = GraphQLError("You are not signed in.", "UNAUTHENTICATED").error
            return Response(200, {"errors": [error], "data": None})
        try:
            operation = parsed(asked["query"])
            variables = self.variables(operation, asked.get("variables") or {})
        except QueryError as error:
            return Response(200, {"errors": [GraphQLError(str(error), "GRAPHQL_PARSE_FAILED").error]})
        except GraphQLError as error:
            return Response(200, {"errors": [error.error]})
        return self.executed(operation, variables)

    @staticmethod
    def variables(operation, given):
        values = {}
        for name, (kind, default) in operation.variables.items():
            if name in given or default is not None:
                values[name] = given.get(name, default)
            if kind.endswith("!") and values.get(name) is None:
                raise GraphQLError(f'Variable "${name}" of required type "{kind}" was not provided.')
        return values

    def executed(self, operation, variables):
        data, errors = {}, []
        for field in operation.selection:
            arguments = {name: filled(value, variables) for name, value in field.arguments.items()}
            try:
                resolve = self.query if operation.kind == "query" else self.mutation
                data[field.alias] = resolve(field, arguments)
            except GraphQLError as error:
                error.error.setdefault("path", [field.alias])
                if error.error["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED":
                    return Response(200, {"errors": [error.error]})
                data[field.alias] = None
                errors.append(error.error)
        return Response(200, {**({"errors": errors} if errors else {}), "data": data})

    # Queries

    def query(self, field, arguments):
        for entity, kind in TYPES.items():
            if field.name == entity:
                return self.connection(field, entity, arguments)
            if field.name == kind.lower():
                row = self.store.rows[entity].get(arguments.get("id"))
                return row and self.object(field, entity, row)
        raise self.unknown(field, "Query")

    @staticmethod
    def unknown(field, kind):
        return GraphQLError(f'Cannot query field "{field.name}" on type "{kind}".', "GRAPHQL_VALIDATION_FAILED")

    def connection(self, field, entity, arguments):
        rows = self.store.listed(entity)
        if (since := arguments.get("updatedSince")) is not None:
            rows = [row for row in rows if row["updated_at"] >= parse_time(since)]
        first, after = arguments.get("first", 10), arguments.get("after")
        if not isinstance(first, int) or not 0 <= first <= MOST:
            raise GraphQLError(f"`first` must be between 0 and {MOST}")
        if after is not None:
            seq = self.seq(after)
            rows = [row for row in rows if self.number(row) > seq]
        page = rows[:first]
        found = {}
        for part in field.selection:
            if part.name == "totalCount":
                found[part.alias] = len(rows)
            elif part.name == "pageInfo":
                info = {"hasNextPage": len(rows) > first, "hasPreviousPage": after is not None,
                        "startCursor": self.cursor(page[0]) if page else None,
                        "endCursor": self.cursor(page[-1]) if page else None}
                found[part.alias] = {one.alias: self.member(info, one, "PageInfo") for one in part.selection}
            elif part.name == "nodes":
                found[part.alias] = [self.object(part, entity, row) for row in page]
            elif part.name == "edges":
                found[part.alias] = [self.edge(part, entity, row) for row in page]
            else:
                raise self.unknown(part, TYPES[entity] + "Connection")
        return found

    def edge(self, part, entity, row):
        found = {}
        for one in part.selection:
            if one.name not in ("node", "cursor"):
                raise self.unknown(one, TYPES[entity] + "Edge")
            found[one.alias] = self.cursor(row) if one.name == "cursor" else self.object(one, entity, row)
        return found

    def member(self, values, field, kind):
        if field.name not in values:
            raise self.unknown(field, kind)
        return values[field.name]

    @staticmethod
    def number(row):
        return int(base64.b64decode(row["id"]).decode().split(":")[1])

    def cursor(self, row):
        return base64.b64encode(f"cursor:{self.number(row)}".encode()).decode()

    @staticmethod
    def seq(cursor):
        try:
            return int(base64.b64decode(cursor).decode().removeprefix("cursor:"))
        except ValueError:
            raise GraphQLError("`after` is no valid cursor") from None

    def object(self, field, entity, row):
        if not field.selection:
            raise GraphQLError(f'Field "{field.name}" of type "{TYPES[entity]}" must have a selection of subfields.',
                               "GRAPHQL_VALIDATION_FAILED")
        found = {}
        for part in field.selection:
            parent = PARENTS.get(entity)
            if parent and part.name == camel(parent[0])[:-2]:
                found[part.alias] = self.object(part, parent[1], self.store.get(parent[1], row[parent[0]]))
            else:
                found[part.alias] = self.member(self.shown(entity, row), part, TYPES[entity])
        return found

    def shown(self, entity, row):
        values = {"__typename": TYPES[entity], "id": row["id"], "createdAt": iso(row["created_at"], 3),
                  "updatedAt": iso(row["updated_at"], 3)}
        for name, kind in FIELDS[entity].items():
            value = row[name]
            if kind[:2] != "->":
                values[camel(name)] = iso(value, 3) if isinstance(value, datetime) else str(value) if isinstance(
                    value, Decimal) else value.upper() if kind == "status" else value
        return values

    # Mutations

    def mutation(self, field, arguments):
        for entity, kind in TYPES.items():
            for verb in ("create", "update", "delete"):
                if field.name == verb + kind:
                    return self.payload(field, entity, kind, *self.changed(verb, entity, arguments))
        raise self.unknown(field, "Mutation")

    def changed(self, verb, entity, arguments):
        """The row, and what the user did wrong."""
        key, given = arguments.get("id"), arguments.get("input")
        if (verb != "create" and key is None) or (verb != "delete" and not isinstance(given, dict)):
            raise GraphQLError("An argument is missing.", "GRAPHQL_VALIDATION_FAILED")
        try:
            if verb == "delete":
                self.store.delete(entity, key)
                return {"id": key}, []
            values = self.values(entity, given)
            row = self.store.create(entity, values) if verb == "create" else self.store.update(entity, key, values)
            return row, []
        except Missing:
            return None, [{"field": ["id"], "message": f"{TYPES[entity]} does not exist"}]
        except Invalid as invalid:
            return None, [{"field": ["input", camel(name)], "message": text}
                          for name, texts in invalid.errors.items() for text in texts]

    def values(self, entity, given):
        known = {camel(name): name for name in FIELDS[entity]}
        for name in given:
            if name not in known:
                raise GraphQLError(f'Field "{name}" is not defined by type "{TYPES[entity]}Input".', "GRAPHQL_VALIDATION_FAILED")
        return {known[name]: value.lower() if known[name] == "status" and isinstance(value, (str, Enum)) else value
                for name, value in given.items()}

    def payload(self, field, entity, kind, row, problems):
        found = {}
        for part in field.selection:
            if part.name == "userErrors":
                found[part.alias] = [{one.alias: self.member(problem, one, "UserError") for one in part.selection}
                                     for problem in problems]
            elif part.name == kind.lower() and not field.name.startswith("delete"):
                found[part.alias] = row and self.object(part, entity, row)
            elif part.name == f"deleted{kind}Id" and field.name.startswith("delete"):
                found[part.alias] = row and row["id"]
            else:
                raise self.unknown(part, field.name[0].upper() + field.name[1:] + "Payload")
        return found

    def broken(self, request):
        return Response(400, {"errors": [{"message": "POST body sent invalid JSON."}]})


SERVER = GraphQL
