#!/usr/bin/env python3
"""Kills the daemon in every phase of its work while callers write; then nothing may be lost or doubled.

Each phase brings the daemon into a state and kills it there; the checks afterwards are the same for all
(`Scene.check`).
"""
import sqlite3
from statistics import median

from lib.faults import (BACKUP, CREATE, DATABASE, KILL, LOG, PAGE_ANSWERED, PUSH_ANSWERED, REMOVE, RENAME, SYNC, TEAR,
                        TRUNCATE, WRITE)
from lib.programs import Failed, await_true
from lib.scene import scene
from lib.topic import main

ROUNDS_A_SCENE = 25
CHANGES = WRITE | SYNC | TRUNCATE | CREATE | RENAME | REMOVE


def arm_kill(scene, chance, files, operations, most, since=0):
    """Arms a kill at one of the next `most` operations, half of the time during a write."""
    scene.faults.arm(chance.choice((KILL, TEAR)), files, operations, after=chance.randrange(most), since=since)


def in_queue_insert(scene, chance):
    """The upstream accepts nothing, so the log is written only for new changes."""
    scene.hold_writes()
    writers = scene.writers(chance)
    writers.await_answers(chance.randrange(1, 15))
    arm_kill(scene, chance, LOG, WRITE | SYNC, 20)
    scene.daemon.wait()
    writers.stop()


def in_push(scene, chance):
    """The upstream has received a request, has applied it or not, and has not answered."""
    scene.hold_writes(chance.choice(("hold", "timeout_after_apply")))
    writers = scene.writers(chance)
    await_true(lambda: any(entry["method"] != "GET" and entry["status"] is None for entry in scene.upstream.log()), 10,
               "nothing was sent")
    writers.await_answers(chance.randrange(10))
    scene.daemon.kill()
    writers.stop()


def after_answer(scene, chance):
    """The upstream has answered, and the daemon is storing the outcome."""
    writers = scene.writers(chance)
    writers.await_answers(chance.randrange(1, 10))
    arm_kill(scene, chance, LOG, WRITE | SYNC, 8, since=PUSH_ANSWERED)
    scene.daemon.wait()
    writers.stop()


def in_page(scene, chance):
    """A page of changed records has arrived, and the daemon is storing it."""
    writers = scene.writers(chance, count=1)
    arm_kill(scene, chance, LOG, WRITE | SYNC, 40, since=PAGE_ANSWERED)
    for record in scene.others:
        scene.upstream.change("notes", record, {"three": str(chance.random())})
    scene.daemon.wait()
    writers.stop()


def in_checkpoint(scene, chance):
    """The log is checkpointed into the database, because it is long or because the daemon stops."""
    if chance.random() < 0.3:
        arm_kill(scene, chance, DATABASE, WRITE | SYNC, 400)
        writers = scene.writers(chance, padding=60_000)
        scene.daemon.wait()
    else:
        writers = scene.writers(chance)
        writers.await_answers(chance.randrange(20, 40))
        arm_kill(scene, chance, DATABASE | LOG, WRITE | SYNC | TRUNCATE, 60)
        scene.daemon.process.terminate()
        scene.daemon.wait()
    writers.stop()


def in_migration(scene, chance):
    """The daemon migrates the tables of an earlier version, with queued changes in them."""
    scene.hold_writes()
    writers = scene.writers(chance, uploads=0)
    writers.await_answers(15)
    scene.daemon.kill()
    writers.stop()
    undo_queue_migrations(scene.daemon.database)
    before = scene.faults.count(LOG | DATABASE | BACKUP, CHANGES)
    arm_kill(scene, chance, LOG | DATABASE | BACKUP, CHANGES, scene.steps)
    scene.daemon.start(wait=False)
    try:
        scene.daemon.await_ready()
        scene.daemon.kill()
    except Failed:
        if not scene.faults.injected:
            raise
    if not scene.faults.injected:
        scene.steps = scene.faults.count(LOG | DATABASE | BACKUP, CHANGES) - before


