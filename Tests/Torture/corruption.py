#!/usr/bin/env python3
"""Damages database files in every common way and starts the daemon on them: it never crashes, sets damaged files aside,
and sends every queued change that is still readable, once.
"""
import contextlib
import json
import os
import shutil
import sqlite3
from pathlib import Path
from statistics import median

from lib.programs import Daemon, Failed, Upstream, temporary_folder
from lib.faults import Faults
from lib.scene import Scene, integrity
from lib.topic import main

PAGE = 4096
FOREIGN_LOG = Path(os.environ.get("TMPDIR", "/tmp")) / f"torture-foreign-wal-{os.getpid()}"


class Queue:
    """The queued changes in a state folder: some in the database file, some only in its log."""

    def __init__(self, state):
        self.state = Path(state)
        self.database = self.state / os.readlink(self.state / "current.db")
        self.rows = self.read(self.database)
        backup = next(self.state.glob("backups/*/*.db"), None)
        held = self.read(backup) if backup else {}
        self.in_backup = {number: row for number, row in held.items() if self.rows.get(number) == row}
        with contextlib.closing(sqlite3.connect(f"file:{self.database}?immutable=1", uri=True)) as alone:
            # Ask SQLite where the queue's pages are, before anything is damaged.
            self.leaves = {page for page, in alone.execute(
                "SELECT pageno FROM dbstat WHERE name = 'sync_outbox' AND pagetype = 'leaf'")}

    @staticmethod
    def read(database):
        """The changes that SQLite can read: number → change."""
        rows = {}
        with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            for direction in ("ASC", "DESC"):
                # Damaged text may not be UTF-8, even in a message about a damaged schema.
                with contextlib.suppress(sqlite3.Error, UnicodeDecodeError):
                    for row in connection.execute(
                            "SELECT id, entity, record_key, operation, body, content, idempotency_key FROM sync_outbox"
                            f" NOT INDEXED ORDER BY id {direction}"):
                        rows[row[0]] = row
        return rows

    def readable(self, damaged):
        """The changes whose whole row is still in a damaged copy of the folder: readable by SQLite, or in an
        unchanged page."""
        path = damaged / self.database.name
        found = {number: row for number, row in self.read(path).items() if self.rows.get(number) == row}
        before, after = self.database.read_bytes(), path.read_bytes() if path.exists() else b""
        for page in self.leaves:
            content = before[(page - 1) * PAGE:page * PAGE]
            if after[(page - 1) * PAGE:page * PAGE] == content:
                found.update((number, row) for number, row in self.rows.items()
                             if row[6].encode() in content and row[4].encode() in content)
        return self.with_creations(found)

    def with_creations(self, found):
        """Without the changes to a record whose creation is lost: they cannot be sent."""
        made = {(row[1], row[2]) for row in self.rows.values() if row[3] == "create"}
        still = {(row[1], row[2]) for row in found.values() if row[3] == "create"}
        return [row for row in found.values() if (row[1], row[2]) not in made - still]


# Kinds of damage: each changes a copy of a state folder, and returns a description.

def overwrite(path, offset, content):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(content)


def flipped(path, log, chance):
    target = log if chance.random() < 0.25 and log.stat().st_size else path
    content = bytearray(target.read_bytes())
    count = chance.choice((1, 8, 200))
    for _ in range(count):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    target.write_bytes(content)
    return f"{count} bits of {target.suffix} flipped"


def truncated(path, log, chance):
    target = log if chance.random() < 0.25 and log.stat().st_size else path
    size = chance.randrange(target.stat().st_size)
    if chance.random() < 0.5:
        size -= size % PAGE
    os.truncate(target, size)
    return f"{target.suffix} cut to {size} bytes"


def zeroed_header(path, log, chance):
    count = chance.choice((16, 100, PAGE))
    overwrite(path, 0, bytes(count))
    return f"the first {count} bytes zeroed"


