#!/usr/bin/env python3
"""Upstreams with the habits of real ones: every write arrives once, nothing that exists is deleted, both sides agree."""
import json
import re
import time

from lib.boards import TEXTS, Boards, is_waiting
from lib.programs import TORTURE, Daemon, Failed, Upstream, await_true, temporary_folder
from lib.topic import main

SPELL = {"after": "1s", "lasts": "2s"}
# Each habit, and what it is set to.
HABITS = {
    "lagging_lists": "2s", "lagging_records": "2s", "lagging_answers": "2s", "lagging_tombstones": "2s", "wandering": True,
    "trim": True, "lower_case": True, "cents": True, "decimal_text": True, "minutes": True, "seconds": True,
    "milliseconds": True, "sorted": True, "defaults": True, "known_only": True,
    "partial_answers": True, "id_answers": True, "success_answers": True, "empty_answers": True, "location_answers": True,
    "later": "1s", "bare_records": True,
    "integer_ids": True, "large_ids": True, "huge_ids": True, "slugs": True, "strict_references": True,
    "coerced_references": True,
    "omitted_members": ["note", "price"], "members_elsewhere": True, "lists_only": 404,
    "wrong_totals": 3, "listed_twice": True, "sliding_rows": 0.5, "cut_lists": 50,
    "future_times": "20h", "whole_seconds": True, "equal_times": True,
    "replacing_put": True, "locked": 0.3, "forgotten_keys": "10ms",
    "byte_order_mark": True, "not_a_number": True, "drf_errors": True, "pocketbase_errors": True, "laravel_errors": True,
    "cut_answers": 0.2, "cached_answers": "2s", "repeated_requests": 0.3,
    "blanket_404": SPELL, "blanket_403": SPELL, "sign_in_page": SPELL, "html_200": SPELL, "html_503": SPELL,
    "empty_lists": SPELL, "signed_out": SPELL,
}
# Habits that exclude each other. While no list shows a creation it is repeated under its key for `settle`, so lists must
# show everything where keys are forgotten at once; and a cached list hides that the account was signed out.
ALTERNATIVES = [
    {"minutes", "seconds", "milliseconds"}, {"partial_answers", "id_answers", "success_answers", "empty_answers", "later"},
    {"location_answers", "later"}, {"integer_ids", "large_ids", "huge_ids", "slugs"},
    {"strict_references", "coerced_references"}, {"drf_errors", "pocketbase_errors", "laravel_errors"},
    {"forgotten_keys", "lagging_lists"}, {"forgotten_keys", "sliding_rows"}, {"forgotten_keys", "cached_answers"},
    {"forgotten_keys", "cut_lists"}, {"signed_out", "cached_answers"},
]
# Habits that take effect only together with others.
NEEDS = {"wandering": ["lagging_lists", "lagging_records"], "strict_references": ["integer_ids"],
         "coerced_references": ["integer_ids"], "forgotten_keys": ["cut_answers"],
         **{f"{name}_errors": ["locked"] for name in ("drf", "pocketbase", "laravel")}}
# Faults of the way and of the moment: over before both sides are compared.
PASSING = {"cut_answers", "cached_answers", "not_a_number", *(name for name, value in HABITS.items() if value is SPELL)}
# The habits that are drawn together. The other two hold alone, but not with deletions (`wrong_totals`) or lost answers
# to renames (`slugs`).
HOLDING = [name for name in HABITS if name not in ("slugs", "wrong_totals")]
WITHIN_S = 90


def combination(random):
    """A drawn combination of the habits that hold."""
    chosen = {}
    for name in random.sample(HOLDING, len(HOLDING)):
        more = with_needs({name: HABITS[name]})
        if len(chosen) < 6 and not any(
                len(group & {*chosen, *more}) > 1 for group in ALTERNATIVES):
            chosen |= more
    return chosen


def with_needs(habits):
    return {**{other: HABITS[other] for name in habits for other in NEEDS.get(name, [])}, **habits}


def schema(folder, habits):
    """Writes the schema for an upstream with these habits; returns its path."""
    path = f"{folder}/schema.yaml"
    kind = "integer" if habits.keys() & {"integer_ids", "large_ids", "huge_ids"} else "string"
    with open(path, "w") as file:
        text = (TORTURE / "habits.yaml").read_text().replace("KEY", kind)
        if "cut_lists" in habits:  # because nobody declared the paging
            text = re.sub("pagination: .*", "pagination: { style: single }", text)
        file.write(text)
    return path


def with_motto(path):
    """Writes the same schema with a field that the upstream does not have; returns its path."""
    other = path.replace("schema.yaml", "motto.yaml")
    with open(path) as source, open(other, "w") as file:
        file.write(source.read().replace("      note:", "      motto: { type: string }\n      note:")
                   .replace("[title, note,", "[title, note, motto,"))
    return other


def set_habits(upstream, habits):
    upstream._admin("PUT", "habits", habits)


