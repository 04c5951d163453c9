#!/usr/bin/env python3
"""Searches for a token and passcodes wherever they must not be, after every call and every error, at log level
trace."""
import base64
import json
import os
import resource
import signal
import stat
import time
from pathlib import Path

from lib.client import Client
from lib.hostile import Hostile
from lib.programs import Daemon, Failed, await_true, temporary_folder
from lib.topic import main

# The files that exist to hold secrets.
KEPT = {"api-token", "secret.key"}

PATHS = [
    "/v1/status", "/v1/notes?limit=1000", "/v1/pending", "/v1/conflicts?state=all", "/v1/conflicts", "/v1/changes?limit=1000",
    "/v1/drift", "/metrics", "/openapi.json", "/healthz", "/readyz", "/", "/v1/search?q=canary",
]


QUOTED = "<what was sent>"


class Secrets:
    """The secrets, each with the forms to search for: plain, hex, base64 and reversed."""

    def __init__(self, random):
        def word(name):
            return f"canary{name}{random.randrange(1 << 63):016x}{random.randrange(1 << 63):016x}"
        self.token = word("token")
        self.here, self.there, self.drifted, self.refused = (word(name) for name in ("here", "there", "drift", "refused"))
        self.words = [self.token, self.here, self.there, self.drifted, self.refused]
        self.forms = {}
        for secret in self.words:
            data = secret.encode()
            # Without the ends, which depend on the neighbouring bytes.
            encoded = [base64.b64encode(b"-" * shift + data)[4:-4] for shift in range(3)]
            self.forms[secret] = [data, data.hex().encode(), data[::-1], *encoded]

    def found_in(self, data, but=()):
        return [secret for secret, forms in self.forms.items()
                if secret not in but and any(form in data for form in forms)]


