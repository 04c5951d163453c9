"""The two built programs as processes: the reference upstream and the daemon under test."""
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

from .client import Client, Unanswered

ROOT = Path(__file__).resolve().parents[3]
TORTURE = ROOT / "Tests" / "Torture"
BIN = Path(os.environ.get("REPAIRMINDER_BIN") or ROOT / ".build" / "release")


class Failed(Exception):
    """A guarantee was broken."""


class Upstream:
    """`repairminder-upstream` with records in memory. `more` are extra flags."""

    def __init__(self, schema=TORTURE / "schema.yaml", rows=20, seed=1, port=0, more=(), host="127.0.0.1"):
        self.process = subprocess.Popen(
            [BIN / "repairminder-upstream", "--schema", schema, "--rows", str(rows), "--seed", str(seed),
             "--listen", f"{host}:{port}", *more],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening on http://"):
            raise Failed(f"the upstream did not start: {line!r}")
        self.address = line.split("http://")[1].strip()
        self.changes = Counter()
        self.history = None  # records what is created and changed here by `create` and `change`

    def faults(self, *rules):
        """Replaces the fault rules; without rules nothing fails. See `Faults+JSON.swift`."""
        self._admin("POST", "faults", {"faults": list(rules)})

    def habits(self, habits):
        """Replaces its habits; without any it is an ideal one. See `Habits+JSON.swift`."""
        self._admin("PUT", "habits", habits)

    def log(self):
        """The requests since the last call of `applied`."""
        return self._admin("GET", "log").lines

    def applied(self):
        """How many requests changed something since the start, by method and path. Call it while none is in flight."""
        for entry in self.log():
            if entry["applied"]:
                self.changes[entry["method"], entry["path"]] += 1
        self._admin("DELETE", "log")
        return self.changes

    def records(self, entity):
        return self._admin("GET", f"records/{entity}").lines

    def create(self, entity, fields):
        def body():
            return self._admin("POST", f"records/{entity}", fields).json
        return self.history.by_person("create", entity, None, fields, body) if self.history else body()

    def change(self, entity, key, fields):
        def body():
            return self._admin("PATCH", f"records/{entity}/{key}", fields).json
        return self.history.by_person("write", entity, key, fields, body) if self.history else body()

    def look(self, entity, key):
        """Records in the history what a record is now."""
        self.history.by_person("read", entity, key, {}, lambda: self._admin("GET", f"records/{entity}/{key}").json)

    def content(self, path):
        return self._call("GET", path)

    def _admin(self, method, path, body=None):
        answer = self._call(method, f"/__admin/{path}", body)
        if answer.status >= 300:
            raise Failed(f"the upstream refused {method} {path}: {answer.body!r}")
        return answer

    def _call(self, *call):
        # A new connection for each call, because the upstream closes idle ones.
        client = Client(self.address)
        try:
            return client.call(*call)
        finally:
            client.close()

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Daemon:
    """`repairminder-sync run` with a state folder in `folder`, which outlives the process.

    `settings` are added to config.yaml, section by section; `environment` is added to ours; `prefix` is a command that
    runs the daemon. With a `history`, its clients record what they do, at the place `name`.
    """

    def __init__(self, folder, upstream, settings=None, environment=None, schema=TORTURE / "schema.yaml", state=None,
                 prefix=()):
        self.prefix = prefix
        self.history, self.name = None, "daemon"
        self.folder = Path(folder)
        self.state = Path(state or self.folder / "state")
        self.socket = str(self.folder / "api.sock")
        self.config = self.folder / "config.yaml"
        self.log_path = self.folder / "daemon.log"
        self.environment = environment or {}
        self.process = None
        self.starts = []  # seconds from each start to ready
        self.configure(upstream, settings or {}, schema)

    def configure(self, upstream, settings, schema=TORTURE / "schema.yaml"):
        sections = {
            "upstream": {"base_url": f"http://{getattr(upstream, 'address', upstream)}"},
            "sync": {"interval": "200ms", "write_delay": "0ms"},
            "retry": {"base": "20ms", "cap": "100ms", "max_attempts": 1000},
            "backup": {"every": "off"},
            "log": {"level": "notice"},
            "listen": {"tcp": "127.0.0.1:0", "unix": self.socket},
        }
        for name, keys in settings.items():
            sections[name] = {**sections.get(name, {}), **keys}
        lines = [f"schema: {schema}", f"state_dir: {self.state}"]
        for name, keys in sections.items():
            lines.append(f"{name}:")
            lines += [f"  {key}: {value}" for key, value in keys.items()]
        self.config.write_text("\n".join(lines) + "\n")

    # Lifecycle

    def start(self, within=30.0, wait=True):
        """Returns when the daemon reports that it is ready; raises `Failed` if it exits first or takes longer than
        `within`."""
        notify = str(self.folder / "notify.sock")
        Path(notify).unlink(missing_ok=True)
        self.notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notifications.bind(notify)
        self.started = time.monotonic()
        with open(self.log_path, "ab") as log:
            self.log_begin = log.tell()
            self.process = subprocess.Popen(
                [*self.prefix, BIN / "repairminder-sync", "run", "--config", self.config], stderr=log, stdout=log,
                env={**os.environ, **self.environment, "NOTIFY_SOCKET": notify})
        if wait:
            self.await_ready(within)

    def await_ready(self, within=30.0):
        while True:
            left = self.started + within - time.monotonic()
            self.notifications.settimeout(max(0.001, min(left, 0.05)))
            try:
                if b"READY=1" in self.notifications.recv(4096):
                    break
            except socket.timeout:
                if self.process.poll() is not None:
                    raise Failed(f"the daemon exited with {self.process.returncode} before it was ready:\n{self.log()}")
                if left <= 0:
                    raise Failed(f"the daemon was not ready after {within} s:\n{self.log()}")
        self.starts.append(time.monotonic() - self.started)

    def kill(self):
        """Ends it like a crash. The kernel keeps what it has written."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        return self.wait()

    def stop(self, within=30.0):
        """Stops it like systemd does; returns the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait(within)

    def wait(self, within=30.0):
        if not self.process:
            return None
        try:
            status = self.process.wait(within)
        except subprocess.TimeoutExpired:
            raise Failed(f"the daemon did not exit within {within} s:\n{self.log()}") from None
        self.notifications.close()
        if self.history:
            self.history.down(self.name)
        return status

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    # Inspection

    def client(self, timeout=30.0):
        if self.history:
            return self.history.client(self.socket, timeout, self.name)
        return Client(self.socket, timeout)

    def log(self):
        """The end of its log since the last start."""
        with open(self.log_path, "rb") as log:
            log.seek(self.log_begin)
            return log.read().decode(errors="replace")[-4000:]

    @property
    def tcp_address(self):
        said = self.log_path.read_text(errors="replace").rpartition("address=http://")[2]
        return said.split()[0]

    @property
    def database(self):
        return self.state / os.readlink(self.state / "current.db")

    def command(self, *arguments, environment=None):
        """Runs one of its commands while the daemon runs."""
        return subprocess.run([BIN / "repairminder-sync", *arguments, "--config", self.config], capture_output=True,
                              text=True, timeout=120, env={**os.environ, **(environment or {})})

    def await_true(self, condition, within, complaint):
        """Like the function `await_true`, but fails if the daemon exits."""
        def holds():
            if not self.is_running:
                raise Failed(f"the daemon exited with {self.process.returncode}:\n{self.log()}")
            return condition()
        await_true(holds, within, lambda: f"{complaint() if callable(complaint) else complaint}\n{self.log()}")

    def await_sent(self, within=30.0, client=None):
        """Returns when the queue is empty, so the upstream has acknowledged everything."""
        own = client or self.client()
        self.await_true(lambda: own.get("/v1/pending/count").json == {"pending": 0, "failed": 0}, within,
                        "the queue did not empty")
        if not client:
            own.close()


def await_true(condition, within, complaint):
    """Polls until the condition holds; a failed request counts as no. `complaint` may be a function."""
    end = time.monotonic() + within
    while True:
        try:
            if condition():
                return
        except Unanswered:
            pass
        if time.monotonic() > end:
            raise Failed(complaint() if callable(complaint) else complaint)
        time.sleep(0.01)


def temporary_folder():
    """A folder for a scene; its path is short, because a Unix socket's path has at most 107 bytes."""
    return tempfile.TemporaryDirectory(prefix="torture-", ignore_cleanup_errors=True)
