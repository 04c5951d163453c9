#!/usr/bin/env python3
"""Makes the disk of the running daemon fail: I/O errors from the n-th write on, a full disk, a read-only disk.

Meanwhile a write gets 503 or is really stored, and reads work; when the disk works again, the daemon recovers by
itself.
"""
import contextlib
import errno
import os
import subprocess
import threading
import time

from lib.client import Unanswered
from lib.faults import (BACKUP, CONTENT, CREATE, DATABASE, FAIL, INDEX, LOG, OTHER, RENAME, SYNC, TRUNCATE, WRITE)
from lib.ledger import Ledger
from lib.programs import Failed, await_true
from lib.scene import scene
from lib.topic import main

WITHIN = 10.0  # seconds for the daemon to recover after the disk
EVERYTHING = DATABASE | LOG | INDEX | CONTENT | BACKUP | OTHER
CHANGES = WRITE | TRUNCATE | CREATE | RENAME | SYNC


class Reader:
    """A caller that keeps reading and must never be refused."""

    def __init__(self, daemon):
        self.stopping = threading.Event()
        self.reads, self.refusal = 0, None
        self.thread = threading.Thread(target=self._run, args=(daemon.client(),), daemon=True)
        self.thread.start()

    def _run(self, client):
        while not self.stopping.is_set() and not self.refusal:
            for path in ("/v1/notes?limit=5", "/v1/notes?q=record", "/readyz", "/v1/status"):
                try:
                    answer = client.get(path)
                    if answer.status != 200:
                        self.refusal = f"{path}: {answer.status} {answer.body[:300]!r}"
                except Unanswered as error:
                    self.refusal = str(error)
                self.reads += 1
        client.close()

    def stop(self):
        self.stopping.set()
        self.thread.join()
        if self.refusal:
            raise Failed(f"a read was refused while only writes failed: {self.refusal}")


def require_refusal(answer, what):
    if answer.status != 503 or not answer.is_problem:
        raise Failed(f"{what} was answered {answer.status} {answer.body[:300]!r} while it could not be stored")


def create_in(ledger, client, chance):
    """Creates a note or a photo, which cannot conflict with other writers; returns the answer."""
    return ledger.create(client) if isinstance(ledger, Ledger) else ledger.write(client, chance)


def fail_and_recover(shop, chance, break_disk, repair, is_kept, padding=0, uploads=0.3):
    """Injects a fault with `break_disk` and ends it with `repair`; returns the seconds until a write is accepted again.

    `is_kept`: whether the writes of a ledger are stored in spite of the fault.
    """
    reader = Reader(shop.daemon)
    writers = shop.writers(chance, count=2, padding=padding, uploads=uploads)
    break_disk()
    # The database file is only written when the log is long enough for a checkpoint.
    await_true(lambda: shop.has_failed() or not any(thread.is_alive() for thread in writers.threads), 120,
               "the disk never failed")
    client = shop.daemon.client()
    for ledger in (shop.notes, shop.photos):
        if not is_kept(ledger):
            for _ in range(3):
                require_refusal(create_in(ledger, client, chance), "a write")
    writers.stop()
    repair()
    started = time.monotonic()
    for ledger in (shop.notes, shop.photos):
        await_true(lambda: create_in(ledger, client, chance).status < 300, WITHIN,
                   lambda: f"writes are still refused {WITHIN} s after the disk works again:\n{shop.daemon.log()}")
    recovered = time.monotonic() - started
    client.close()
    reader.stop()
    shop.reads += reader.reads
    # The queue is sent without a restart, including changes whose outcome could not be stored.
    shop.check_local()
    shop.check_upstream()
    shop.check_local()
    shop.check_history()
    return recovered