class Upstream:
    """Answers every second request with an error that could leak a secret; correctly once `is_good` is set."""

    def __init__(self, secrets):
        self.secrets = secrets
        self.turn = 0
        self.version = 0
        self.is_good = False
        self.records = [
            {"id": "n1", "text": "one", "key": secrets.there},
            {"id": "n2", "text": "two", "key": {"was": secrets.drifted}},
            {"id": "n3", "text": "three", "key": [secrets.drifted, 7]},
            {"text": "no id", "key": secrets.there},
        ]
        # An upstream may quote what it was sent.
        quote = f"token {secrets.token}, passcode {QUOTED} cannot be used"
        self.bad = [
            (401, {"error": quote}), (403, {"error": quote}), (422, {"error": quote}), (400, quote.encode()),
            (500, {"error": quote}), (503, {"error": quote}), (409, {"error": quote}), (412, {"error": quote}),
            (200, b'{"data": "' + quote.encode()), (200, {"data": quote}), (302, {"error": quote}), (404, {"error": quote}),
            (200, {"data": [{"id": "n9", "key": secrets.there}, 7, None]}), (429, {"error": quote}),
        ]

    @staticmethod
    def sent_key(body):
        key = json.loads(body or b"{}").get("key")
        return key if isinstance(key, str) else "none"

    def answer(self, handler):
        self.turn += 1
        if not self.is_good and self.turn % 2:
            status, body = self.bad[self.turn // 2 % len(self.bad)]
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
            body = body.replace(QUOTED.encode(), self.sent_key(handler.body).encode())
            quoted = [("X-Echo", self.secrets.token), ("Location", f"/elsewhere?token={self.secrets.token}")]
            return handler.reply(status, body, quoted + ([("Retry-After", "1")] if status in (429, 503) else []))
        if handler.command == "GET":
            self.version += 1
            page = [{**record, "one": f"version {self.version}"} for record in self.records]
            return handler.reply(200, {"data": page, "pagination": {"total": len(page), "total_pages": 1}})
        return handler.reply(200, {"data": {"id": "n1", "text": "one", "key": self.secrets.here}})


def provoke(client, secrets):
    """Sends valid and invalid requests that carry secrets; yields the answers."""
    note = {"text": "a note", "key": secrets.here}
    yield client.call("POST", "/v1/notes", note)
    yield client.call("PATCH", "/v1/notes/n1", {"key": secrets.here})
    yield client.call("PATCH", "/v1/notes/n1", {"key": secrets.here, "one": "edited here"}, {"If-Match": '"0123456789abcdef"'})
    yield client.call("PATCH", "/v1/notes/n2", {"key": secrets.refused})
    yield client.call("POST", "/v1/notes", note, {"Idempotency-Key": "k1"})
    yield client.call("POST", "/v1/notes", {**note, "text": "another"}, {"Idempotency-Key": "k1"})
    yield client.call("POST", "/v1/notes?wait=pushed&timeout=1", note)
    for wrong in ({"key": {"a": secrets.refused}}, {"key": [secrets.refused]}, {"key": secrets.refused, "nothing": 1},
                  {"key": secrets.refused, "text": 7}, {"id": 7, "key": secrets.refused}):
        yield client.call("POST", "/v1/notes", wrong)
        yield client.call("PATCH", "/v1/notes/n1", wrong)
    for body in (f'{{"key": "{secrets.refused}', f'{{"key": "{secrets.refused}"}} x', f'{{"key": "{secrets.refused}", "key": 1}}'):
        yield client.call("POST", "/v1/notes", body.encode(), {"Content-Type": "application/json"})
    yield client.call("POST", "/v1/notes", note, {"Content-Type": "text/plain"})
    yield client.call("PATCH", "/v1/notes/missing", {"key": secrets.refused})
    yield client.call("DELETE", "/v1/notes/n3")
    yield client.call("GET", "/v1/notes/n1?reveal=nothing")


def callers(daemon, secrets, token):
    """Calls over TCP with a wrong token and with the right one; yields the answers."""
    client = Client(daemon.tcp_address)
    for given in (secrets.refused, token):
        yield client.get("/v1/status", headers={"Authorization": f"Bearer {given}"})
    client.close()


def check_answers(client, daemon, secrets, token):
    answers = [*provoke(client, secrets), *callers(daemon, secrets, token)]
    paths = list(PATHS)
    for page in ("/v1/pending", "/v1/notes?limit=1000", "/v1/conflicts"):
        for item in client.get(page).json.get("data", []):
            key = item.get("id")
            if page.startswith("/v1/notes"):
                paths += [f"/v1/notes/{key}", f"/v1/notes/{key}/history", f"/v1/notes/{key}?include="]
            else:
                paths.append(f"{page}/{key}")
    for path in paths:
        answers.append(client.get(path))
    for answer in answers:
        head = "\n".join(f"{name}: {value}" for name, value in answer.headers.items()).encode()
        found = secrets.found_in(head + b"\n" + answer.body)
        if found or token.encode() in head + answer.body:
            raise Failed(f"an answer ({answer.status}) holds {found or 'the local token'}: {answer.body[:600]!r}")
    return len(answers)


def check_files(daemon, secrets, token):
    """Checks that no file holds a secret, and that no other user can open a file or folder."""
    files = [path for path in daemon.state.rglob("*") if path.is_file() and not path.is_symlink()]
    for path in files:
        try:
            data, mode = path.read_bytes(), stat.S_IMODE(path.stat().st_mode)
        except FileNotFoundError:
            continue  # a finished backup has been renamed
        if path.name not in KEPT and (secrets.found_in(data) or token.encode() in data):
            raise Failed(f"{path.name} holds {secrets.found_in(data) or 'the local token'}")
        if mode != 0o600:
            raise Failed(f"{path} has mode {mode:o}")
    for path in [daemon.state, *(path for path in daemon.state.rglob("*") if path.is_dir())]:
        if stat.S_IMODE(path.stat().st_mode) != 0o700:
            raise Failed(f"{path} has mode {stat.S_IMODE(path.stat().st_mode):o}")
    log = daemon.log_path.read_bytes()
    if found := secrets.found_in(log) or ([token] if token.encode() in log else []):
        line = next(line for line in log.splitlines() if secrets.found_in(line) or token.encode() in line)
        raise Failed(f"the log holds {found}: {line[:700]!r}")
    return sorted({path.name.split(".", 1)[-1] if "backups" not in str(path) else "backup" for path in files}), len(log)


def check_process(daemon, secrets, token):
    for name in ("cmdline", "environ"):
        data = Path(f"/proc/{daemon.process.pid}/{name}").read_bytes()
        if secrets.found_in(data) or token.encode() in data:
            raise Failed(f"/proc/PID/{name} holds a secret")


def check_core(daemon):
    """Checks that a crash writes no core dump, even without a core size limit."""
    resource.prlimit(daemon.process.pid, resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    os.kill(daemon.process.pid, signal.SIGSEGV)
    _, status = os.waitpid(daemon.process.pid, 0)
    daemon.process.returncode = -signal.SIGSEGV
    if os.WCOREDUMP(status):
        raise Failed("a crash wrote a core dump, with all secrets in it")


def body(run):
    rounds = run.of(1, 20)
    for number in range(rounds):
        secrets = Secrets(run.random(number))
        upstream = Upstream(secrets)
        with temporary_folder() as folder:
            server = Hostile(upstream.answer)
            path = Path(folder) / "token"
            path.write_text(secrets.token)
            path.chmod(0o600)
            daemon = Daemon(folder, server, {
                "upstream": {"base_url": f"http://{server.address}", "token_file": path, "deadline": "2s"},
                "log": {"level": "trace"}, "backup": {"every": "1s"}, "sync": {"interval": "100ms"}},
                # If the Swift tools are installed, their backtracer would catch the signal of the crash below.
                environment={"SWIFT_BACKTRACE": "enable=no"})
            old = os.umask(0)
            try:
                daemon.start(within=10)
            finally:
                os.umask(old)
            try:
                client = daemon.client()
                token = (daemon.state / "api-token").read_text().strip()
                answers = 0
                end = time.monotonic() + run.of(8, 15)
                while time.monotonic() < end:
                    answers += check_answers(client, daemon, secrets, token)
                    check_process(daemon, secrets, token)
                    time.sleep(0.2)
                upstream.is_good = True
                client.call("POST", "/v1/pending/retry")
                client.call("POST", "/v1/sync?wait=true", {})
                await_true(lambda: list(daemon.state.rglob("backups/*")), 10, "no backup was made")
                answers += check_answers(client, daemon, secrets, token)
                kinds, log = check_files(daemon, secrets, token)
                if secrets.token not in str(server.requests) or secrets.here not in str(server.requests):
                    raise Failed("the upstream never received the secrets, so nothing was tested")
                client.close()
                check_core(daemon)
                check_files(daemon, secrets, token)
                run.note(rounds=number + 1, answers=answers, log_bytes=log, files=kinds, requests=len(server.requests),
                         found=0)
            finally:
                daemon.kill()
                server.close()


if __name__ == "__main__":
    main("canary", body)