def undo_queue_migrations(database):
    """Reverts the migrations that change the queue's table, so that the next start runs them again. No content may
    exist."""
    connection = sqlite3.connect(database)
    connection.executescript("""
        BEGIN;
        ALTER TABLE sync_outbox DROP COLUMN first_attempt_at;
        ALTER TABLE sync_outbox DROP COLUMN sent;
        ALTER TABLE sync_outbox DROP COLUMN trace;
        ALTER TABLE sync_missing DROP COLUMN at;
        DELETE FROM grdb_migrations WHERE identifier LIKE '13%' OR identifier LIKE '19%';
        COMMIT;
        """)
    (last,) = connection.execute("SELECT last_change FROM sync_change_log ORDER BY seq DESC LIMIT 1").fetchone() or (0,)
    (table,) = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'sync_outbox'").fetchone()
    table = table.replace('"sync_outbox"', "older").replace("INTEGER PRIMARY KEY", "INTEGER PRIMARY KEY AUTOINCREMENT")
    connection.executescript(f"""
        BEGIN;
        {table};
        INSERT INTO older SELECT * FROM sync_outbox;
        DROP TABLE sync_outbox;
        ALTER TABLE older RENAME TO sync_outbox;
        DELETE FROM sqlite_sequence WHERE name = 'sync_outbox';
        INSERT INTO sqlite_sequence VALUES ('sync_outbox', {last});
        CREATE UNIQUE INDEX sync_outbox_by_idempotency_key ON sync_outbox (idempotency_key);
        CREATE INDEX sync_outbox_by_record ON sync_outbox (entity, record_key);
        CREATE INDEX sync_outbox_by_group ON sync_outbox (entity, order_group) WHERE order_group IS NOT NULL;
        CREATE INDEX sync_outbox_by_state ON sync_outbox (state, id);
        ALTER TABLE sync_change_log DROP COLUMN last_change;
        ALTER TABLE sync_change_log DROP COLUMN steps;
        DROP TABLE sync_log_part;
        CREATE INDEX sync_change_log_by_record ON sync_change_log (entity, keys) WHERE change_id IS NOT NULL;
        INSERT INTO sync_tally SELECT 'queue', count(*) FROM sync_outbox;
        INSERT INTO sync_tally SELECT 'failed', count(*) FROM sync_outbox WHERE state = 'failed';
        DELETE FROM grdb_migrations WHERE identifier LIKE '10%';
        COMMIT;
        """)
    connection.close()


def in_backup(scene, chance):
    """The daemon makes a backup of its database; here it does so every second."""
    arm_kill(scene, chance, BACKUP, CHANGES, 100)
    writers = scene.writers(chance, count=1)
    scene.daemon.wait()
    writers.stop()


PHASES = {
    "queue insert": in_queue_insert,
    "push before the answer": in_push,
    "after the answer": after_answer,
    "page apply": in_page,
    "checkpoint": in_checkpoint,
    "migration": in_migration,
    "backup": in_backup,
}


def crash(run, name, rounds, first):
    """Crashes one shop `rounds` times in one phase; returns the acknowledged writes and the start times."""
    injected = tries = 0
    settings = {"backup": {"every": "1s", "keep": "2"}} if name == "backup" else {}
    with scene(f"{name[:4]}{first}", settings) as shop:
        shop.daemon.start()
        shop.others = [shop.upstream.create("notes", {"text": f"another's {n}"})["id"] for n in range(60)]
        shop.steps = 400
        while injected < rounds:
            PHASES[name](shop, run.random(name, first, tries))
            injected += 1 if shop.faults.injected or name == "push before the answer" else 0
            tries += 1
            if tries > 3 * rounds + 10:
                raise Failed(f"{name}: the fault was injected only {injected} times in {tries} tries")
            try:
                shop.check()
            except Failed as failure:
                raise Failed(f"{name}, shop {first}, try {tries}: {failure}") from failure
        return shop.answered, shop.daemon.starts[1:]


def body(run):
    rounds = run.of(6, 150)
    starts, answered, crashes = [], 0, {}
    for name in PHASES:
        if run.only and run.only not in name:
            continue
        for first in range(0, rounds, ROUNDS_A_SCENE):
            count = min(ROUNDS_A_SCENE, rounds - first)
            writes, times = crash(run, name, count, first)
            answered += writes
            starts += times
            crashes[name] = crashes.get(name, 0) + count
        run.say(f"crashes: {name}: {crashes[name]}")
    run.note(crashes=sum(crashes.values()), phases=crashes, answered_writes=answered, lost=0, doubled=0,
             ready_seconds={"median": round(median(starts), 3), "most": round(max(starts), 3)})


main("crashes", body)
