"""The upstream and the daemon that the fixture is made with."""

import http.client
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(FIXTURES.parents[2] / "scripts/bench.d"))

from programs import Program  # noqa: E402

PORT = 7691
BASE = f"http://127.0.0.1:{PORT}"

CONFIGURATION = """
schema: {schema}
state_dir: {folder}/state
secret_key_file: {folder}/key
upstream: {{ base_url: "{base}", deadline: 10m }}
sync: {{ interval: 24h, full_every: 90d, delete_guard: 100%, write_delay: 0ms }}
retry: {{ base: 1h, cap: 24h }}
backup: {{ every: off }}
listen: {{ tcp: "127.0.0.1:0", unix: off }}
dashboard: {{ time_zone: UTC }}
reminders: {{ command: {folder}/remind }}
log: {{ level: info }}
"""


class Answer:
    def __init__(self, answer):
        self.status = answer.status
        self.etag = answer.getheader("ETag")
        self.body = answer.read()

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)


class World:
    def __init__(self, binaries, folder):
        self.binaries, self.folder, self.state = Path(binaries), folder, folder / "state"
        (folder / "data").mkdir()
        (folder / "key").write_bytes(bytes([1]) * 32)
        (folder / "key").chmod(0o600)
        (folder / "remind").write_text('#!/bin/sh\ncase "$REMINDER_TEXT" in *broken*) exit 1;; esac\n')
        (folder / "remind").chmod(0o755)
        self.configuration = folder / "config.yaml"
        self.configuration.write_text(
            CONFIGURATION.format(schema=FIXTURES / "workshop.yaml", folder=folder, base=BASE))
        self.upstream = self.daemon = None
        self.repeatable = []

    def start(self):
        self.upstream = Program(
            [self.binaries / "repairminder-upstream", "--schema", FIXTURES / "workshop.yaml", "--data", self.folder / "data",
             "--listen", f"127.0.0.1:{PORT}", "--account", "acc-1", "--server-ids", "--check-references"],
            self.folder / "upstream.log")
        self.upstream.await_line("listening on ")
        self.daemon = Program(
            [self.binaries / "repairminder-sync", "run", "--config", self.configuration], self.folder / "daemon.log")
        address = self.daemon.await_line("address=http://").split()[0]
        self.address = (address.rpartition(":")[0], int(address.rpartition(":")[2]))
        self.token = (self.state / "api-token").read_text().strip()

    def stop(self):
        for program in (self.daemon, self.upstream):
            if program:
                program.process.kill()
                program.stop()

    # Calls

    def ask(self, method, path, body=None, key=None, type="application/json"):
        """One call of the local API; `key` is an Idempotency-Key, and makes the call one that can be repeated."""
        connection = http.client.HTTPConnection(*self.address, timeout=120)
        headers = {"Authorization": f"Bearer {self.token}"}
        data = body if body is None or isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body))
        if data is not None:
            headers["Content-Type"] = type
        if key:
            headers["Idempotency-Key"] = key
        connection.request(method, path, body=data, headers=headers)
        answer = Answer(connection.getresponse())
        connection.close()
        if key and not any(call["key"] == key for call in self.repeatable):
            self.repeatable.append({
                "method": method, "path": path, "body": data, "key": key, "status": answer.status, "text": answer.text})
        return answer

    def do(self, method, path, body=None, **more):
        answer = self.ask(method, path, body, **more)
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.text}")
        return answer

    def admin(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
        connection.request(method, path, body=body if body is None or isinstance(body, str) else json.dumps(body))
        answer = Answer(connection.getresponse())
        connection.close()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.text}")
        return answer

    def faults(self, *rules):
        self.admin("POST", "/__admin/faults", {"faults": list(rules)})

    def requests(self):
        return [json.loads(line) for line in self.admin("GET", "/__admin/log").text.splitlines()]

    # Waiting

    def wait(self, what, ready, seconds=60):
        deadline = time.monotonic() + seconds
        while not (found := ready()):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{what}: not within {seconds} s")
            time.sleep(0.05)
        return found

    def sync(self, **options):
        self.do("POST", "/v1/sync?wait=true", options or None)

    def pause(self):
        self.do("POST", "/v1/sync/pause")

    def resume(self):
        self.do("POST", "/v1/sync/resume")

    def pending(self):
        return self.do("GET", "/v1/pending?limit=1000").json["data"]

    def states(self):
        return {change["id"]: change["state"] for change in self.pending()}

    def settled(self, *allowed):
        """Waits until every change has left the queue or is in one of these states."""
        self.wait("the queue", lambda: all(state in allowed for state in self.states().values()))

    # The file

    def database(self):
        return (self.state / "current.db").resolve()

    def snapshot(self, target):
        """What a kill at this moment leaves behind, with the log written into the file."""
        self.daemon.process.send_signal(signal.SIGSTOP)
        try:
            for suffix in ("", "-wal"):
                if (source := Path(f"{self.database()}{suffix}")).exists():
                    shutil.copy(source, f"{target}{suffix}")
        finally:
            self.daemon.process.send_signal(signal.SIGCONT)
        copy = sqlite3.connect(target)
        copy.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        copy.close()

    def exported(self, copy):
        """The output of `queue export` for a copy of the snapshot."""
        folder = self.folder / "exported"
        folder.mkdir()
        shutil.copy(copy, folder / "workshop-new.db")
        (folder / "current.db").symlink_to("workshop-new.db")
        subprocess.run(
            [self.binaries / "repairminder-sync", "queue", "export", folder / "queue", "--config", self.configuration,
             "--state-dir", folder], check=True, capture_output=True)
        return (folder / "queue").read_text()