def nth_write(run, name, file, numbers):
    """Every write to one kind of file fails from the n-th on, until the disk works again."""
    times = []
    operations = WRITE | SYNC | (CREATE | RENAME if file == CONTENT else 0)
    for first in range(0, len(numbers), 25):
        with ready_scene(f"{name[:4]}{first}") as shop:
            for number in numbers[first:first + 25]:
                chance = run.random(name, number)
                error = chance.choice((errno.EIO, errno.ENOSPC))
                try:
                    times.append(fail_and_recover(
                        shop, chance, lambda: shop.faults.arm(FAIL, file, operations, number - 1, -1, error=error),
                        shop.faults.clear, lambda ledger: file == DATABASE or file == CONTENT and ledger is shop.notes,
                        padding=60_000 if file == DATABASE else 0, uploads=0 if file == DATABASE else 0.3))
                except (Failed, Unanswered) as failure:
                    raise Failed(f"{name}, write {number} with {errno.errorcode[error]}: {failure}\n"
                                 f"{shop.daemon.process.poll()} {shop.daemon.log()}") from failure
            finish(shop, run, name)
    return times


def everything(run, name, error, rounds):
    """Nothing can be changed on disk, because it is full or read-only."""
    with ready_scene(name[:4]) as shop:
        times = []
        for number in range(rounds):
            try:
                times.append(fail_and_recover(
                    shop, run.random(name, number),
                    lambda: shop.faults.arm(FAIL, EVERYTHING, CHANGES, number, -1, error=error), shop.faults.clear,
                    lambda ledger: False))
            except (Failed, Unanswered) as failure:
                raise Failed(f"{name}, fault {number}: {failure}\n"
                             f"{shop.daemon.process.poll()} {shop.daemon.log()}") from failure
        finish(shop, run, name)
    return times


def small_disk(run, name, rounds):
    """A file system of 24 MiB that another program fills and empties again."""
    if os.geteuid() != 0:
        run.say("disk: SKIPPED small disk: needs root")
        return []
    with ready_scene(name[:4], is_small=True) as shop:
        filler = shop.daemon.state / "filler"
        times = []
        for number in range(rounds):
            before = sum(shop.notes.refusals.values())
            shop.has_failed = lambda: sum(shop.notes.refusals.values()) > before
            times.append(fail_and_recover(
                shop, run.random(name, number), lambda: fill(filler), filler.unlink, lambda ledger: False))
        finish(shop, run, name)
    return times


def fill(path):
    with contextlib.suppress(OSError), open(path, "wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass


@contextlib.contextmanager
def mounted(state):
    state.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m,mode=700", "torture", state], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", state], check=True)


@contextlib.contextmanager
def ready_scene(mark, is_small=False):
    """A scene with a running daemon, on its own small disk if `is_small`."""
    with scene(mark) as shop, mounted(shop.daemon.state) if is_small else contextlib.nullcontext():
        shop.reads = 0
        shop.has_failed = lambda: shop.faults.injected > 0
        shop.daemon.start()
        yield shop


def finish(shop, run, name):
    """Checks that the daemon never exited, and that all acknowledged writes survive a crash."""
    if not shop.daemon.is_running:
        raise Failed(f"{name}: the daemon exited with {shop.daemon.process.returncode}")
    shop.daemon.kill()
    shop.check()
    run.note(answered_writes=run.figures.get("answered_writes", 0) + shop.answered,
             reads=run.figures.get("reads", 0) + shop.reads,
             refused_writes=run.figures.get("refused_writes", 0) + sum(shop.notes.refusals.values()))


def body(run):
    numbers = run.of([1, 2, 3, 7, 20, 60], list(range(1, 201)))
    parts = {
        "log": lambda: nth_write(run, "log", LOG, numbers),
        "content": lambda: nth_write(run, "content", CONTENT, numbers),
        "database": lambda: nth_write(run, "database", DATABASE, run.of([1, 40], numbers)),
        "full": lambda: everything(run, "full", errno.ENOSPC, run.of(3, 25)),
        "read-only": lambda: everything(run, "read-only", errno.EROFS, run.of(3, 25)),
        "small disk": lambda: small_disk(run, "small disk", run.of(2, 10)),
    }
    recoveries, cases = [], {}
    for name, part in parts.items():
        if run.only and run.only not in name:
            continue
        times = part()
        if not times:
            continue
        recoveries += times
        cases[name] = len(times)
        run.say(f"disk: {name}: {len(times)}, recovered in {max(times):.2f} s at most")
    run.note(cases=cases, lost=0, doubled=0, recovery_seconds_most=round(max(recoveries, default=0), 2))


main("disk", body)
