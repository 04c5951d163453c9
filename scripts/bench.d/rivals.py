"""The alternatives that `make bench-setup` has installed: servers to read from and write to, and scripts that pull."""

import contextlib
import sys
from pathlib import Path

from programs import Program
from rival_servers import Datasette, Kinto, PocketBase
from shop import ROOT

PROGRAMS = ROOT / ".build/bench/rivals/bin"
SCRIPTS = Path(__file__).with_name("rivals.d")


def installed(name):
    return (PROGRAMS / name).exists()


@contextlib.contextmanager
def servers(bench, kinds=(PocketBase, Kinto, Datasette)):
    """The installed servers, filled with the orders and started."""
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(kind(bench.shop, bench.orders, PROGRAMS))
            for kind in kinds if installed(kind.program) and not bench.smallest]


def pullers(bench):
    """Functions by name that pull all orders from the upstream at a port into a folder, each with the target: how many
    times the daemon's time it should take at least."""
    if bench.smallest:
        return {}
    found = {}
    if installed("python"):
        found["requests and executemany"] = (script("plain-pull.py"), 2)
    if installed("dlt"):
        found["dlt"] = (script("dlt-pull.py"), 10)
    if installed("sqlite-utils"):
        found["curl, jq and sqlite-utils"] = (sqlite_utils, None)
    return found


def script(name):
    def pull(port, folder):
        run([PROGRAMS / "python", SCRIPTS / name, port, "orders.db"], folder)
    return pull


def sqlite_utils(port, folder):
    address = f"http://127.0.0.1:{port}/api/orders?limit=500&page="
    run(["sh", "-c", f"""
        pages=$(curl -sS '{address}1' | jq .pagination.total_pages)
        curl -sS "{address}[1-$pages]" | jq -c '.data[]' | '{PROGRAMS}/sqlite-utils' insert orders.db orders - --nl --pk id
        '{PROGRAMS}/sqlite-utils' create-index orders.db orders status
        """], folder)


def run(command, folder):
    program = Program(command, folder / "log", folder=folder)
    try:
        if program.process.wait():
            sys.exit(f"bench: {program.name} failed:\n{program.log.read_text()[-2000:]}")
    finally:
        program.stop()
