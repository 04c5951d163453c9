"""Adjusts the requests of scripts/fuzz-api before they are sent, and lists the failures to ignore, with reasons.

An OpenAPI document describes each parameter, but not which parameters go together or what an earlier response returned.
Valid requests that break such a rule are fixed; invalid requests are sent as generated.
"""

import re

import schemathesis

# What the daemon has returned (cursors, epochs) and received (keys).
cursors, epochs, keys = set(), set(), set()


@schemathesis.hook
def before_load_schema(context, raw_schema):
    # Every TCP caller needs the token here.
    raw_schema["security"] = [way for way in raw_schema["security"] if way]
    # Sequences would start only with these calls, because they link to others and need no key; but the queue is soon
    # empty.
    for path in ("/v1/pending", "/v1/conflicts"):
        del raw_schema["paths"][path]["get"]["responses"]["200"]["links"]


@schemathesis.hook
def before_call(context, case, kwargs):
    query, headers = case.query or {}, case.headers or {}
    # Calls may wait up to a minute. Limit that to a second, or the run would only wait.
    if query.get("wait") == "pushed":
        query.setdefault("timeout", 1)
    for name in ("wait", "timeout"):
        if type(query.get(name)) is int and 1 < query[name] <= 60:
            query[name] = 1
    if case.meta is not None and case.meta.generation.mode.is_positive:
        fix_query(query)
        fix_headers(headers)
        if isinstance(case.body, dict):
            case.body = {name: without_fraction(value) for name, value in case.body.items()}
    keys.add(headers.get("Idempotency-Key"))


def fix_query(query):
    if isinstance(query.get("cursor"), str) and query["cursor"] not in cursors:
        del query["cursor"]  # must come from `next` of an earlier response
    if "sort" in query:  # takes each field once, ascending or descending
        terms = {term.lstrip("-"): term for term in str(query["sort"]).split(",")}
        query["sort"] = ",".join(terms.values())
    for name in ("or", "and", "not.or", "not.and"):  # have a grammar of their own
        if name in query:
            query[name] = "(synced_at.null.false,synced_at.not.gte.2026-01-01)"
    if str(query.get("limit", "")).isdecimal() and int(query["limit"]) > 1000:
        query["limit"] = 1000  # more is for whole lists, which other values of Accept ask for
    if "wait" not in query:
        query.pop("timeout", None)  # needs wait
    if query.get("scope") == "user":  # needs user, and user needs it
        query.setdefault("user", "usr_1")
    else:
        query.pop("user", None)
    if "reveal" in query:  # excludes all other parameters
        for name in set(query) - {"reveal"}:
            del query[name]
    if "epoch" in query:  # must be the daemon's own
        query["epoch"] = next(iter(epochs), "")


def fix_headers(headers):
    if "-" in headers.get("Last-Event-ID", ""):  # starts with the epoch
        headers["Last-Event-ID"] = next(iter(epochs), "") + "-" + headers["Last-Event-ID"].rpartition("-")[2]
    for name in ("If-Match", "If-None-Match"):
        if headers.get(name) == "0":  # schemathesis uses this if it finds no match for the pattern
            headers[name] = "*"
    if headers.get("Idempotency-Key") in keys:  # must not be another request's
        headers.pop("Idempotency-Key", None)


def without_fraction(value):
    """Writes a whole number without a fraction, because 5.0 would be a different key than 5."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@schemathesis.hook
def after_call(context, case, response):
    if "application/json" in response.headers.get("content-type", []):
        document = response.json()
        if isinstance(document, dict) and isinstance(document.get("next"), str):
            cursors.add(document["next"])
        if case.operation.path == "/v1/changes" and response.status_code == 200:
            epochs.add(document["epoch"])


# Errors (status, field) that a valid request may get, because OpenAPI cannot express the rule: a search word needs two
# letters or digits of any script, intermediate relations count towards the 20 of include, a cursor belongs to the query
# that returned it, and a key may have been used in the previous round.
BEYOND = {(400, "q"), (400, "include"), (400, "cursor"), (422, "Idempotency-Key")}


# A value outside an enum: lists take it once the upstream has sent it.
UNSEEN = re.compile(r"[a-z_0-9]+ has no (empty )?value")

# A comparison in a query string.
COMPARISON = re.compile(r"[?&][a-z_.]+\.(eq|ne|in|nin|gt|gte|lt|lte|null|starts|contains|has)=")


@schemathesis.hook
def filter_failure(context, failure, case, response):
    if "negative_data_rejection" in failure.checks and "`comparisons`" in failure.message:
        # The comparisons that schemathesis generates may be missing from the query string.
        return COMPARISON.search(response.request.url) is not None
    if "positive_data_acceptance" not in failure.checks or response.status_code not in (400, 422):
        return True
    if case.operation.label == "PATCH /v1/pending/{id}":
        return False  # the queued change decides which fields it accepts
    if case.operation.method.upper() == "PUT" and not case.operation.label.endswith("/content"):
        return False  # it takes what a creation takes; what of that an existing record accepts, its updates decide
    if case.operation.label == "POST /v1/_batch":
        return False  # each operation's entity decides which fields it accepts, and earlier ones which records exist
    if case.operation.label == "POST /v1/_sign-in":
        return False  # the upstream decides which answers it accepts
    errors = response.json().get("errors", [])
    refused = {(response.status_code, error["field"]) for error in errors if not UNSEEN.match(error["message"])}
    return not errors or not refused <= BEYOND
