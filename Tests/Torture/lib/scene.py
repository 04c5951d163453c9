"""The shop for one part of a test: upstream, daemon, faults and ledgers in a temporary folder."""
import contextlib
import json
import sqlite3

from .faults import Faults
from .history import History
from .ledger import Ledger
from .photos import Photos
from .programs import Daemon, Failed, Upstream, temporary_folder
from .shared import Shared
from .writers import Writers


class Scene:
    def __init__(self, folder, upstream, mark, settings, preload):
        self.upstream = upstream
        self.faults = preload(folder, f"{folder}/state")
        self.daemon = Daemon(folder, upstream, settings, self.faults.environment)
        self.history = self.daemon.history = History(folder, upstream, mark)
        self.notes = Ledger(mark)
        self.photos = Photos(mark)
        self.shared = Shared(mark, upstream)

    def writers(self, chance, count=3, padding=0, uploads=0.15):
        notes = (1 - uploads) / 2
        return Writers(self.daemon, [(self.notes, notes), (self.photos, uploads), (self.shared, notes)],
                       [chance.random() for _ in range(count)], padding)

    @property
    def answered(self):
        return self.notes.answered + self.photos.answered + self.shared.answered

    def hold_writes(self, effect="hold"):
        """Makes the upstream leave every write unanswered; `timeout_after_apply` applies it first."""
        self.upstream.faults(*({"effect": effect, "duration": "60s", "method": method}
                               for method in ("POST", "PATCH", "PUT", "DELETE")))

    def check_local(self):
        client = self.daemon.client()
        for ledger in (self.notes, self.photos, self.shared):
            ledger.check_local(client)
        client.close()

    def check_upstream(self):
        """Waits until the queue is empty, then checks the upstream."""
        self.daemon.await_sent()
        for ledger in (self.notes, self.photos):
            ledger.check_upstream(self.upstream)

    def check_history(self):
        """Checks what all callers did and saw since the last time. Call it while nothing is queued or in flight."""
        self.history.end_round(self.daemon)

    def check_database(self, path=None):
        problems = integrity(path or self.daemon.database)
        if problems != ["ok"]:
            raise Failed(f"integrity_check: {problems[:5]}")

    def check_consistency(self):
        check_consistency(self.daemon)

    def check(self):
        """Starts the daemon after a fault and checks that nothing is lost or doubled and the database is intact."""
        self.faults.clear()
        self.upstream.faults()
        self.daemon.start()
        self.check_local()
        self.check_upstream()
        self.check_local()
        self.check_history()
        self.check_database()
        self.check_consistency()


def integrity(path):
    """The result of `integrity_check`; other connections may use the file."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as connection:
        return [row[0] for row in connection.execute("PRAGMA integrity_check")]


def check_consistency(daemon):
    """Everything that the database keeps twice agrees. Run it while the daemon runs, or after it has stopped."""
    answer = daemon.command("doctor", "--deep", "--json")
    findings = [finding for finding in json.loads(answer.stdout or "[]") if finding["check"] == "consistency"]
    if [finding["level"] for finding in findings] != ["ok"]:
        raise Failed(f"doctor --deep: {findings or answer.stdout or answer.stderr}")


@contextlib.contextmanager
def scene(mark, settings=None, preload=Faults, rows=20):
    """`preload` builds the shim between daemon and C library, from the folder and the state folder."""
    with temporary_folder() as folder:
        upstream = Upstream(rows=rows, more=["--server-ids"])
        try:
            made = Scene(folder, upstream, mark, settings, preload)
            try:
                yield made
            finally:
                made.daemon.kill()
                made.faults.close()
                made.history.close()
        finally:
            upstream.stop()
