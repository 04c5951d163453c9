#!/usr/bin/env python3
"""10,000 changes at once while a hook's program runs, and SIGKILL for the daemon; the program must be told of each change, in
order, under a key that no repeat changes."""
import contextlib
import itertools
import os
import threading
import time
from collections import Counter

from lib.client import Unanswered
from lib.programs import Daemon, Failed, temporary_folder
from lib.topic import main

WRITERS = 4
CHANGES_OF_A_RECORD = 4
BATCH = 10
SLOWEST_BATCH_S = 5
# What a crash may make happen again: what was delivered and not stored yet, and the delivery under way.
MOST_REPEATS = 2 * 64 + 1
PROGRAM = """#!/bin/sh
printf '%s %s %s\\n' "$HOOK_RECORD_ID" "$HOOK_EVENT" "$HOOK_KEY" >> "$1"
"""


class Scene:
    """A daemon whose upstream is away, with one hook, which writes a line for each delivery."""

    def __init__(self, folder):
        self.told = f"{folder}/told"
        program = f"{folder}/tell"
        with open(program, "w") as file:
            file.write(PROGRAM)
        os.chmod(program, 0o700)
        hook = f"{{ on: [created, changed, deleted], of: notes, command: [{program}, {self.told}] }}"
        self.daemon = Daemon(folder, "127.0.0.1:1", {"hooks": {"told": hook}})
        self.slowest = 0.0
        self.lines = []  # record, event and key of each delivery, as far as they were read
        self.keys = set()
        self.is_closed = False
        self.file = open(self.told, "a+")
        self.file.seek(0)

    def close(self):
        self.daemon.kill()
        self.is_closed = True
        self.file.close()

    def read(self):
        """Returns how many events the program was told of."""
        while True:
            place = self.file.tell()
            line = self.file.readline()
            if not line.endswith("\n"):
                self.file.seek(place)
                return len(self.keys)
            self.lines.append(tuple(line.split()))
            self.keys.add(self.lines[-1][2])

    def write(self, writer, records, chance):
        """Creates the records and changes each of them, in batches; repeats what was not answered under its key."""
        key = itertools.count()
        for round in range(CHANGES_OF_A_RECORD):
            order = list(range(records))
            chance.shuffle(order)
            for first in range(0, records, BATCH):
                ids = [f"w{writer}-{number}" for number in order[first:first + BATCH]]
                self.call([self.operation(record, round) for record in ids], f"{writer}-{next(key)}")

    @staticmethod
    def operation(record, round):
        if round == 0:
            return {"operation": "create", "entity": "notes", "body": {"id": record, "text": "0"}}
        return {"operation": "update", "entity": "notes", "id": record, "body": {"text": str(round)}}

    def call(self, operations, key):
        end = time.monotonic() + 60
        while True:
            client = self.daemon.client()
            try:
                began = time.monotonic()
                answer = client.call("POST", "/v1/_batch", {"operations": operations}, {"Idempotency-Key": key})
                self.slowest = max(self.slowest, time.monotonic() - began)
                if answer.status != 200:
                    raise Failed(f"a batch was answered {answer.status}: {answer.body[:300]!r}")
                return
            except Unanswered:
                if self.is_closed or time.monotonic() > end:
                    raise
                time.sleep(0.02)
            finally:
                client.close()


def check(lines, changes, kills):
    """Returns how many deliveries were repeats."""
    numbers = [int(key.rpartition("-")[2]) for _, _, key in lines]
    if len({key.rpartition("-")[0] for _, _, key in lines}) != 1:
        raise Failed("the keys of one database have different beginnings")
    if len(set(numbers)) != changes:
        raise Failed(f"{len(set(numbers))} events were delivered, not {changes}")
    meanings = {}
    for line, number in zip(lines, numbers):
        if meanings.setdefault(number, line) != line:
            raise Failed(f"one key is {meanings[number]} and {line}")
    first = list(dict.fromkeys(numbers))
    if first != sorted(first):
        raise Failed("an event came before one that happened earlier")
    events = {}
    for number in first:
        record, event, _ = meanings[number]
        events.setdefault(record, []).append(event)
    wanted = ["created"] + ["changed"] * (CHANGES_OF_A_RECORD - 1)
    wrong = {record: found for record, found in events.items() if found != wanted}
    if wrong:
        raise Failed(f"records with other events: {list(wrong.items())[:3]}")
    repeats = len(lines) - changes
    if repeats > kills * MOST_REPEATS or Counter(numbers).most_common(1)[0][1] > kills + 1:
        raise Failed(f"{repeats} repeats after {kills} kills")
    return repeats


def at_once(run):
    """All changes are written as fast as they are answered. The daemon is killed while they are, and while the hook catches
    up."""
    changes, kills = run.of(10_000, 40_000), run.of(6, 20)
    records = changes // CHANGES_OF_A_RECORD // WRITERS
    chance = run.random("kills")
    with temporary_folder() as folder, contextlib.closing(Scene(folder)) as scene:
        daemon = scene.daemon
        daemon.start()
        errors = []

        def write(writer):
            try:
                scene.write(writer, records, run.random("writer", writer))
            except Exception as error:
                errors.append(error)
        began = time.monotonic()
        threads = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
        for thread in threads:
            thread.start()
        # Half of the kills early, while changes are written.
        marks = sorted(chance.randrange(1, changes // 8 if number % 2 else changes) for number in range(kills))
        written, behind = None, None
        try:
            for mark in [*marks, changes]:
                while scene.read() < mark:
                    if errors:
                        raise errors[0]
                    if not daemon.is_running or time.monotonic() - began > 600:
                        raise Failed(f"the hook was told of {scene.read()} of {changes}\n{daemon.log()}")
                    if written is None and not any(thread.is_alive() for thread in threads):
                        written, behind = time.monotonic() - began, changes - scene.read()
                    time.sleep(0.02)
                if mark < changes:
                    daemon.kill()
                    daemon.start(within=20)
        except BaseException:
            scene.close()
            raise
        finally:
            for thread in threads:
                thread.join()
        if errors:
            raise errors[0]
        seconds = time.monotonic() - began
        # Those of the last ones that the last crash makes happen again.
        last = max(int(key.rpartition("-")[2]) for key in scene.keys)
        daemon.await_true(lambda: state(daemon)["position"] >= last, 30, "the hook does not reach the last event")
        if state(daemon)["parked"] or state(daemon)["attempts"]:
            raise Failed(f"the hook is at {state(daemon)}")
        scene.read()
        repeats = check(scene.lines, changes, kills)
    if not behind or scene.slowest > SLOWEST_BATCH_S:
        raise Failed(f"writers waited for the hook: {behind} events were left, the slowest batch took {scene.slowest:.1f} s")
    run.note(changes=changes, kills=kills, repeats=repeats, written_s=round(written, 1), behind_then=behind,
             slowest_batch_ms=round(scene.slowest * 1000), delivered_s=round(seconds, 1))


def state(daemon):
    client = daemon.client()
    try:
        return client.get("/v1/_hooks/told").json
    finally:
        client.close()


if __name__ == "__main__":
    main("hooks", at_once)
