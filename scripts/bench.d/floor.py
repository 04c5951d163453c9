"""What a first pull takes at least: one curl, and the sqlite3 shell that loads its files."""

import re
import sqlite3
import subprocess
import time

from shop import ENTITIES, flush, lines

PRAGMAS = """
PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA temp_store = MEMORY;
PRAGMA secure_delete = 0;
"""


class Floor:
    """Every page over a kept connection, then loaded, one transaction an entity, into the daemon's own tables with their
    indexes; synchronous=FULL as the daemon has it. The index for searching is left out: ours pays for it, this does not."""

    def __init__(self, shop, data, urls, example):
        """`example`: a database of the daemon's, whose tables are taken."""
        self.shop, self.data, self.urls = shop, data, urls
        files = re.findall(r'^output = "(.*)"$', urls.read_text(), re.MULTILINE)
        self.script = PRAGMAS + tables(example) + "".join(loading(files))

    def run(self):
        folder = self.shop.folder("floor")
        flush()
        began = time.perf_counter()
        subprocess.run(["curl", "-sS", "-K", self.urls], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(
            ["sqlite3", "floor.db"], input=self.script, text=True, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        elapsed = time.perf_counter() - began
        with sqlite3.connect(folder / "floor.db") as db:
            count = "SELECT count(*) FROM records_{}"
            require({name: db.execute(count.format(name)).fetchone()[0] for name in ENTITIES}, self.data)
        return elapsed


def tables(database):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        found = db.execute(
            "SELECT sql FROM sqlite_master WHERE tbl_name GLOB 'records_*' AND type != 'trigger' AND sql NOTNULL")
        return "".join(f"{sql};\n" for (sql,) in found)


def loading(files):
    entity = None
    for file in files:
        if file.split(".")[0] != entity:
            yield "COMMIT;\n" if entity else ""
            entity = file.split(".")[0]
            yield "BEGIN;\n"
        yield (
            f"INSERT INTO records_{entity} (_key, _remote, _synced_at) SELECT value ->> '$.id', value, 1700000000000 "
            f"FROM json_each(CAST(readfile('{file}') AS TEXT), '$.data');\n")
    yield "COMMIT;\n"


def require(have, data):
    """Every record must be there."""
    for entity in ENTITIES:
        want = lines(data / f"{entity}.ndjson")
        if have[entity] != want:
            raise AssertionError(f"{have[entity]} {entity} were pulled, not {want}")
