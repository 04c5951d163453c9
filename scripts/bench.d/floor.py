"""The minimum for a first pull: one curl, and the sqlite3 shell that loads its files."""

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
    """Downloads every page over one connection, then loads it, one transaction for each entity, into the daemon's own tables
    and indexes with synchronous=FULL, as the daemon does. The full-text tables are filled only if `searched`."""

    def __init__(self, shop, data, urls, example, searched):
        """`example`: a database of the daemon, whose tables are copied."""
        self.shop, self.data, self.urls = shop, data, urls
        files = re.findall(r'^output = "(.*)"$', urls.read_text(), re.MULTILINE)
        columns = {entity: filled(example, entity, shop.schema) for entity in ENTITIES}
        self.script = PRAGMAS + tables(example) + "".join(loading(files, columns))
        if searched:
            self.script += "".join(indexing(example))

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


def indexing(database):
    """The same full-text tables, each filled with one statement."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        yield "BEGIN;\n"
        for (view,) in db.execute("SELECT sql FROM sqlite_master WHERE type = 'view' AND name GLOB 'sync_*_searched'"):
            yield f"{view};\n"
        found = db.execute("SELECT name, sql FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE% fts5(%'").fetchall()
        for name, sql in found:
            columns = ", ".join(
                column for (column,) in db.execute("SELECT name FROM pragma_table_info(?)", (name,)))
            searched = re.sub("_(words|titles|fragments)$", "_searched", name)
            yield f"{sql};\nINSERT INTO {name} (rowid, {columns}) SELECT _pk, {columns} FROM {searched};\n"
        yield "COMMIT;\n"


def filled(database, entity, schema):
    """The columns of an entity's table that have no expression of their own: column → the SQL of its value."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        found = db.execute("SELECT name, hidden FROM pragma_table_xinfo(?)", (f"records_{entity}",)).fetchall()
    names = [name for name, hidden in found if hidden == 0 and not name.startswith("_")]
    return {name: value(definition(schema, entity, name)) for name in names}


def definition(schema, entity, field):
    """A field, its type, and where its value is if no member has its name."""
    own = re.search(rf"^  {entity}:\n((?:    .*\n|\n)*)", schema.read_text(), re.MULTILINE)[1]
    line = re.search(rf"^ +{field}:(.*(?:\n        .*)*)", own, re.MULTILINE)[1]
    source = re.search(r"\bfrom: *([\w.]+)", line)
    return field, re.search(r"\btype: *(\w+)", line)[1], source and source[1]


def value(field):
    """What the daemon stores in the column: times as milliseconds, everything else as it is."""
    name, kind, source = field
    sql = f"value ->> '$.{name}'"
    if source:
        sql = f"coalesce({sql}, value ->> '$.{source}')"
    return f"CAST(round((julianday({sql}) - 2440587.5) * 86400000) AS INTEGER)" if kind == "time" else sql


def loading(files, columns):
    """`columns`: from `filled`, by entity."""
    entity = None
    for file in files:
        if file.split(".")[0] != entity:
            yield "COMMIT;\n" if entity else ""
            entity = file.split(".")[0]
            yield "BEGIN;\n"
        names = "".join(f', "{name}"' for name in columns[entity])
        values = "".join(f", {sql}" for sql in columns[entity].values())
        yield (
            # Without MATERIALIZED each use of `value` would write the record's text again.
            f"WITH page AS MATERIALIZED (SELECT value FROM json_each(CAST(readfile('{file}') AS TEXT), '$.data')) "
            f"INSERT INTO records_{entity} (_key, _remote, _synced_at{names}) "
            f"SELECT value ->> '$.id', value, 1700000000000{values} FROM page;\n")
    yield "COMMIT;\n"


def require(have, data):
    """Fails if a record is missing."""
    for entity in ENTITIES:
        want = lines(data / f"{entity}.ndjson")
        if have[entity] != want:
            raise AssertionError(f"{have[entity]} {entity} were pulled, not {want}")
