"""One machine of the fleet: a daemon with a state folder, a socket and a network of its own, and one who writes there."""
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from lib.client import Unanswered
from lib.programs import Daemon, Failed

COLORS = ("red", "green", "blue")


@dataclass
class Write:
    """A write through the local API. Its values are its own, but for the color, so each one tells where it came from."""
    machine: int
    operation: str
    entity: str
    name: str  # of the record: it is unique and never changes
    id: str = None
    values: dict = field(default_factory=dict)
    outcome: str = "unknown"  # answered, refused, or unknown: the daemon was killed before its answer

    @property
    def marks(self):
        return {name: value for name, value in self.values.items() if name != "color"}

    def __str__(self):
        return f"{self.operation} of {self.entity} {self.name!r} {self.values} at machine {self.machine}"


class Machine:
    def __init__(self, number, folder, tap, schema, random, settings=None):
        self.number, self.tap, self.random = number, tap, random
        folder.mkdir()
        self.daemon = Daemon(folder, tap, {
            "sync": {"interval": "1s", "full_every": "1d", "write_delay": "0ms"}, "listen": {"tcp": "off"},
            "retry": {"base": "50ms", "cap": "1s", "max_attempts": 1000}, **(settings or {})}, schema=schema)
        self.writes, self.refusals, self.count, self.kills = [], Counter(), 0, 0
        self.lock = threading.Lock()  # of the process: it is killed by one thread at a time

    def __str__(self):
        return f"machine {self.number}"

    def start(self):
        with self.lock:
            if not self.daemon.is_running:
                self.daemon.start(within=20)

    def kill(self):
        with self.lock:
            self.daemon.kill()
            self.kills += 1

    def call(self, method, path, body=None, timeout=30.0):
        client = self.daemon.client(timeout)
        try:
            return client.call(method, path, body)
        finally:
            client.close()

    def get(self, path):
        answer = self.call("GET", path)
        if answer.status != 200:
            raise Failed(f"{self}: GET {path}: {answer.status} {answer.body[:300]!r}\n{self.daemon.log()}")
        return answer.json

    def pages(self, path):
        """All elements of a list."""
        elements, cursor = [], ""
        while True:
            page = self.get(f"{path}{'&' if '?' in path else '?'}limit=100{cursor}")
            elements += page["data"]
            if not page.get("next"):
                return elements
            cursor = f"&cursor={page['next']}"

    def rows(self, entity):
        """What its callers see, by id."""
        return {row["id"]: {name: value for name, value in row.items() if not name.startswith("_")}
                for row in self.pages(f"/v1/{entity}")}

    # Writing

    def write_many(self, count, entities, stop):
        """Writes until `count` writes are over; waits while the daemon is down."""
        while count and not stop.is_set():
            try:
                count -= self.write(self.random.choice(entities))
            except Unanswered:
                time.sleep(0.1)
            stop.wait(self.random.choice((0, 0.05, 0.2, 0.4)))

    def write(self, entity):
        """One write, mostly to the few records that all machines share; false if there was nothing to write to."""
        chance, pick = self.random.random(), self.random.random()
        rows = sorted(self.get(f"/v1/{entity}?limit=100")["data"], key=lambda row: row["name"])
        if chance < 0.15 or len(rows) < 3:
            return self.create(entity)
        row = rows[int(pick * (len(rows) if chance > 0.75 else min(4, len(rows))))]
        if chance > 0.93:
            return self.send("DELETE", Write(self.number, "delete", entity, row["name"], row["id"]))
        values = {name: self.mark() for name in self.random.choice((["one"], ["two"], ["one", "two"]))}
        if self.random.random() < 0.3:
            values["color"] = self.random.choice(COLORS)
        return self.send("PATCH", Write(self.number, "update", entity, row["name"], row["id"], values))

    def create(self, entity):
        name = f"new {self.mark()}"
        return self.send("POST", Write(self.number, "create", entity, name, None, {"name": name, "one": self.mark()}))

    def mark(self):
        self.count += 1
        return f"m{self.number}.{self.count}."

    def send(self, method, write):
        """Sends a write. It counts as possibly done before it is answered."""
        self.writes.append(write)
        path = f"/v1/{write.entity}" + (f"/{write.id}" if write.id else "")
        answer = self.call(method, path, write.values or None)
        if answer.status in (200, 201, 204):
            write.outcome = "answered"
            write.id = write.id or answer.json["id"]
        elif answer.status in (404, 410):  # deleted meanwhile
            write.outcome = "refused"
            self.refusals[answer.status] += 1
        else:
            raise Failed(f"{write} was answered with {answer.status} {answer.body[:300]!r}")
        return True
