#!/usr/bin/env python3
"""Shows that SQLite's WAL-reset bug cannot occur: it needs two connections that write to a log, or checkpoint it, at
once.

The test uses everything that opens the database: callers, pulls, backups, the daemon's own commands, stops and crashes.
"""
import os
import time

from lib.power import Power
from lib.programs import Failed
from lib.scene import scene
from lib.topic import main


def require_one_at_a_time(spans):
    """Checks that no two connections wrote at once; returns how many wrote."""
    ordered = sorted(spans.values())
    if not spans or any(first <= last for (_, last), (first, _) in zip(ordered, ordered[1:])):
        raise Failed(f"two connections wrote at once: {spans}")
    return sum(isinstance(connection, int) for connection in spans)


def body(run):
    connections = 0
    with scene("sqlite", {"backup": {"every": "1s", "keep": "2"}}, Power) as shop:
        environment = shop.faults.environment
        shop.daemon.start()
        for number in range(run.of(2, 20)):
            chance = run.random(number)
            writers = shop.writers(chance, padding=chance.choice((0, 60_000)))
            end = time.monotonic() + 3
            while time.monotonic() < end:
                for command in (("doctor",), ("status",), ("backup", shop.daemon.folder / f"{time.monotonic_ns()}.db")):
                    outcome = shop.daemon.command(*command, environment=environment)
                    if outcome.returncode > 1:
                        raise Failed(f"{command}: {outcome.stdout}{outcome.stderr}")
                    if command[0] == "doctor" and "WAL-reset" not in outcome.stdout:
                        raise Failed(f"doctor does not report the bug: {outcome.stdout}")
            writers.stopping.set()
            if chance.random() < 0.5:
                shop.daemon.stop()
            else:
                shop.daemon.kill()
            writers.stop()
            connections += require_one_at_a_time(shop.faults.writing_spans(os.path.realpath(shop.daemon.database)))
            shop.faults.watch()
            shop.check()
        run.note(writing_connections=connections, at_once=1, answered_writes=shop.answered)


main("sqlite", body)
