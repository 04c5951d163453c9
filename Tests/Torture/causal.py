#!/usr/bin/env python3
"""Two daemons of one upstream, with callers at both, while daemons are killed and requests fail. What each caller saw
must fit together: the history of each round is checked.

The parts in which several change one record run only when `--only` names them. They still fail: see the known limits in
docs/reliability.md.
"""
import time
from pathlib import Path

from lib.history import History
from lib.ledger import Ledger
from lib.programs import Daemon, Upstream, temporary_folder
from lib.shared import COUNT, Shared
from lib.topic import main
from lib.writers import Writers

FAULTS = [
    [{"effect": "fail", "status": 503, "rate": 0.3}],
    [{"effect": "latency", "duration": "200ms", "rate": 0.5}],
    [{"effect": "timeout_after_apply", "duration": "300ms", "rate": 0.3, "method": method}
     for method in ("POST", "PATCH")],
    [{"effect": "cut_body", "rate": 0.2}],
    [{"effect": "offline"}],
    [],
]


EVERY = ("one", "two", "three")
# For each daemon the notes and fields that its callers change; the fields that people change upstream.
PARTS = {
    "own notes": ((slice(0, COUNT), EVERY), (slice(COUNT, None), EVERY), ()),
    "own fields": ((slice(None), ("one",)), (slice(None), ("two",)), ("three",)),
    "same fields": ((slice(None), EVERY), (slice(None), EVERY), EVERY),
}
LEFT_OUT = ("own fields", "same fields")


class Pair:
    """Two daemons with the same upstream, in their own folders."""

    def __init__(self, folder, run, part):
        *parts, theirs = PARTS[part]
        self.upstream = Upstream(rows=20, seed=run.seed % 1000, more=["--server-ids"])
        ids = [self.upstream.create("notes", {"text": f"shared {number}"})["id"] for number in range(2 * COUNT)]
        self.history = History(folder, self.upstream, f"causal {part} {run.seed}")
        self.daemons, self.ledgers, self.shared = [], [], []
        for name, (own, fields) in zip(("d1", "d2"), parts):
            (folder / name).mkdir()
            daemon = Daemon(folder / name, self.upstream, {"upstream": {
                "base_url": f"http://{self.upstream.address}", "deadline": "2s"}})
            daemon.name, daemon.history = name, self.history
            daemon.start(within=10)
            client = daemon.client()
            daemon.await_true(lambda: all(client.get(f"/v1/notes/{id}").status == 200 for id in ids), 20,
                              "the shared notes were not pulled")
            client.close()
            self.daemons.append(daemon)
            self.ledgers.append(Ledger(name))
            self.shared.append(Shared(name, self.upstream, ids, ids[own], fields, theirs))

    def round(self, chance, seconds):
        """Callers write and read at both daemons through a few faults."""
        writers = [self._writers(number, chance) for number in range(len(self.daemons))]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.upstream.faults(*chance.choice(FAULTS))
            time.sleep(chance.uniform(0.1, 0.7))
            if chance.random() < 0.3:
                number = chance.randrange(len(self.daemons))
                self.daemons[number].kill()
                writers[number].stop()
                self.daemons[number].start(within=10)
                writers[number] = self._writers(number, chance)
        for group in writers:
            group.stop()
        self.upstream.faults()
        self.check()

    def _writers(self, number, chance):
        return Writers(self.daemons[number], [(self.ledgers[number], 0.3), (self.shared[number], 0.7)],
                       [chance.random() for _ in range(3)])

    def check(self):
        for _ in self.daemons:  # what one has sent, the other must pull, and may have to send again
            for daemon in self.daemons:
                daemon.await_sent(60)
        for daemon, ledger, shared in zip(self.daemons, self.ledgers, self.shared):
            client = daemon.client()
            ledger.check_local(client)
            shared.check_local(client)
            client.close()
            ledger.check_upstream(self.upstream)
        self.history.end_round(*self.daemons)

    def close(self):
        for daemon in self.daemons:
            daemon.kill()
        self.upstream.stop()
        self.history.close()


    @property
    def answered(self):
        return sum(ledger.answered for ledger in [*self.ledgers, *self.shared])


def body(run):
    rounds = run.of(3, 200)
    for part in PARTS:
        if run.only not in part if run.only else part in LEFT_OUT:
            continue
        with temporary_folder() as folder:
            pair = Pair(Path(folder), run, part)
            try:
                for number in range(rounds):
                    pair.round(run.random(part, number), run.of(2, 8))
                figures = {"rounds": rounds, "answered_writes": pair.answered, "conflicts": len(pair.history.conflicts)}
                run.say(f"{part}: {figures}")
                run.note(**{part: figures})
            finally:
                pair.close()


main("causal", body)
