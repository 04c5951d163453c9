#!/usr/bin/env python3
"""Kills the daemon while it migrates a large database of version 0.1.0; then nothing may be lost, doubled or different."""
import shutil
import socket
from pathlib import Path
from statistics import median

from lib import old_database
from lib.faults import BACKUP, CREATE, DATABASE, KILL, LOG, REMOVE, RENAME, SYNC, TEAR, TRUNCATE, WRITE, Faults
from lib.programs import Daemon, Failed, Upstream, temporary_folder
from lib.scene import check_consistency, integrity
from lib.topic import main

FILES = LOG | DATABASE | BACKUP
CHANGES = WRITE | SYNC | TRUNCATE | CREATE | RENAME | REMOVE
SETTINGS = {"sync": {"interval": "24h", "full_every": "90d", "write_delay": "0ms"}, "dashboard": {"time_zone": "UTC"}}
READY_S = 60


def reserved_port():
    """A port at which nothing listens: until the queue is checked, the daemon finds no upstream. The socket keeps the system
    from giving it to another program, even to that daemon, whose API takes any free port; the upstream can still bind it."""
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    return reserved, reserved.getsockname()[1]


class Shop:
    """The old database, and what an undisturbed migration makes of it."""

    def __init__(self, folder, rows, changes):
        self.folder = Path(folder)
        self.reserved, self.port = reserved_port()
        self.address = f"127.0.0.1:{self.port}"
        self.state = self.folder / "old"
        old_database.make(self.state, self.address, rows, changes)
        old = self.state / "workshop-acc-1.db"
        self.queue = old_database.queue(old)
        old_database.write_upstream(old, self.folder / "data")
        with self.copy("first") as (daemon, faults):
            daemon.start(READY_S)
            self.seconds = daemon.starts[0]
            self.steps = faults.count(FILES, CHANGES)
            self.views = self.views_at_rest(daemon)
            self.check(daemon)
            self.check_sent(daemon)

    def copy(self, name):
        return Copy(self, self.folder / name)

    @staticmethod
    def views_at_rest(daemon):
        """The records as people read them while no content is being sent: now and then the daemon tries to reach the upstream."""
        views = {}

        def rests():
            views.update(old_database.views(daemon.database))
            return not any("uploading" in row for rows in views.values() for row in rows)

        daemon.await_true(rests, 10, "a content is being sent for 10 s, although nothing listens")
        return views

    def check(self, daemon):
        """Everything is there, and reads as after the undisturbed migration."""
        if old_database.queue(daemon.database) != self.queue:
            raise Failed("the queue is not the same")
        for name, rows in self.views_at_rest(daemon).items():
            if rows != self.views[name]:
                different = set(rows).symmetric_difference(self.views[name])
                raise Failed(f"{name}: {len(rows)} rows, not {len(self.views[name])}: {sorted(map(str, different))[:4]}")
        problems = integrity(daemon.database)
        if problems != ["ok"]:
            raise Failed(f"integrity_check: {problems[:3]}")
        check_consistency(daemon)
        backup = next(daemon.state.glob("backups/*/*.db"), None)
        if not backup or old_database.queue(backup) != self.queue:
            raise Failed(f"the backup before the migration is {backup}")

    def check_sent(self, daemon):
        """Starts the upstream, and checks that each added change arrives once."""
        upstream = Upstream(old_database.SCHEMA, port=self.port, more=[
            "--data", self.folder / "data", "--account", "acc-1", "--server-ids"])
        try:
            wanted = {change[6]: change[4] for change in self.queue if change[6].startswith(old_database.ADDED)}
            left = lambda: sum(change[6] in wanted for change in old_database.queue(daemon.database))
            daemon.await_true(lambda: left() == 0, 120, lambda: f"{left()} changes were not sent")
            applied = [entry for entry in upstream.log() if entry["applied"] and entry["idempotency_key"] in wanted]
            if sorted(entry["idempotency_key"] for entry in applied) != sorted(wanted):
                raise Failed(f"{len(applied)} changes were applied, not {len(wanted)}")
            subjects = {record["id"]: record["subject"] for record in upstream.records("tickets")}
            for key in wanted:
                if subjects[key] != key.replace(old_database.ADDED, "Queued "):
                    raise Failed(f"lost: the change {key}: {subjects[key]}")
        finally:
            upstream.stop()


class Copy:
    """A copy of the old state folder, and a daemon for it."""

    def __init__(self, shop, folder):
        self.shop, self.folder = shop, folder

    def __enter__(self):
        self.folder.mkdir()
        state = self.folder / "state"
        shutil.copytree(self.shop.state, state, symlinks=True)
        self.faults = Faults(self.folder, state)
        self.daemon = Daemon(self.folder, self.shop.address, SETTINGS, self.faults.environment, old_database.SCHEMA)
        return self.daemon, self.faults

    def __exit__(self, *_):
        self.daemon.kill()
        self.faults.close()
        shutil.rmtree(self.folder)


def start_and_kill(shop, daemon, faults, chance):
    """Starts the daemon and kills it after a random time, or at a random disk operation. Returns False if it was ready
    first; it then runs on."""
    is_timed = chance.random() < 0.5
    if not is_timed:
        faults.arm(chance.choice((KILL, TEAR)), FILES, CHANGES, after=chance.randrange(shop.steps))
    daemon.start(wait=False)
    try:
        daemon.await_ready(chance.random() * shop.seconds if is_timed else READY_S)
    except Failed:
        if not is_timed and not faults.injected:
            raise
        daemon.kill()
        return True
    finally:
        faults.clear()
    return False


def killed(run, shop, number):
    """Migrates one copy, killing the daemon until a start is ready before its moment; returns the number of kills and the
    seconds of that start."""
    chance, kills = run.random(number), 0
    with shop.copy(f"copy{number}") as (daemon, faults):
        try:
            while start_and_kill(shop, daemon, faults, chance):
                kills += 1
            shop.check(daemon)
            if number % 10 == 0:
                shop.check_sent(daemon)
        except Failed as failure:
            raise Failed(f"copy {number}, after {kills} kills: {failure}") from failure
        return kills, daemon.starts[-1]


def body(run):
    wanted = run.of(6, 200)
    kills, starts = 0, []
    with temporary_folder() as folder:
        shop = Shop(folder, rows=run.of(1_000, 12_000), changes=run.of(200, 2_000))
        run.say(f"migration: undisturbed {shop.seconds:.2f} s, {shop.steps} disk operations")
        while kills < wanted:
            more, seconds = killed(run, shop, len(starts))
            kills += more
            starts.append(seconds)
    run.note(kills=kills, databases=len(starts), queued=len(shop.queue), lost=0, doubled=0, different=0,
             undisturbed_seconds=round(shop.seconds, 3),
             ready_seconds={"median": round(median(starts), 3), "most": round(max(starts), 3)})


main("migration", body)
