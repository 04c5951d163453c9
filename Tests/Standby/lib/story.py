"""Writers, takeovers, and what must be true at the end."""
import json
import subprocess
import threading
import time
import urllib.request
from collections import Counter
from pathlib import Path

from .daemon import Daemon, await_, stopped
from .network import DAEMONS, MEMBERS
from .proxy import Journal, Proxy, needlessly_repeated, overlapping

TTL = 3
SCHEMA = Path(__file__).resolve().parent.parent / "schema.yaml"


class Failed(Exception):
    pass


class Writer(threading.Thread):
    """Creates records at whichever daemon takes them, one after the other."""

    def __init__(self, number, daemons):
        super().__init__(daemon=True)
        self.number, self.daemons, self.acknowledged, self.is_over = number, daemons, [], False

    def run(self):
        count = 0
        while not self.is_over:
            count += 1
            note = f"w{self.number}-{count}"
            for daemon in self.daemons if count % 2 else reversed(self.daemons):
                status, answer = daemon.call("POST", "/v1/jobs", {"note": note}, {"Idempotency-Key": note})
                if status == 201:
                    self.acknowledged.append(note)
                    break
                if status != 503 or answer.get("code") != "not_leader":
                    break  # it may have been taken: another daemon would make a second one
            time.sleep(0.05)


