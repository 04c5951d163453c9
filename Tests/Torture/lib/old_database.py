"""A state folder of version 0.1.0: the kept database of that version, with many more records and queued changes."""
import contextlib
import gzip
import sqlite3
from pathlib import Path

from .programs import ROOT

FIXTURES = ROOT / "Tests" / "CacheStoreTests" / "Fixtures"
SCHEMA = FIXTURES / "workshop.yaml"
ADDED = "more-"  # what the ids and idempotency keys of the added changes begin with

_NUMBERS = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})"

_RECORDS = """
    INSERT INTO records_entries (_key, _remote, _synced_at)
    {numbers} SELECT 'more-' || n, json_object('id', 'more-' || n, 'at', '2026-11-14T04:41:57.282Z', 'text', 'entry ' || n),
      1795408918161 FROM numbers;
    INSERT INTO records_products (_key, _remote, _synced_at)
    {numbers} SELECT CAST(7000000 + n AS TEXT), json_object('sku', 7000000 + n, 'name', 'part ' || n, 'price', n / 100.0,
      'stock', n % 50, 'ratio', 0.5, 'updated_at', '2026-11-19T04:42:41.282Z'), 1795408918161 FROM numbers;
    INSERT INTO records_tickets (_key, _remote, _synced_at)
    {numbers} SELECT 'more-' || n, json_object('id', 'more-' || n, 'subject', 'About number ' || n, 'is_open',
      json('true'), 'updated_at', '2026-11-18T04:42:07.282Z', 'replies', json('[]'), 'reply_count', 0), 1795408918161
      FROM numbers;
    UPDATE sync_tally SET count = count + {count}
      WHERE name IN ('rows:entries', 'rows:products', 'rows:tickets');
    """

# Every change sets another text, so finding the text upstream says which change arrived.
_CHANGES = """
    UPDATE records_tickets SET _local = json_object('subject', 'Queued ' || substr(_key, 6)),
      _document = json_set(_remote, '$.subject', 'Queued ' || substr(_key, 6))
      WHERE _key GLOB 'more-*' AND CAST(substr(_key, 6) AS INTEGER) <= {count};
    INSERT INTO sync_outbox (entity, record_key, operation, body, base, idempotency_key, created_at, edited)
    {numbers} SELECT 'tickets', 'more-' || n, 'update', json_object('subject', 'Queued ' || n),
      json_object('subject', 'About number ' || n), 'more-' || n, 1795409070400, json_object('subject', 1795409070400)
      FROM numbers;
    INSERT INTO sync_change_log (at, kind, entity, keys, fields, change_id, detail)
    SELECT created_at, 'queued', entity, json_array(record_key), '["subject"]', id,
      json_object('reason', 'edited', 'operation', 'update', 'values', json(body))
      FROM sync_outbox WHERE idempotency_key GLOB 'more-*' ORDER BY id;
    """


def make(state, address, rows, changes):
    """Creates the folder for the upstream at `address`, with `rows` more records of three entities and `changes` more
    queued changes."""
    state.mkdir(mode=0o700)
    database = state / "workshop-acc-1.db"
    database.write_bytes(gzip.decompress((FIXTURES / "0.1.0.db.gz").read_bytes()))
    (state / "current.db").symlink_to(database.name)
    (state / "secret.key").write_bytes(bytes([1]) * 32)
    with contextlib.closing(sqlite3.connect(database)) as file:
        file.executescript(f"""
            BEGIN;
            {_RECORDS.format(numbers=_NUMBERS.format(count=rows), count=rows)}
            {_CHANGES.format(numbers=_NUMBERS.format(count=changes), count=changes)}
            DELETE FROM sync_stale;
            UPDATE sync_setting SET value = 'http://{address}' WHERE name = 'upstream';
            COMMIT;
            PRAGMA wal_checkpoint(TRUNCATE);
            """)
    for path in state.iterdir():
        path.chmod(0o600)


def queue(database):
    """What must stay of each queued change."""
    return _rows(database, "SELECT id, entity, record_key, operation, body, base, idempotency_key, order_group, created_at,"
                           " edited, content FROM sync_outbox ORDER BY id")


def views(database):
    """The records as people read them: entity → rows."""
    names = [name for name, in _rows(database, "SELECT name FROM sqlite_schema WHERE type = 'view' AND name NOT GLOB 'sync_*'")]
    # A reminder that becomes due adds a notice.
    return {name: _rows(database, f'SELECT * FROM "{name}" ORDER BY 1') for name in names if name != "notices"}


def write_upstream(database, folder):
    """Writes the records as the upstream has them, for `repairminder-upstream --data`."""
    folder.mkdir()
    names = [name for name, in _rows(database, "SELECT substr(name, 9) FROM sqlite_schema WHERE type = 'table'"
                                               " AND name GLOB 'records_*'")]
    for name in names:
        rows = _rows(database, f'SELECT _remote FROM "records_{name}" WHERE _remote IS NOT NULL')
        (folder / f"{name}.ndjson").write_text("".join(f"{remote}\n" for remote, in rows))


def _rows(database, sql):
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10)) as file:
        return file.execute(sql).fetchall()


