"""Test data: orders, upstreams that serve them, and daemons that cache them."""

import gzip
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from daemon import Daemon
from programs import Program, free_port

ROOT = Path(__file__).resolve().parents[2]
ENTITIES = ["clients", "orders", "devices", "tickets", "ticket_messages"]
PAGE = 500


class Shop:
    """Creates everything in one temporary folder and removes it at the end.

    There is one port for upstreams, and one upstream at a time: a daemon's cache belongs to an address.
    """

    def __init__(self, binaries, kept):
        self.binaries = Path(binaries)
        self.schema = ROOT / "config/schemas/repairminder.yaml"
        self.kept = Path(kept)
        self.kept.mkdir(parents=True, exist_ok=True)
        self.work = Path(tempfile.mkdtemp(prefix="repairminder-bench."))
        self.upstream_port = free_port()
        self.made = 0

    def close(self):
        shutil.rmtree(self.work, ignore_errors=True)

    def folder(self, name):
        """A new folder."""
        self.made += 1
        folder = self.work / f"{self.made}-{name}"
        folder.mkdir()
        return folder

    # Data

    def orders(self, count):
        """A folder with `count` orders from the demo's generator and empty files for all other entities; created once."""
        folder = self.kept / f"orders-{count}"
        if (folder / "orders.ndjson").exists():
            return folder
        folder.mkdir(exist_ok=True)
        for entity in ENTITIES:
            if entity != "orders":
                (folder / f"{entity}.ndjson").write_text("")
        port = free_port()
        generator = Program(
            [self.binaries / "repairminder-upstream", "--schema", self.schema, "--rows", count,
             "--listen", f"127.0.0.1:{port}"], self.work / "generator.log")
        try:
            generator.await_port(port, seconds=600)
            part = folder / "part"
            subprocess.run(
                ["curl", "-sSf", f"http://127.0.0.1:{port}/__admin/records/orders", "-o", part], check=True)
            part.rename(folder / "orders.ndjson")
        finally:
            generator.stop()
        return folder

    def unpacked(self, data):
        """A folder of `<entity>.ndjson` for one of `<entity>.ndjson.gz`."""
        folder = self.folder("data")
        for entity in ENTITIES:
            plain = Path(data) / f"{entity}.ndjson"
            if plain.exists():
                shutil.copy(plain, folder)
            else:
                (folder / plain.name).write_bytes(gzip.open(f"{plain}.gz").read())
        return folder

    # Upstreams

    def static_upstream(self, data):
        """Serves pages built before the first request; `urls` lists all paths, for curl -K."""
        folder = self.folder("upstream")
        program = Program(
            [self.binaries / "bench-server", "--listen", f"127.0.0.1:{self.upstream_port}", "--data", data,
             "--page-size", PAGE, "--urls", folder / "urls"], folder / "log")
        program.urls = folder / "urls"
        program.await_line("listening on ")
        return program

    def true_upstream(self, data, latency_ms):
        """The reference upstream, which accepts changes; every answer is delayed by `latency_ms`."""
        program = Program(
            [self.binaries / "repairminder-upstream", "--schema", self.schema, "--data", data, "--latency",
             f"{latency_ms}ms", "--listen", f"127.0.0.1:{self.upstream_port}"], self.folder("upstream") / "log")
        program.await_line("listening on ")
        return program

    # Daemons

    def daemon(self, name, state=None, binary=None, upstream_port=None, **more):
        """A daemon on a copy of the folder `state`, or on an empty folder."""
        folder = self.folder(name)
        if state:
            shutil.copytree(state, folder / "state", symlinks=True)
        return Daemon(
            binary or self.binaries / "repairminder-sync", self.schema, folder, upstream_port or self.upstream_port, **more)

    def state(self, count):
        """A state folder with `count` orders, pulled once for each run."""
        folder = self.work / f"state-{count}"
        if not folder.exists():
            upstream = self.static_upstream(self.orders(count))
            daemon = self.daemon(f"fill-{count}")
            try:
                with daemon:
                    daemon.sync()
                shutil.move(daemon.state, folder)
            finally:
                upstream.stop()
        return folder


def lines(path):
    with open(path, "rb") as file:
        return sum(1 for _ in file)


def flush():
    """Syncs the disk, so nothing earlier is still being written."""
    os.sync()