def torn(path, log, chance):
    pages = path.stat().st_size // PAGE
    count = chance.choice((1, 3, 10))
    for _ in range(count):
        content = chance.choice((bytes(PAGE), chance.randbytes(PAGE), b"\xff" * 512))
        overwrite(path, chance.randrange(pages) * PAGE, content)
    return f"{count} pages overwritten"


def without_log(path, log, chance):
    log.unlink()
    return "the log is missing"


def with_foreign_log(path, log, chance):
    shutil.copy(FOREIGN_LOG, log)
    return "the log belongs to another database"


DAMAGES = (flipped, truncated, zeroed_header, torn, without_log, with_foreign_log)


def prepare(folder, chance):
    """Returns a scene whose state folder has queued changes; its daemon is not running."""
    upstream = Upstream(rows=300, more=["--server-ids"])
    scene = Scene(folder, upstream, f"c{chance.randrange(1 << 20)}", {}, Faults)
    try:
        fill_queue(scene, chance)
    except BaseException:
        scene.daemon.kill()
        upstream.stop()
        raise
    return scene


def fill_queue(scene, chance):
    """Queues some changes in the database file and some only in its log; half of the time makes a backup in between."""
    scene.daemon.start()
    scene.daemon.await_sent()
    write(scene, chance, 20)
    scene.daemon.await_sent()
    scene.hold_writes()
    write(scene, chance, 25, padding=700)
    scene.daemon.stop()
    if chance.random() < 0.5:
        make_backup(scene.daemon.database)
    scene.daemon.start()
    write(scene, chance, 15, padding=700)
    scene.daemon.kill()


def make_backup(database):
    """Makes a backup like the daemon's."""
    folder = database.parent / "backups" / database.stem
    folder.mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(shutil.copy(database, folder / "20200101T000000.000Z-daily.db"))) as copy:
        copy.execute("PRAGMA journal_mode = DELETE")


def write(scene, chance, count, padding=0):
    client = scene.daemon.client()
    for _ in range(count):
        (scene.photos if chance.random() < 0.15 else scene.notes).write(client, chance, padding)
    client.close()


def case(number, scene, queue, chance):
    """Damages a copy of the folder and starts a daemon on it, with the same upstream."""
    folder = Path(scene.daemon.folder) / f"case{number}"
    shutil.copytree(queue.state, folder / "state", symlinks=True)
    path = folder / "state" / queue.database.name
    log = Path(f"{path}-wal")
    done = DAMAGES[number % len(DAMAGES)](path, log, chance)
    expected = queue.readable(folder / "state")
    daemon = Daemon(folder, scene.upstream, {"backup": {"every": "1s"}})
    try:
        return done, *check_recovery(daemon, scene, queue, expected)
    except Failed as failure:
        raise Failed(f"case {number}, {done}: {failure}") from failure
    finally:
        daemon.kill()
        shutil.rmtree(folder)


def check_recovery(daemon, scene, queue, expected):
    """Checks that all expected changes arrive; returns whether a file was set aside, their number and the start
    time."""
    daemon.start()
    # A backup exists only after its integrity_check, so from then on the database in use is intact.
    daemon.await_true(lambda: [copy for copy in daemon.state.glob("backups/*/*-daily.db") if "2020" not in copy.name], 60,
                      "no backup was made")
    client = daemon.client()
    daemon.await_true(lambda: client.get("/v1/pending/count").json["pending"] == 0, 30, "the queue did not empty")
    client.call("POST", "/v1/sync?full=true&wait=true")
    rescue = client.get("/v1/status").json.get("rescue")
    is_aside = bool(list(daemon.state.glob("*.damaged-*")))
    if is_aside != bool(rescue):
        raise Failed(f"a file was set aside: {is_aside}; status reports: {rescue}")
    if is_aside:
        expected = queue.with_creations({row[0]: row for row in expected} | queue.in_backup)
    expect_sent(scene, expected, queue.rows.values(), rescue, daemon)
    problems = integrity(daemon.database)
    if problems != ["ok"]:
        raise Failed(f"integrity_check: {problems[:3]}")
    here = client.get("/v1/notes?limit=1&count=true").json["total"]
    there = len(scene.upstream.records("notes"))
    if here != there:
        raise Failed(f"{here} notes in the cache, {there} upstream")
    return is_aside, len(expected), daemon.starts[0]