class Story:
    def __init__(self, network, bin_folder, folder, sync, random):
        self.network, self.bin, self.folder, self.sync, self.random = network, bin_folder, folder, sync, random
        self.members, self.daemons, self.upstream = [], [], None
        self.journal = Journal()

    # MARK: Starting

    def start_etcd(self):
        peers = ",".join(f"{m}=http://{self.network.address(m, 'e')}:2380" for m in MEMBERS)
        for member in MEMBERS:
            address = self.network.address(member, "e")
            command = [
                "etcd", "--name", member, "--data-dir", self.folder / member, "--initial-cluster", peers,
                "--listen-client-urls", f"http://{address}:2379", "--advertise-client-urls", f"http://{address}:2379",
                "--listen-peer-urls", f"http://{address}:2380", "--initial-advertise-peer-urls", f"http://{address}:2380",
                "--heartbeat-interval", "50", "--election-timeout", "500"]
            self.members.append(self.network.start(member, command, open(self.folder / f"{member}.log", "ab")))
        for member in MEMBERS:
            url = f"http://{self.network.address(member, 'e')}:2379/health"
            await_(f"etcd member {member}", lambda: b'"true"' in self.fetched(url), 20)

    @staticmethod
    def fetched(url):
        try:
            return urllib.request.urlopen(url, timeout=2).read()
        except OSError:
            return b""

    def start_upstream(self):
        log = open(self.folder / "upstream.log", "wb")
        self.upstream = subprocess.Popen(
            [self.bin / "repairminder-upstream", "--schema", SCHEMA, "--rows", "5", "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.upstream.stdout.readline()
        if "listening on http://" not in line:
            raise Failed(f"the upstream did not start: {line}")
        host, port = line.split("http://")[1].split()[0].rsplit(":", 1)
        self.target = (host, int(port))

    def start_daemons(self):
        etcd = ", ".join(f"http://{self.network.address(m, 'e')}:2379" for m in MEMBERS)
        for name in DAEMONS:
            proxy = Proxy(self.network.upstream_address, self.target, name, self.journal)
            config = f"""
instance: {name}
schema: {SCHEMA}
state_dir: {{state}}
upstream: {{{{ base_url: "{proxy.url}", allow_plain_http: true, deadline: 10s }}}}
sync: {{{{ interval: 5s }}}}
retry: {{{{ base: 200ms, cap: 1s, max_attempts: 1000 }}}}
listen: {{{{ tcp: "off", unix: "{{socket}}" }}}}
standby: {{{{ etcd: "{etcd}", allow_plain_http: true, ttl: {TTL}s, sync: {str(self.sync).lower()} }}}}
"""
            self.daemons.append(Daemon(name, self.network, self.bin, self.folder, config))
        for daemon in self.daemons:
            daemon.start()

    # MARK: The story

    def tell(self, takeovers):
        writers = []
        try:
            self.start_upstream()
            self.start_etcd()
            self.start_daemons()
            holder = self.await_holder()
            writers = [Writer(number, self.daemons) for number in (1, 2)]
            for writer in writers:
                writer.start()
            began = time.monotonic()
            for number in range(takeovers):
                holder = self.take_over(holder, number)
            print(f"  {takeovers} takeovers in {time.monotonic() - began:.0f} s", flush=True)
            self.finish(writers)
        except TimeoutError as error:
            raise Failed(f"waited too long for {error}") from error
        finally:
            for writer in writers:
                writer.is_over = True
            for writer in writers:
                writer.join(20)
            for process in [d.process for d in self.daemons] + self.members + [self.upstream]:
                stopped(process)

    def await_holder(self, besides=None, seconds=40):
        found = []

        def look():
            found[:] = [d for d in self.daemons if d is not besides and d.is_running and d.holds_lease]
            return bool(found)

        await_("a daemon that holds the lease", look, seconds)
        return found[0]

    def take_over(self, holder, number):
        """Makes the holder lose the lease in one of several ways; returns the next one."""
        self.journal.delay = self.random.choice([0, 0, 0.1, 0.5, 6])
        self.journal.is_busy = self.random.random() < 0.3
        time.sleep(self.random.uniform(0.2, 2))
        cut_member = self.random.choice(MEMBERS) if self.random.random() < 0.3 else None
        if cut_member:
            self.network.cut(cut_member, "e")
        way = self.random.choice(["SIGKILL", "etcd", "everything"])
        self.journal.disturb(holder.name)
        if way == "SIGKILL":
            holder.kill()
        else:
            self.network.cut(holder.name, "e")
            if way == "everything":
                self.network.cut(holder.name, "u")
                self.journal.note_cut(holder.name)
        following = self.await_holder(besides=holder)
        if cut_member:
            self.network.cut(cut_member, "e", False)
        if way == "SIGKILL":
            holder.start()
        else:
            for kind in "eu":
                self.network.cut(holder.name, kind, False)
        self.journal.delay, self.journal.is_busy = 0, False
        await_(f"{holder.name} after {way}", lambda: holder.status(), 30)
        print(f"  {number + 1}: {way}{' and ' + cut_member if cut_member else ''}, {following.name} took over", flush=True)
        return following

    # MARK: The end

    def finish(self, writers):
        time.sleep(1)
        for writer in writers:
            writer.is_over = True
        for writer in writers:
            writer.join(20)
        if not self.sync:
            self.send_what_each_has()
        await_("an empty queue", lambda: self.await_holder().status().get("pending") == 0, 120)
        acknowledged = [note for writer in writers for note in writer.acknowledged]
        self.check(acknowledged)

    def send_what_each_has(self):
        """Without standby.sync each daemon's queue is its own: each sends it when it holds the lease."""
        for _ in self.daemons:
            holder = self.await_holder()
            await_(f"an empty queue of {holder.name}", lambda: holder.status().get("pending") == 0, 120)
            self.journal.disturb(holder.name)
            holder.kill()
            self.await_holder(besides=holder)
            holder.start()
            await_(f"{holder.name}", lambda: holder.status(), 30)

    def check(self, acknowledged):
        log = [json.loads(line) for line in self.fetched(self.admin("log")).splitlines()]
        records = [json.loads(line) for line in self.fetched(self.admin("records/jobs")).splitlines()]
        notes = Counter(record.get("note") for record in records)
        problems = []
        if lost := [note for note in acknowledged if note not in notes]:
            problems.append(f"{len(lost)} acknowledged changes are missing: {lost[:5]}")
        if twice := [note for note, count in notes.items() if count > 1 and str(note).startswith("w")]:
            problems.append(f"made twice: {twice[:5]}")
        keys = Counter(entry["idempotency_key"] for entry in log if entry["applied"] and entry["idempotency_key"])
        if repeated := [key for key, count in keys.items() if count > 1]:
            problems.append(f"applied twice: {repeated[:5]}")
        if pair := overlapping(self.journal.pushes):
            problems.append(f"two daemons pushed at once: {pair}")
        if pair := needlessly_repeated(self.journal):
            problems.append(f"a change was sent again after its answer: {pair}")
        sent = {push.daemon for push in self.journal.pushes if push.answered}
        if sent != set(DAEMONS):
            problems.append(f"only {sent} sent anything")
        if not acknowledged:
            problems.append("nothing was acknowledged")
        if problems:
            raise Failed("; ".join(problems))
        print(f"  {len(acknowledged)} acknowledged changes, all there once; {len(self.journal.pushes)} requests, "
              "never of two daemons at once", flush=True)

    def admin(self, path):
        return f"http://{self.target[0]}:{self.target[1]}/__admin/{path}"
