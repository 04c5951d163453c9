"""A PostgreSQL of our own in a temporary folder, reached over its Unix socket alone."""
import json
import os
import pwd
import shutil
import signal
import subprocess
import time
from decimal import Decimal
from pathlib import Path

from lib.programs import Failed


def programs():
    """The folder of PostgreSQL's server programs; None if there is none. Debian's are not on the PATH."""
    candidates = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    if found := shutil.which("initdb"):
        candidates.append(Path(found).resolve().parent)
    return next((path for path in candidates if (path / "initdb").exists() and (path / "postgres").exists()), None)


def server_user():
    """The user that runs the server, which refuses to be root: None for ourselves."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise Failed("there is neither a user postgres nor nobody")


class Postgres:
    USER = "reports"

    def __init__(self, folder, encoding="UTF8"):
        self.bin, self.folder, self.user = programs(), Path(folder), server_user()
        self.data, self.process, self.stops = self.folder / "data", None, 0
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        made = subprocess.run(
            [self.bin / "initdb", "-D", self.data, "-U", self.USER, "-A", "trust", "-E", encoding, "--locale=C"],
            capture_output=True, text=True, **self._as_server())
        if made.returncode:
            raise Failed(f"initdb failed: {made.stderr}")

    def _as_server(self):
        if not self.user:
            return {"cwd": self.folder}
        return {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": [], "cwd": self.folder}

    def start(self, within=30):
        with open(self.folder / "server.log", "ab") as log:
            self.process = subprocess.Popen(
                [self.bin / "postgres", "-D", self.data, "-k", self.folder, "-c", "listen_addresses=",
                 "-c", "fsync=on", "-c", "max_connections=60"],
                stdout=log, stderr=log, **self._as_server())
        end = time.monotonic() + within
        while self._psql("SELECT 1", "postgres").returncode:
            if self.process.poll() is not None or time.monotonic() > end:
                raise Failed(f"PostgreSQL did not start:\n{(self.folder / 'server.log').read_text()[-2000:]}")
            time.sleep(0.05)

    def stop(self, how=signal.SIGINT):
        """SIGQUIT is the immediate mode: no checkpoint, so the next start recovers from its log."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(60)
            self.stops += 1

    @property
    def environment(self):
        return {"PGHOST": str(self.folder), "PGUSER": self.USER}

    def address(self, database):
        return f"postgresql://{self.USER}@/{database}?host={self.folder}"

    def _psql(self, statement, database):
        return subprocess.run(
            [self.bin / "psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", database, "-f", "-"], input=statement,
            capture_output=True, text=True, env={**os.environ, **self.environment, "PGCLIENTENCODING": "UTF8"})

    def run(self, statement, database="postgres"):
        """What psql prints."""
        done = self._psql(statement, database)
        if done.returncode:
            raise Failed(f"psql: {done.stderr.strip()}\n{statement}")
        return done.stdout

    def rows(self, query, database):
        """The rows as objects; numbers are exact."""
        text = self.run(f"SELECT coalesce(json_agg(q), '[]') FROM ({query}) AS q", database)
        return json.loads(text, parse_float=Decimal, parse_int=int)
