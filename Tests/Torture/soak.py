#!/usr/bin/env python3
"""Hours of mixed work with faults: nothing may grow without bound, and every acknowledged write must arrive.

TORTURE_MINUTES sets the duration; the default is 120 (full) or half a minute (small).
"""
import os
import threading
import time


from lib.client import Unanswered
from lib.crowd import Crowd
from lib.history import History
from lib.ledger import Ledger
from lib.load import percentile
from lib.process import descriptors, memory
from lib.programs import Daemon, Failed, Upstream, temporary_folder
from lib.proxy import KINDS, Proxy
from lib.shared import Shared
from lib.topic import main

LARGEST_LOG = 64 << 20
DRIFT = 0.05
FAULTS = [
    {"effect": "fail", "status": 503, "rate": 0.3}, {"effect": "fail", "status": 500, "rate": 0.3},
    {"effect": "latency", "duration": "300ms", "rate": 0.5}, {"effect": "cut_body", "rate": 0.2},
    {"effect": "timeout_after_apply", "duration": "500ms", "rate": 0.2}, {"effect": "offline"},
]


class Sample:
    """The daemon's resources at one moment."""

    def __init__(self, daemon):
        pid, database = daemon.process.pid, daemon.database
        log = database.with_name(database.name + "-wal")
        self.memory, self.descriptors = memory(pid), descriptors(pid)
        self.log = log.stat().st_size if log.exists() else 0


class Work:
    """Two writers and two readers, each in a thread, until `stop`."""

    def __init__(self, run, daemon, upstream, ledger, shared):
        self.run, self.daemon, self.upstream = run, daemon, upstream
        self.ledger, self.shared = ledger, shared
        self.changed_there = upstream.create("notes", {"text": f"changed upstream {time.monotonic()}"})["id"]
        self.over = threading.Event()
        self.errors = []
        self.times = []
        kinds = [self.write, self.write, self.read, self.read]
        self.threads = [threading.Thread(target=self._loop, args=(kind, number), daemon=True)
                        for number, kind in enumerate(kinds)]
        for thread in self.threads:
            thread.start()

    def _loop(self, kind, number):
        client, chance = self.daemon.client(), self.run.random(number)
        while not self.over.is_set():
            try:
                kind(client, chance)
            except (Unanswered, Failed) as error:
                self.errors.append(repr(error))
            time.sleep(0.02)
        client.close()

    def write(self, client, chance):
        ledger = chance.choice([self.ledger, self.ledger, self.shared])
        ledger.write(client, chance, chance.choice([0, 0, 200, 4000]))

    def read(self, client, chance):
        path = chance.choice(["/v1/notes?limit=100&sort=-updated_at", "/v1/notes?q=note", "/v1/status", "/v1/pending",
                              "/metrics", "/v1/changes?limit=100", "/v1/photos", "/v1/notes?one.null=true&count=true"])
        asked = time.monotonic()
        if client.get(path).status != 200:
            raise Failed(f"{path} was not answered")
        self.times.append(time.monotonic() - asked)

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join()


def trouble(work, proxy, chance, seconds):
    """Runs a few seconds with one fault, or none, while a record changes upstream; returns the kind of fault."""
    upstream, daemon = work.upstream, work.daemon
    choice = chance.choice(["upstream", "network", "crowd", "none", "none"])
    if choice == "upstream":
        upstream.faults(chance.choice(FAULTS))
    elif choice == "network":
        proxy.set(chance.choice(KINDS), chance.randrange(3000))
    elif choice == "crowd":
        crowd = Crowd(chance.choice(["idle", "heads", "stalled", "streams"]), daemon.tcp_address, 300)
    for _ in range(seconds * 2):
        time.sleep(0.5)
        upstream.change("notes", work.changed_there, {"one": f"there {time.monotonic()}"})
    upstream.faults()
    proxy.set()
    if choice == "crowd":
        crowd.close()
    return choice


def check_growth(run, samples):
    """Compares the last third of the samples with the second; the first third is the warm-up."""
    third = len(samples) // 3
    before, after = samples[third:2 * third], samples[2 * third:]

    def middle(values):
        return sorted(values)[len(values) // 2]
    early, late = middle([s.memory for s in before]), middle([s.memory for s in after])
    files = middle([s.descriptors for s in before]), middle([s.descriptors for s in after])
    largest = max(sample.log for sample in samples)
    drift = (late - early) / early
    run.note(memory_kib=[early, late], memory_drift=f"{100 * drift:+.1f}%", descriptors=list(files),
             most_descriptors=max(s.descriptors for s in samples), largest_log_mib=round(largest / (1 << 20), 1))
    if largest > LARGEST_LOG:
        raise Failed(f"the database's log grew to {largest >> 20} MiB")
    if run.is_full and drift > DRIFT:
        raise Failed(f"memory grew by {100 * drift:.1f} %")
    if run.is_full and files[1] > files[0] + 4:
        raise Failed(f"descriptors grew from {files[0]} to {files[1]}")


def body(run):
    minutes = float(os.environ.get("TORTURE_MINUTES") or run.of(0.5, 120))
    chance = run.random("trouble")
    with temporary_folder() as folder:
        upstream = Upstream(rows=500, seed=run.seed % 1000)
        proxy = Proxy(upstream.address)
        daemon = Daemon(folder, proxy.address, {
            "sync": {"interval": "1s", "full_every": "60s"}, "upstream": {
                "base_url": f"http://{proxy.address}", "deadline": "3s"}, "backup": {"every": "60s", "keep": "2"},
            "history": {"keep_changes": "20000"}})
        daemon.start(within=20)
        history = daemon.history = History(folder, upstream, f"soak-{run.seed}")
        ledger, shared = Ledger(f"s{run.seed}"), Shared(f"s{run.seed}", upstream)
        work = Work(run, daemon, upstream, ledger, shared)
        samples, troubles, slowest, errors, rounds, writes = [], {}, [], [], 0, 0
        try:
            end = time.monotonic() + 60 * minutes
            while time.monotonic() < end:
                # Compare both sides regularly, so that the ledger does not grow without bound.
                pause = min(time.monotonic() + run.of(15, 120), end)
                while time.monotonic() < pause:
                    kind = trouble(work, proxy, chance, run.of(2, 5))
                    troubles[kind] = troubles.get(kind, 0) + 1
                    samples.append(Sample(daemon))
                work.stop()
                own = daemon.client()
                daemon.await_sent(120, own)
                ledger.check_local(own)
                ledger.check_upstream(upstream)
                ledger.check_local(own)
                shared.check_local(own)
                own.close()
                history.end_round(daemon)
                writes += ledger.answered
                rounds += 1
                ledger = Ledger(f"s{run.seed}.{rounds}")
                run.say(f"soak: round {rounds}, {writes} writes, memory {samples[-1].memory} KiB, "
                        f"{samples[-1].descriptors} descriptors, log {samples[-1].log >> 10} KiB")
                slowest.append(percentile(sorted(work.times), 0.99))
                errors += work.errors
                work = Work(run, daemon, upstream, ledger, shared)
            work.stop()
            run.note(minutes=minutes, rounds=rounds, answered_writes=writes, troubles=troubles,
                     p99_ms=max(slowest), unanswered=len(errors))
            if errors:
                raise Failed(f"calls were not answered: {errors[:3]}")
            check_growth(run, samples)
        finally:
            work.over.set()
            daemon.kill()
            proxy.close()
            upstream.stop()


if __name__ == "__main__":
    main("soak", body)
