"""The shop of the story: the demo's schema and records, an upstream that can go away, and the daemon with its page."""
import random
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "Tests" / "Torture"))

from lib.ports import free_port  # noqa: E402
from lib.programs import Daemon, Failed, Upstream, await_true  # noqa: E402, F401

# Conflicts of orders wait for a person, and devices have a photograph.
PHOTO = '    content: { upload: { call: "PUT /api/devices/{id}/photo" }, types: [image/png] }\n'
CHANGES = [("  orders:\n", "  orders:\n    conflict: manual\n"), ("  devices:\n", "  devices:\n" + PHOTO)]

ARCHIVE = """  visits:
    title: "{visitor}"
    sort: at
    local: true
    fields:
      id: { type: string, required: true }
      visitor: { type: string }
      minutes: { type: string }
      at: { type: time, index: true }
"""

EMAIL, PASSWORD = "ada@example.org", "right"


class Shop:
    def __init__(self, rows=500):
        self.folder = tempfile.TemporaryDirectory(prefix="page-", ignore_cleanup_errors=True)
        schema = Path(self.folder.name) / "shop.yaml"
        text = (ROOT / "config" / "schemas" / "repairminder.yaml").read_text()
        for old, new in CHANGES:
            if old not in text:
                raise Failed(f"the demo's schema has no {old.strip()}")
            text = text.replace(old, new, 1)
        schema.write_text(text)
        self.upstream = Upstream(schema, rows=rows, more=["--check-references", "--user", f"{EMAIL}:{PASSWORD}"])
        # One port for all its lives: the page stays open while the daemon restarts.
        self.schema = schema
        self.settings = {"listen": {"tcp": f"127.0.0.1:{free_port()}"},
                         "sync": {"interval": "5s", "write_delay": "0ms"},
                         # The first parks each of its deliveries at once, the other tries them again.
                         "hooks": {"label": {"on": ["changed"], "of": "devices", "where": {"diagnosis": "Print it"},
                                             "command": ["/bin/false"], "attempts": 1},
                                   "letter": {"on": ["changed"], "of": "devices", "where": {"resolution": "Post it"},
                                              "command": ["/bin/false"]}}}
        self.daemon = Daemon(self.folder.name, self.upstream, self.settings, schema=schema)
        self.daemon.start(within=30)
        self.sign_in()
        self.sync()
        self.daemon.stop()
        self.remember_a_week()
        self.daemon.start(within=30)

    @property
    def address(self):
        return f"http://{self.daemon.tcp_address}"

    def get(self, path):
        return self.call("GET", path).json

    def call(self, method, path, body=None):
        # A new connection for each call, because the daemon closes idle ones.
        client = self.daemon.client()
        try:
            answer = client.call(method, path, body)
        finally:
            client.close()
        if answer.status >= 300:
            raise Failed(f"{method} {path} answered {answer.status}: {answer.body!r}")
        return answer

    def sync(self):
        self.call("POST", "/v1/sync?wait=true")

    def sign_in(self):
        """Signs the daemon in to the upstream, as a script does."""
        step = self.call("POST", "/v1/_sign-in", {"way": "password"}).json
        for answers in ({"email": EMAIL, "password": PASSWORD}, None):
            answers = answers or {"code": self.mailed_code}
            step = self.call("POST", "/v1/_sign-in", {"id": step["id"], "answers": answers}).json
        if not step["signed_in"]:
            raise Failed(f"the sign-in did not end: {step}")

    @property
    def mailed_code(self):
        return self.upstream._admin("GET", "mail").lines[-1]["code"]

    def forget_sign_in(self):
        (self.daemon.state / "tokens.json").unlink()
        self.call("POST", "/v1/sync")
        await_true(lambda: self.get("/v1/status")["upstream"]["needs_sign_in"], 15, "the daemon still has a token")

    def order(self, number=1486):
        return self.get(f"/v1/orders?order_number={number}")["data"][0]

    def upstream_order(self, number=1486):
        return next(one for one in self.upstream.records("orders") if one["order_number"] == number)

    def go_offline(self):
        self.upstream.faults({"effect": "offline"})

    def come_back(self):
        self.upstream.faults()

    def close_for_maintenance(self):
        """The upstream answers everything with 503 and a web page."""
        self.upstream.habits({"html_503": "1h"})

    def open_again(self):
        self.upstream.habits({})

    def restart_daemon(self):
        self.daemon.start(within=30)

    def listen(self, **settings):
        """Restarts the daemon with these settings of who may call."""
        self.daemon.stop()
        listen = {**self.settings["listen"], **settings}
        self.daemon.configure(self.upstream, {**self.settings, "listen": listen}, self.schema)
        self.daemon.start(within=30)

    @property
    def token(self):
        return (self.daemon.state / "api-token").read_text().strip()

    def remember_a_week(self):
        """Gives the daemon a history, as if it had run for a week: with an outage each day, and a night without it."""
        chance = random.Random(7)
        now = int(time.time()) // 60
        rows = []
        for minute in range(now - 7 * 1440, now):
            if now - 3 * 1440 < minute < now - 3 * 1440 + 540:
                continue
            is_lost = (now - minute) % 1440 in range(700, 740) or now - 75 < minute < now - 50
            pending = (minute * 7 % 11 + chance.randrange(4)) if is_lost else max(0, chance.randrange(9) - 6)
            syncs = 0 if is_lost else 1
            rows.append((minute, pending, 1 if now - 200 < minute < now - 150 else 0, int(minute == now - 3 * 1440 + 540),
                         syncs, syncs * chance.randrange(180, 900), 60000 if is_lost else 0, 0 if is_lost else 9, 0,
                         int(chance.random() < 0.05), int(chance.random() < 0.02), 2 if is_lost else 0))
        with sqlite3.connect(self.daemon.database) as database:
            database.executemany(f"REPLACE INTO sync_activity VALUES ({', '.join('?' * 12)})", rows)
        database.close()

    def open_archive(self, visits):
        """Adds a table of visits, which exist only here, and that many of them, one each hour; the first hundred are large."""
        self.daemon.stop()
        self.schema.write_text(self.schema.read_text().replace("\nentities:\n", "\nentities:\n" + ARCHIVE, 1))
        self.daemon.start(within=30)
        self.daemon.stop()
        with sqlite3.connect(self.daemon.database) as database:
            database.execute(
                """
                WITH RECURSIVE visit(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM visit WHERE n < ?)
                INSERT INTO records_visits (_key, _remote, at)
                SELECT printf('v%07d', n),
                       printf('{"id":"v%07d","visitor":"Visitor %d","at":"%s","minutes":"%.*c"}', n, n,
                              strftime('%Y-%m-%dT%H:%M:%S.000Z', 3600 * n, 'unixepoch'), iif(n > 100, 5, 65536), 'm'),
                       3600000 * n
                FROM visit
                """, [visits])
            database.execute("REPLACE INTO sync_tally VALUES ('rows:visits', ?)", [visits])
        database.close()
        self.daemon.start(within=30)

    def close(self):
        self.daemon.kill()
        self.upstream.stop()
        self.folder.cleanup()
