"""Compares the tables with the daemon's lists."""
import json
from datetime import datetime, timezone
from decimal import Decimal

from lib.programs import Failed
from values import COLUMNS, HIDDEN, TYPES, Number, fed, parsed, plain


def listed(client, entity):
    """The daemon's whole list: key -> record as the feed should have it."""
    answer = client.get(f"/v1/{entity}", headers={"Accept": "application/x-ndjson"})
    records = [parsed(line) for line in answer.body.decode().splitlines()]
    return {fed(record["id"]): fed({name: value for name, value in record.items() if name not in HIDDEN})
            for record in records}


def column(type, value):
    """What a column of this type should have of a value of the record as it is in `listed`."""
    if value is None:
        return None
    if type == "text":
        return value if isinstance(value, str) else None
    if type in ("bigint", "numeric"):
        if isinstance(value, bool) or not isinstance(value, Decimal):
            return None
        return value if type == "numeric" or value == value.to_integral_value() and abs(value) < 2**63 else None
    if type == "timestamptz":
        time = datetime.fromisoformat(value.replace("Z", "+00:00"))
        time = time if time.tzinfo else time.replace(tzinfo=timezone.utc)
        return time.replace(microsecond=time.microsecond // 1000 * 1000)
    return value


def as_column(type, value):
    """The value of a column as psql gave it."""
    if value is not None and type == "timestamptz":
        return datetime.fromisoformat(value)
    return plain(value)


def differences(postgres, database, schema, instance, client, history):
    """How the tables differ from the lists, in words; empty if they are equal."""
    found = []
    for entity, types in TYPES.items():
        current = " AND valid_to IS NULL" if history else ""
        rows = postgres.rows(f"SELECT * FROM \"{schema}\".{entity} WHERE instance = '{instance}'{current}", database)
        records = listed(client, entity)
        if {row["id"] for row in rows} != set(records) or len(rows) != len(records):
            missing = set(records) - {row["id"] for row in rows}
            extra = {row["id"] for row in rows} - set(records)
            found.append(f"{entity} of {instance}: {len(missing)} rows missing, {len(extra)} too many {sorted(extra)[:3]}")
            continue
        for row in rows:
            record = records[row["id"]]
            if plain(row["record"]) != plain(record):
                found.append(f"{entity}/{row['id']}: {row['record']} is not {record}")
                continue
            for name, type in types.items():
                value = record.get(name)
                if name == "maker_name" and name not in record:
                    value = (record.get("maker") or {}).get("name") if isinstance(record.get("maker"), dict) else None
                if as_column(type, row[COLUMNS.get(name, name)]) != column(type, value):
                    found.append(f"{entity}/{row['id']}.{name}: {row[COLUMNS.get(name, name)]!r} is not {value!r}")
    return found


def check_history(postgres, database, schema):
    """Versions follow each other without gaps in their numbers, none overlaps, and none is there twice."""
    count = 0
    for entity in TYPES:
        wrong = postgres.rows(f"""
            SELECT * FROM (
                SELECT instance, id, version, valid_from, valid_to, record::text AS record,
                    row_number() OVER w AS number, lag(valid_to) OVER w AS before, lag(record::text) OVER w AS old
                FROM "{schema}".{entity} WINDOW w AS (PARTITION BY instance, id ORDER BY version)) AS v
            WHERE version <> number OR valid_to < valid_from OR number > 1 AND before IS NULL OR valid_from < before
                OR record = old AND valid_from = before
            LIMIT 3""", database)
        if wrong:
            raise Failed(f"versions of {entity} are wrong: {json.dumps(wrong, default=str)[:2000]}")
        count += postgres.rows(f'SELECT count(*) AS n FROM "{schema}".{entity}', database)[0]["n"]
    return count
