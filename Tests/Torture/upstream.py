#!/usr/bin/env python3
"""Upstreams and networks that disconnect, stall, lie or flood: deadlines, memory, trust, and no half-applied pages."""
import ssl
import threading
import time
from pathlib import Path

from lib import shim
from lib.certificates import Authority
from lib.history import History
from lib.hostile import OVERSIZED, Hostile
from lib.ledger import Ledger
from lib.process import forget_peak, peak, resident
from lib.programs import TORTURE, Daemon, Failed, Upstream, await_true, temporary_folder
from lib.proxy import KINDS, Proxy
from lib.shared import Shared
from lib.topic import main

DEADLINE_S = 2
ALLOWED_S = 1.0
ALLOWED_MEMORY_KIB = 32 << 10
BATCH = 60


def large_pages(folder):
    """Writes schema.yaml with a page size that fits all records of a test; returns its path."""
    path = f"{folder}/schema.yaml"
    with open(path, "w") as file:
        file.write((TORTURE / "schema.yaml").read_text().replace("page_size: 100", "page_size: 10000"))
    return path


# Faults in transit


class Watcher(threading.Thread):
    """Keeps counting the records of the latest batch: it must see none or all."""

    def __init__(self, daemon):
        super().__init__(daemon=True)
        self.client = daemon.client()
        self.tag, self.looks, self.halves, self.is_over = None, 0, [], False
        self.start()

    def run(self):
        while not self.is_over:
            tag = self.tag
            if tag:
                total = self.client.get(f"/v1/notes?one={tag}&count=true&limit=1").json["total"]
                self.looks += 1
                if total not in (0, BATCH):
                    self.halves.append((tag, total))
            time.sleep(0.002)

    def stop(self):
        self.is_over = True
        self.join()
        self.client.close()
        if self.halves:
            raise Failed(f"a page was half applied: {self.halves[:5]}")


def faults_in_transit(run, folder):
    upstream = Upstream(schema=large_pages(folder), seed=run.seed % 1000)
    notes = [upstream.create("notes", {"text": f"batch {number}"})["id"] for number in range(BATCH)]
    proxy = Proxy(upstream.address)
    settings = {"upstream": {"base_url": f"http://{proxy.address}", "deadline": f"{DEADLINE_S}s"}}
    daemon = Daemon(folder, proxy.address, settings, schema=large_pages(folder))
    daemon.start(within=10)
    watcher = Watcher(daemon)  # counts in filtered lists, which say nothing to a history
    daemon.history = History(folder, upstream, f"upstream-{run.seed}")
    client, ledger, shared = daemon.client(), Ledger(f"u{run.seed}"), Shared(f"u{run.seed}", upstream)
    random = run.random("ways")
    try:
        await_true(lambda: client.get("/v1/notes?count=true&limit=1").json["total"] >= BATCH, 20, "nothing was pulled")
        for kind in KINDS:
            longest, injected, recovered = 0.0, 0, 0.0
            for number in range(run.of(1, 20)):
                tag = f"{kind}{number}"
                client.call("POST", "/v1/sync/pause")
                # Wait for pulls in flight: their page could have a half-changed batch.
                await_true(lambda: client.get("/v1/status").json["phase"] is None, 10, "the running sync did not end")
                for key in notes:
                    upstream.change("notes", key, {"one": tag})
                watcher.tag = tag
                proxy.set(kind, random.choice([0, 1, 50, random.randrange(200), random.randrange(5000)]))
                client.call("POST", "/v1/sync/resume")
                client.call("POST", "/v1/sync")
                started = time.monotonic()
                while time.monotonic() < started + DEADLINE_S + ALLOWED_S + 0.5:
                    random.choice((ledger, shared)).write(client, random)
                    time.sleep(0.05)
                longest, injected = max([longest, *proxy.waits]), injected + proxy.injected
                proxy.set()
                fault_ended = time.monotonic()
                await_true(lambda: client.get(f"/v1/notes?one={tag}&count=true&limit=1").json["total"] == BATCH, 90,
                           lambda: f"{kind}: the upstream changes did not arrive\n{daemon.log()}")
                daemon.await_sent(90, client)
                recovered = max(recovered, time.monotonic() - fault_ended)
                ledger.check_local(client)
                ledger.check_upstream(upstream)
                shared.check_local(client)
                daemon.history.end_round(daemon)
            figures = {"faults": injected, "longest_s": round(longest, 2), "recovered_s": round(recovered, 1)}
            run.say(f"{kind}: {figures}")
            run.note(**{kind: figures})
            if not injected:
                raise Failed(f"{kind}: the fault was never injected")
            if longest > DEADLINE_S + ALLOWED_S:
                raise Failed(f"{kind}: a request took {longest:.2f} s, with a deadline of {DEADLINE_S} s")
        watcher.stop()
        run.note(halves=0, looks=watcher.looks, answered_writes=ledger.answered + shared.answered)
    finally:
        watcher.is_over = True
        client.close()
        daemon.kill()
        proxy.close()
        upstream.stop()


# Answers that are too large