def is_like(value, found):
    """True if the values are equal, except for flipped bits in the padding, which cannot be detected."""
    return len(value) == len(found) and found.startswith(value.rstrip(".")) and sum(map(str.__ne__, value, found)) < 3


def expect_sent(scene, expected, truth, rescue, daemon):
    notes = scene.upstream.records("notes")
    keys = {record["id"] for record in notes}
    values = {value for record in notes + scene.upstream.records("photos") for value in record.values()
              if isinstance(value, str)}
    applied = scene.upstream.applied()
    uploads = sum(count for (method, _), count in applied.items() if method == "PUT")
    deleted = {(row[1], row[2]) for row in truth if row[3] == "delete"}
    for number, entity, key, operation, body, content, _ in expected:
        if operation == "delete" and key in keys:
            client = daemon.client()
            raise Failed(f"lost: the deletion of {key}; {rescue}\n{[c for c in applied if key in c[1]]}\n"
                         f"{client.get('/v1/pending').body.decode()}\n"
                         f"{client.get(f'/v1/{entity}/{key}/history').body.decode()}\n"
                         f"{client.get(f'/v1/{entity}/{key}').body.decode()[:300]}\n"
                         f"{client.get('/v1/conflicts').body.decode()[:1000]}")
        for name, value in json.loads(body).items():
            if name != "id" and (entity, key) not in deleted and not any(is_like(value, found) for found in values):
                client = daemon.client()
                raise Failed(f"lost: change {number} ({operation} of {entity}/{key}, {body}); {rescue}\n{daemon.log()}\n"
                             f"{client.get('/v1/pending').body.decode()}\n"
                             f"{client.get(f'/v1/{entity}/{key}/history').body.decode()}\n"
                             f"{client.get(f'/v1/{entity}/{key}').body.decode()}\n")
    if uploads < sum(1 for row in expected if row[5]):
        raise Failed(f"lost: an upload; {rescue}")
    if any(count > 1 for (method, _), count in applied.items() if method == "PUT"):
        raise Failed("doubled: an upload")
    for note in scene.notes.notes:
        if sum(record.get("text") == note.text for record in notes) > 1:
            raise Failed(f"doubled: {note.text[:40]}")


def run_case(run, number):
    chance = run.random(number)
    with temporary_folder() as folder:
        scene = prepare(folder, chance)
        try:
            queue = Queue(scene.daemon.state)
            scene.upstream.faults()
            return case(number, scene, queue, chance)
        finally:
            scene.daemon.kill()
            scene.upstream.stop()


def body(run):
    with temporary_folder() as folder:
        scene = prepare(folder, run.random("foreign"))
        scene.upstream.stop()
        shutil.copy(f"{scene.daemon.database}-wal", FOREIGN_LOG)
    try:
        outcomes, failures = [], 0
        for number in range(run.of(12, 200)):
            if run.only not in (None, str(number)):
                continue
            try:
                outcomes.append(run_case(run, number))
            except Failed as failure:
                failures += 1
                run.say(f"corruption: {failure}")
        if failures:
            raise Failed(f"{failures} files were not recovered; --only NUMBER runs a single one")
    finally:
        FOREIGN_LOG.unlink()
    run.note(files=len(outcomes), set_aside=sum(is_aside for _, is_aside, _, _ in outcomes), crashes=0,
             readable_changes=sum(count for _, _, count, _ in outcomes), lost=0, doubled=0,
             ready_seconds={"median": round(median(time for *_, time in outcomes), 3),
                            "most": round(max(time for *_, time in outcomes), 3)})


main("corruption", body)