def one(run, folder, habits, writes):
    """Lets a caller write while the upstream has these habits; returns how often each one took effect."""
    habits = with_needs(habits)
    path = schema(folder, habits)
    upstream = Upstream(schema=path, rows=60 if "cut_lists" in habits else 30, seed=run.seed % 1000)
    set_habits(upstream, {name: value for name, value in habits.items() if name not in PASSING})
    own = with_motto(path) if "known_only" in habits else path
    daemon = Daemon(folder, upstream, {"sync": {"interval": "300ms", "full_every": "1s", "write_delay": "0ms"},
                                       "retry": {"max_attempts": 8 if "locked" in habits else 1000}}, schema=own)
    daemon.start(within=10)
    client, random = daemon.client(), run.random(*habits)
    try:
        boards = Boards(client, random, ["motto"] if "known_only" in habits else [])
        await_true(lambda: client.get("/v1/status").json["last_sync_at"], 20, lambda: f"nothing was pulled\n{daemon.log()}")
        set_habits(upstream, habits)
        for _ in range(writes):
            boards.write()
            time.sleep(random.choice([0, 0, 0.05, 0.3]))
        time.sleep(4 if habits.keys() & PASSING else 0)
        boards.check_steps()
        effects = upstream._admin("GET", "effects").json
        set_habits(upstream, {name: value for name, value in habits.items() if name not in PASSING})
        waiting = settled(client, daemon, habits)
        boards.check_steps()
        conflicts = client.get("/v1/conflicts").json["data"]
        if conflicts:
            raise Failed(f"a conflict with oneself: {conflicts[0]}")
        await_arrival(boards, upstream, waiting, 5 if "later" in habits else 0)
        await_true(lambda: not difference(client, upstream, habits, waiting), WITHIN_S,
                   lambda: f"both sides differ: {difference(client, upstream, habits, waiting)}\n{daemon.log()}")
        boards.check_steps()
        return effects
    finally:
        client.close()
        daemon.kill()
        upstream.stop()


def await_arrival(boards, upstream, waiting, within):
    """Fails unless everything is upstream within this time: what was accepted may be applied later."""
    problems = []

    def is_there():
        try:
            boards.check_upstream(upstream, waiting)
        except Failed as problem:
            problems.append(problem)
            return False
        return True
    await_true(is_there, within, lambda: str(problems[-1]))


def settled(client, daemon, habits):
    """Waits until only what needs a person is queued; returns those records.

    That is what the upstream refused because the record is locked, and creations that it may or may not have.
    """
    def queue():
        return client.get("/v1/pending?limit=200").json["data"]

    def is_settled():
        return all(change["state"] == "failed" or change["blocked_by"] for change in queue())
    await_true(is_settled, WITHIN_S, lambda: f"the queue did not empty: {queue()[:3]}\n{daemon.log()}")
    for change in queue():
        if change["state"] != "failed" or "locked" in habits:
            continue
        if change["operation"] != "create" or change["error"]["class"] != "unclear":
            raise Failed(f"a change failed without need of a person: {change}")
    client.call("POST", "/v1/sync?wait=true", {"full": True})
    return {(change["entity"], str(change["record_id"])) for change in queue()}


def difference(client, upstream, habits, waiting):
    """The first record in which the cache differs from the upstream, or None."""
    for entity in TEXTS:
        there = {str(row["id"]): row for row in upstream.records(entity)}
        here = {str(row["id"]): row for row in client.get(f"/v1/{entity}?limit=500").json["data"]}
        for key in sorted(there.keys() | here.keys()):
            row = there.get(key) or here[key]
            if is_waiting(waiting, entity, key, row):
                continue
            if key not in here and "cut_lists" in habits:
                continue
            if key not in there and habits.keys() & {"wrong_totals", "listed_twice", "cut_lists"}:
                continue
            if key not in here or key not in there:
                return f"{entity}/{key}: upstream {there.get(key)}, cache {here.get(key)}"
            for field in ("title", "note", "price", "weight", "size", "due", "tags", "text", "board_id"):
                if field in habits.get("omitted_members", []) and here[key].get(field) is None:
                    continue
                if here[key].get(field) != there[key].get(field):
                    return f"{entity}/{key}: {field} is {there[key].get(field)!r} upstream, {here[key].get(field)!r} here"
    return None


def body(run):
    random = run.random("habits")
    if run.only:
        chosen = [{name: HABITS[name]} for name in run.only.split(",")] if "+" not in run.only else [
            {name: HABITS[name] for name in run.only.split("+")}]
    else:
        singles = run.of(random.sample(list(HABITS), 3), HABITS)
        chosen = [{name: HABITS[name]} for name in singles]
        chosen += [combination(random) for _ in range(run.of(3, 40))]
    effects, failures = {}, []
    for habits in chosen:
        with temporary_folder() as folder:
            try:
                found = one(run, folder, habits, run.of(25, 60))
                run.say(f"{'+'.join(habits)}: {json.dumps(found)}")
                effects = {name: effects.get(name, 0) + found.get(name, 0) for name in {*effects, *found}}
            except Failed as failure:
                run.say(f"{'+'.join(habits)}: {failure}")
                failures.append("+".join(habits))
    run.note(runs=len(chosen), effects=dict(sorted(effects.items())))
    if failures:
        raise Failed(f"broken with {', '.join(failures)}")


if __name__ == "__main__":
    main("habits", body)
