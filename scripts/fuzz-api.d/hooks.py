"""What scripts/fuzz-api mends before it sends it, and what it does not hold against the daemon, and why.

An OpenAPI document says what each parameter may be, and not which go together or what was answered before. Requests that are
to be taken are mended where they break such a rule; those that are to be refused are sent as they were made up.
"""

import re

import schemathesis

# What the daemon has handed out, and what it was sent.
cursors, epochs, keys = set(), set(), set()


@schemathesis.hook
def before_load_schema(context, raw_schema):
    # Over TCP everybody needs the token here.
    raw_schema["security"] = [way for way in raw_schema["security"] if way]
    # Sequences begin nowhere else while there is a link from a call that takes nobody's key, and the queue is soon empty.
    for path in ("/v1/pending", "/v1/conflicts"):
        del raw_schema["paths"][path]["get"]["responses"]["200"]["links"]


@schemathesis.hook
def before_call(context, case, kwargs):
    query, headers = case.query or {}, case.headers or {}
    # Whoever may wait up to a minute waits a second: else that is all that happens here.
    if query.get("wait") == "pushed":
        query.setdefault("timeout", 1)
    for name in ("wait", "timeout"):
        if type(query.get(name)) is int and 1 < query[name] <= 60:
            query[name] = 1
    if case.meta is not None and case.meta.generation.mode.is_positive:
        mend_query(query)
        mend_headers(headers)
        if isinstance(case.body, dict):
            case.body = {name: whole(value) for name, value in case.body.items()}
    keys.add(headers.get("Idempotency-Key"))


def mend_query(query):
    if isinstance(query.get("cursor"), str) and query["cursor"] not in cursors:
        del query["cursor"]  # is what an earlier answer gave as next
    if "sort" in query:  # takes each field once, up or down
        terms = {term.lstrip("-"): term for term in str(query["sort"]).split(",")}
        query["sort"] = ",".join(terms.values())
    if "wait" not in query:
        query.pop("timeout", None)  # goes with wait
    if query.get("scope") == "user":  # goes with user, and user with it
        query.setdefault("user", "usr_1")
    else:
        query.pop("user", None)
    if "reveal" in query:  # goes with no other parameter
        for name in set(query) - {"reveal"}:
            del query[name]
    if "epoch" in query:  # is the daemon's own
        query["epoch"] = next(iter(epochs), "")


def mend_headers(headers):
    if "-" in headers.get("Last-Event-ID", ""):  # begins with the epoch
        headers["Last-Event-ID"] = next(iter(epochs), "") + "-" + headers["Last-Event-ID"].rpartition("-")[2]
    if headers.get("If-Match") == "0":  # what schemathesis takes where it finds nothing that fits the pattern
        headers["If-Match"] = "*"
    if headers.get("Idempotency-Key") in keys:  # is no other request's
        headers.pop("Idempotency-Key", None)


def whole(value):
    """A whole number is written without a fraction: 5.0 would be another key than 5."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@schemathesis.hook
def after_call(context, case, response):
    if "application/json" in response.headers.get("content-type", []):
        document = response.json()
        if isinstance(document, dict) and isinstance(document.get("next"), str):
            cursors.add(document["next"])
        if case.operation.path == "/v1/changes" and response.status_code == 200:
            epochs.add(document["epoch"])


# What a request that fits the description may be refused with, for which field, since more decides than it can say: words need
# two letters or digits of any script, relations on the way to others count towards the 20 of include, a cursor goes with the
# question that it was given for, and a key may have been used in the round before.
BEYOND = {(400, "q"), (400, "include"), (400, "cursor"), (422, "Idempotency-Key")}


# How a comparison stands in a query.
COMPARISON = re.compile(r"[?&][a-z_]+\.(gt|gte|lt|lte|ne|null)=")


@schemathesis.hook
def filter_failure(context, failure, case, response):
    if "negative_data_rejection" in failure.checks and "`comparisons`" in failure.message:
        # What schemathesis made up for them may come to nothing in the query.
        return COMPARISON.search(response.request.url) is not None
    if "positive_data_acceptance" not in failure.checks or response.status_code not in (400, 422):
        return True
    if case.operation.label == "PATCH /v1/pending/{id}":
        return False  # which fields it takes is the matter of the change that it corrects
    refused = {(response.status_code, error["field"]) for error in response.json().get("errors", [])}
    return not refused or not refused <= BEYOND
