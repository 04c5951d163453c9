"""PocketBase, Kinto and Datasette, each holding the same orders."""

import json
import sqlite3
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

import load
from programs import Program, free_port

FILES = Path(__file__).with_name("rivals.d")


class Server:
    """An alternative server with its own port and folder. Returns None for what it does not support."""

    one_target = None
    list_target = None

    def __init__(self, shop, orders, programs):
        self.shop, self.data = shop, shop.orders(orders) / "orders.ndjson"
        self.folder, self.port = shop.folder(self.program), free_port()
        self.executable = programs / self.program
        self.ids = {}

    def __enter__(self):
        self.fill()
        self.process = Program(self.command(), self.folder / "log", folder=self.folder)
        self.process.await_port(self.port, seconds=600)
        return self

    def __exit__(self, *_):
        self.process.stop()

    def fill(self):
        pass

    def load(self, calls, connections, seconds):
        return load.measure(("127.0.0.1", self.port), calls, connections, seconds)

    def records(self):
        with open(self.data) as lines:
            yield from map(json.loads, lines)

    def list(self, kind, word, page):
        return None

    def changes(self, ids):
        return None


class PocketBase(Server):
    name, program = "PocketBase", "pocketbase"
    one_target, list_target = 4, 6
    path = "/api/collections/orders/records"

    def fill(self):
        """Writes directly into its database: through its API this would take minutes."""
        migrations = self.folder / "pb_migrations"
        migrations.mkdir()
        (migrations / "1_orders.js").write_bytes((FILES / "pocketbase.js").read_bytes())
        subprocess.run(
            [self.executable, "migrate", "up", *self.folders()], check=True, stdout=subprocess.DEVNULL)
        with sqlite3.connect(self.folder / "pb_data/data.db") as db:
            columns = [name for (_, name, *_) in db.execute("PRAGMA table_info(orders)") if name != "id"]
            marks = ", ".join("?" * (len(columns) + 1))
            db.executemany(
                f"INSERT INTO orders (id, {', '.join(columns)}) VALUES ({marks})",
                ([self.key(order["id"]), *(self.value(order.get(name)) for name in columns)] for order in self.records()))
            db.execute("ANALYZE")

    def key(self, id):
        """Its own key format: 15 letters and digits."""
        if id not in self.ids:
            self.ids[id] = f"o{len(self.ids):014d}"
        return self.ids[id]

    @staticmethod
    def value(value):
        """It has no null."""
        return "" if value is None else value

    def folders(self):
        return ["--dir", self.folder / "pb_data", "--migrationsDir", self.folder / "pb_migrations"]

    def command(self):
        return [self.executable, "serve", "--http", f"127.0.0.1:{self.port}", *self.folders()]

    def one(self, ids):
        return [("GET", f"{self.path}/{self.key(id)}", "") for id in ids]

    def list(self, kind, word, page):
        filters = {
            "list": ("status='collected'", 1), "page": ("status='collected'", page),
            "search": (f"client_name~'{word}' || notes~'{word}'", 1)}
        filter, page = filters[kind]
        query = urllib.parse.urlencode(
            {"filter": f"({filter})", "sort": "-created_at", "perPage": 50, "page": page, "skipTotal": 1})
        return [("GET", f"{self.path}?{query}", "")]

    def changes(self, ids):
        return [("PATCH", f"{self.path}/{self.key(id)}", '{"notes":"NEW"}') for id in ids]


class Kinto(Server):
    name, program = "Kinto", "kinto"

    def command(self):
        return [self.executable.with_name("python"), FILES / "kinto-serve.py", self.port, self.data]

    def one(self, ids):
        return [("GET", f"/v1/buckets/shop/collections/orders/records/{id}", "") for id in ids]


class Datasette(Server):
    name, program = "Datasette", "datasette"

    def fill(self):
        with sqlite3.connect(self.folder / "orders.db") as db:
            columns = list(next(self.records()))
            db.execute(f"CREATE TABLE orders ({', '.join(columns)}, PRIMARY KEY (id))")
            db.execute("CREATE INDEX orders_by_status_and_time ON orders (status, created_at)")
            db.executemany(
                f"INSERT INTO orders VALUES ({', '.join('?' * len(columns))})",
                ([order.get(name) for name in columns] for order in self.records()))
        subprocess.run(
            [self.executable.with_name("sqlite-utils"), "enable-fts", "orders.db", "orders", "client_name", "notes"],
            cwd=self.folder, check=True)

    def command(self):
        return [self.executable, "serve", "-i", "orders.db", "-p", self.port, "--setting", "allow_facet", "off"]

    def one(self, ids):
        return [("GET", f"/orders/orders/{id}.json?_shape=array", "") for id in ids]

    def list(self, kind, word, page):
        by_status = "/orders/orders.json?status=collected&_sort_desc=created_at&_size=50&_nocount=1&_nofacet=1"
        if kind == "search":
            return [("GET", f"/orders/orders.json?_search={word}&_size=50&_nocount=1&_nofacet=1&_shape=array", "")]
        for _ in range(page - 1 if kind == "page" else 0):
            by_status = self.after(by_status)
        return [("GET", by_status, "")]

    def after(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}") as answer:
            url = json.load(answer)["next_url"]
        return "/" + url.split("/", 3)[3]
