#!/usr/bin/env python3
"""A gateway answers everything with 404, 403, a redirect to a sign-in page, or a web page with 200 or 503, while edits,
deletions and creations wait. Nothing may be lost, doubled, deleted or counted as an attempt, and all arrives afterwards."""
import time

from habits import WITHIN_S, difference, schema, set_habits
from lib.boards import Boards
from lib.programs import Daemon, Failed, Upstream, await_true, temporary_folder
from lib.topic import main

GATEWAYS = ["blanket_404", "blanket_403", "sign_in_page", "html_200", "html_503"]
# A 503 counts until the outage is known.
MOST_COUNTED = {"html_503": 1}
FOR_EVER = {"after": "0s", "lasts": "1h"}


def queue(client):
    return client.get("/v1/pending?limit=200").json["data"]


def write(boards, client):
    """20 edits, 5 deletions and 5 creations of each entity, half of them before the gateway was noticed."""
    for entity in ("boards", "cards"):
        rows = client.get(f"/v1/{entity}?limit=500").json["data"]
        boards.newest |= {(entity, str(row["id"])): {} for row in rows}
    known = sorted(boards.newest)
    boards.random.shuffle(known)
    for number in range(20):
        if known[number] not in boards.deleted:
            boards.change(*known[number])
        if number < 5:
            boards.create()
            boards.delete(*next(place for place in known[20:] if place not in boards.deleted))
        if number == 10:
            time.sleep(1)


def check_waiting(client, boards, before, most):
    """Everything still waits, and no change has more attempts counted than `most`."""
    conflicts = client.get("/v1/conflicts").json["data"]
    if conflicts:
        raise Failed(f"a conflict with a gateway: {conflicts[0]}")
    changes = queue(client)
    for change in changes:
        if change["retry_count"] > most or change["state"] == "failed":
            raise Failed(f"counted against a change: {change}")
    records = {place for place in boards.newest if place not in boards.deleted}
    waiting = {(change["entity"], str(change["record_id"])) for change in changes}
    lacking = [place for place in records if boards.newest[place] and place not in waiting]
    if lacking:
        raise Failed(f"changes left the queue: {lacking[:5]}")
    for entity, key in sorted(records | {place for place in before if place not in boards.deleted}):
        if (answer := client.get(f"/v1/{entity}/{key}")).status != 200:
            raise Failed(f"{entity}/{key} has vanished: {answer.status}")


def one(run, gateway, folder, seconds):
    path = schema(folder, {})
    upstream = Upstream(schema=path, rows=30, seed=run.seed % 1000)
    daemon = Daemon(folder, upstream, {"sync": {"interval": "300ms", "full_every": "1s", "write_delay": "0ms"},
                                       "retry": {"max_attempts": 3}}, schema=path)
    daemon.start(within=10)
    client = daemon.client()
    try:
        await_true(lambda: client.get("/v1/status").json["last_sync_at"], 20, lambda: f"nothing was pulled\n{daemon.log()}")
        boards = Boards(client, run.random(gateway))
        before = {(entity, str(row["id"])) for entity in ("boards", "cards") for row in upstream.records(entity)}
        set_habits(upstream, {gateway: FOR_EVER})
        write(boards, client)
        for _ in range(4):
            time.sleep(seconds / 4)
            client.call("POST", "/v1/sync", {"full": True})
            for entity, key in sorted(before)[::7]:
                client.get(f"/v1/{entity}/{key}?refresh=true")
        check_waiting(client, boards, before, MOST_COUNTED.get(gateway, 0))
        waited, effects = len(queue(client)), upstream._admin("GET", "effects").json
        set_habits(upstream, {})
        await_true(lambda: not queue(client), WITHIN_S, lambda: f"the queue did not empty: {queue(client)[:3]}\n{daemon.log()}")
        boards.check_upstream(upstream, set())
        client.call("POST", "/v1/sync?wait=true", {"full": True})
        await_true(lambda: not difference(client, upstream, {}, set()), WITHIN_S,
                   lambda: f"both sides differ: {difference(client, upstream, {}, set())}\n{daemon.log()}")
        boards.check_steps()
        return {"waited": waited, "answers": effects.get(gateway, 0)}
    finally:
        client.close()
        daemon.kill()
        upstream.stop()


def body(run):
    chosen = run.random("gateways").sample(GATEWAYS, run.of(2, len(GATEWAYS)))
    for gateway in [name for name in GATEWAYS if run.only in name] if run.only else chosen:
        with temporary_folder() as folder:
            figures = one(run, gateway, folder, run.of(4, 40))
        run.say(f"{gateway}: {figures}")
        run.note(**{gateway: figures})


main("gateways", body)
