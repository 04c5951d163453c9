"""Every question that the local API answers about the fixture, and what the old daemon answered."""

import json
from urllib.parse import quote

import yaml

SEARCHES = [
    "ada", "smith", "new person", "5001", "900-012", "the screen", "queued", "renamed", "zoe", "angstrom", "名前", "joined",
    "hello", "order", "qq122", "sn-00", "local only", "server wins", "on its way", "corrected", "x" * 40, "istanbul",
]


def record(world, schema):
    asked = []

    def ask(path, keys=None, pages=False, shown=True, tagged=True):
        """Asks, and writes down the answer: `keys` only the field of that name in each record, `pages` all pages,
        `shown` false only the tag, which is a hash of the answer, `tagged` false all but the tag."""
        answer = world.ask("GET", path)
        entry, texts = {"path": path, "status": answer.status}, [answer.text]
        while pages and (cursor := json.loads(texts[-1])["next"]):
            more = f"{path}{'&' if '?' in path else '?'}cursor={quote(cursor)}"
            texts.append(world.do("GET", more).text)
        if keys and answer.status == 200:
            entry["keys"] = [[row[keys] for row in json.loads(text)["data"]] for text in texts]
        elif shown:
            entry["text"] = answer.text
        if tagged and not keys and answer.etag:
            entry["etag"] = answer.etag
        asked.append(entry)
        return answer

    entities = schema["entities"]
    for name, entity in entities.items():
        records(ask, name, entity, entities)
    queue(world, ask)
    for query in SEARCHES:
        ask(f"/v1/search?q={quote(query)}&limit=50")
        ask(f"/v1/search?q={quote(query)}&limit=50&entity=people,orders")
    ask("/v1/drift")
    for state in ("scheduled", "due", "delivered", "snoozed", "dismissed"):
        ask(f"/v1/reminders?state={state}&limit=7", keys="id", pages=True)
    for reminder in world.do("GET", "/v1/reminders?limit=1000&state=scheduled,due,delivered,snoozed,dismissed").json["data"]:
        ask(f"/v1/reminders/{reminder['id']}")
    for period in ("today", "yesterday", "this_week", "this_month", "last_month"):
        ask(f"/v1/dashboard?period={period}")
        ask(f"/v1/dashboard?period={period}&scope=user&user=usr_1")
    return asked


def records(ask, name, entity, entities):
    path, fields = f"/v1/{name}", entity["fields"]
    key = entity.get("key", "id")
    rows = ask(f"{path}?limit=1000&count=true").json["data"]
    ask(f"{path}?limit=7&fields={key}", keys=key, pages=True)
    shown = {field: kind for field, kind in fields.items() if not kind.get("secret")}
    for field, kind in shown.items():
        values = distinct(rows, field, kind)
        for value in values:
            ask(f"{path}?limit=1000&fields={key}&{field}={value}", keys=key)
        if values:
            ask(f"{path}?limit=1000&fields={key}&{field}={values[0]},{values[-1]}", keys=key)
            for comparison in ("gt", "lte", "ne"):
                ask(f"{path}?limit=1000&fields={key}&{field}.{comparison}={values[len(values) // 2]}", keys=key)
        ask(f"{path}?limit=1000&{field}.null=true&fields={key}", keys=key)
        ask(f"{path}?limit=1000&{field}.null=false&fields={key}", keys=key)
        ask(f"{path}?limit=1000&sort={field}&fields={key}", keys=key)
        ask(f"{path}?limit=9&sort=-{field}&fields={key}", keys=key, pages=True)
        if kind["type"] == "time":
            ask(f"{path}?limit=1000&{field}.gte=2026-12-01T09:00:00%2B01:00&{field}.lt=2026-12-02&sort=-{field}&fields={key}",
                keys=key)
    for state in ("error", "conflict", "pending"):
        ask(f"{path}?limit=1000&fields={key}&sync={state}", keys=key)
    for query in ("the", "new", "smith"):
        ask(f"{path}?limit=1000&fields={key}&q={query}", keys=key)
    relations = [kind.get("as", field.removesuffix("_id")) for field, kind in fields.items() if kind["type"] == "reference"]
    many = list(entity.get("many", {}))
    if relations + many:
        ask(f"{path}?limit=30&include={','.join(relations + many)}")
    secrets = ",".join(field for field, kind in fields.items() if kind.get("secret"))
    for row in rows:
        one = f"{path}/{quote(str(row[key]), safe='')}"
        ask(one, shown=False)
        ask(f"{one}/history?limit=100", tagged=False)
        if secrets:
            ask(f"{one}?reveal={secrets}")
        for relation in many:
            ask(f"{one}/{relation}?limit=100", tagged=False)


def distinct(rows, field, kind):
    """A few of the field's values, as they are asked for."""
    values = []
    for row in rows:
        value = row.get(field, row.get("person", {}).get("id") if kind.get("from") == "person.id" else None)
        value = {True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else value
        if value is None or isinstance(value, (dict, list)) or value == "" or len(str(value)) > 60 or "," in str(value):
            continue
        if (text := quote(str(value), safe="")) not in values:
            values.append(text)
    return values[:: max(1, len(values) // 6)]


def queue(world, ask):
    ask("/v1/pending?limit=1000")
    ask("/v1/pending?limit=7", keys="id", pages=True)
    ask("/v1/pending/count")
    for change in world.pending():
        ask(f"/v1/pending/{change['id']}", shown=False)
    ask("/v1/conflicts?limit=1000")
    ask("/v1/conflicts?limit=2", keys="id", pages=True)
    ask("/v1/conflicts?open=true")
    for conflict in world.do("GET", "/v1/conflicts?limit=1000").json["data"]:
        ask(f"/v1/conflicts/{conflict['id']}", shown=False)
    for entity, key in world.renamed.items():
        ask(f"/v1/{entity}/{key}")
        ask(f"/v1/{entity}/{key}/history")


def repeat(world):
    """The first answers of the calls that were made under a key, as a repeat gets them."""
    return [{**call, "body": call["body"].decode() if isinstance(call["body"], bytes) else call["body"]}
            for call in world.repeatable]