def oversized(run, folder):
    worst = {}
    kinds = run.of(["chunked", "records", "error_text", "gzip_bomb"], list(OVERSIZED))
    for kind, make in ((kind, OVERSIZED[kind]) for kind in kinds):
        hostile = Hostile(make())
        daemon = Daemon(folder, hostile, {"upstream": {"base_url": f"http://{hostile.address}", "deadline": "20s"},
                                          "sync": {"interval": "1h"}}, state=f"{folder}/{kind}")
        client = None
        try:
            daemon.start(within=10)
            client = daemon.client()
            await_true(lambda: hostile.request_count("/api/notes")
                       and client.get("/v1/status").json["state"] != "syncing", 60, f"{kind}: the first sync did not end")
            pid = daemon.process.pid
            before, asked = resident(pid), hostile.request_count("/api/notes")
            forget_peak(pid)
            client.call("POST", "/v1/sync?wait=true", {})
            client.call("POST", "/v1/notes", {"text": "its answer never ends"})
            await_true(lambda: hostile.request_count("/api/notes") >= asked + 2, 30,
                       f"{kind}: no second request arrived")
            await_true(lambda: client.get("/v1/status").json["state"] != "syncing", 60, f"{kind}: the sync did not end")
            time.sleep(0.5)
            worst[kind] = round((peak(pid) - before) / 1024, 1)
            if client.get("/v1/notes?count=true").json["total"] != 1:
                raise Failed(f"{kind}: a part of it was stored")
        finally:
            if client:
                client.close()
            daemon.kill()
            hostile.close()
    run.say(f"memory: {worst}")
    run.note(memory_mib=worst)
    bad = {kind: more for kind, more in worst.items() if more > ALLOWED_MEMORY_KIB / 1024}
    if bad:
        raise Failed(f"oversized answers took this many MiB: {bad}")


# Trust


def trust(run, folder):
    authority = Authority(folder)
    page = {"data": [], "pagination": {"total": 0, "total_pages": 1}}
    cases = {
        "good": authority.context("good"),
        "expired": authority.context("expired", days=-1),
        "wrong_host": authority.context("wrong", address="DNS:somewhere.example"),
        "self_signed": authority.context("self", is_signed=False),
        "tls_1_0": authority.context("tls10", maximum=ssl.TLSVersion.TLSv1),
        "tls_1_1": authority.context("tls11", maximum=ssl.TLSVersion.TLSv1_1),
    }
    token = token_file(folder)
    seen = {}
    for name, context in cases.items():
        server = Hostile(lambda handler: handler.reply(200, page), context)
        daemon = Daemon(folder, server, {
            "upstream": {"base_url": f"https://{server.address}", "token_file": token}, "sync": {"interval": "100ms"}},
            environment={"LD_PRELOAD": shim.build("trust"), "TORTURE_CA": str(authority.ca)}, state=f"{folder}/{name}")
        try:
            daemon.start(within=10)
            client = daemon.client()
            client.call("POST", "/v1/notes", {"text": "a change to send"})
            if name == "good":
                await_true(lambda: server.request_count("/api/notes") > 1, 10,
                           lambda: f"the valid certificate was not accepted\n{daemon.log()}")
            else:
                await_true(lambda: server.connections >= 2 and not client.get("/v1/status").json["upstream"]["reachable"], 15,
                           lambda: f"{name} was not tried, or counts as reachable\n{daemon.log()}")
            client.close()
            seen[name] = len(server.requests)
        finally:
            daemon.kill()
            server.close()
    run.note(requests_sent={name: count for name, count in seen.items() if name != "good"})
    if any(count for name, count in seen.items() if name != "good"):
        raise Failed(f"requests were sent to untrusted servers: {seen}")


def token_file(folder):
    path = Path(folder) / "token"
    path.write_text("torture-token")
    path.chmod(0o600)
    return path


def redirects(run, folder):
    """Answers with every redirect status: the target must get no request."""
    elsewhere = Hostile(lambda handler: handler.reply(200, {"data": [{"id": "x", "text": "stolen"}]}))
    token = token_file(folder)
    statuses = run.of([302, 307], [300, 301, 302, 303, 307, 308])
    for status in statuses:
        target = [("Location", f"http://{elsewhere.address}/api/notes")]
        server = Hostile(lambda handler: handler.reply(status, {}, target))
        daemon = Daemon(folder, server, {
            "upstream": {"base_url": f"http://{server.address}", "token_file": token}, "sync": {"interval": "100ms"}},
            state=f"{folder}/redirect-{status}")
        try:
            daemon.start(within=10)
            client = daemon.client()
            client.call("POST", "/v1/notes", {"text": "a change to send"})
            await_true(lambda: server.request_count("/api/notes") >= 3, 10, "no request arrived")
            client.close()
        finally:
            daemon.kill()
            server.close()
    run.note(redirects={"statuses": statuses, "followed": len(elsewhere.requests)})
    elsewhere.close()
    if elsewhere.requests:
        raise Failed(f"a redirect was followed: {elsewhere.requests[:2]}")


PARTS = {"transit": faults_in_transit, "memory": oversized, "trust": trust, "redirects": redirects}


def body(run):
    for name, part in PARTS.items():
        if not run.only or run.only in name:
            with temporary_folder() as folder:
                part(run, folder)


if __name__ == "__main__":
    main("upstream", body)
