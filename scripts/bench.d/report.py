"""Stores the results, prints them, and writes docs/benchmarks.md with its charts."""

import datetime
import importlib
import json
import os
import subprocess
from dataclasses import asdict

import charts
import machine
from figures import Row, median, number, with_spread
from shop import ROOT

HEAD = ["measurement", "ours", "compared with", "theirs", "ratio", "target", "met"]
BARS = {"pulls": "s", "reads": "/s", "writes": "/s"}
INTRODUCTION = """# Benchmarks

What to expect of one daemon, as measured on [two cores](#the-machine) that it shares with its callers:

{expected}

`make bench` writes this page. Compare the **ratios**, because absolute times mean little on a machine with other work. All
contestants of a row are measured in turn in the same run, and the ratio is the median over the rounds. Figures are medians, with
minimum and maximum in brackets. `make bench-setup` installs the competitors; the suite also runs without them.
`scripts/bench --help` lists its options. {reached} of {all} targets are met.
[Drafted schemas](benchmarks/drafts.md) have a table of their own.
"""

# What a user asks first: in words, the topic, and the measurement whose median answers it.
EXPECTED = [
    ("read one record, one caller after the other", "reads", "one by id, 1 connection"),
    ("read one record, 64 callers at once", "reads", "one by id, 64 connections"),
    ("list 50 records, 16 callers", "reads", "list of 50 by status, newest first, 16 connections"),
    ("search 200,000 records, 16 callers", "reads", "search in orders, newest first, 16 connections"),
    ("change a record, safely on disk, one caller", "writes", "durable writes, 1 caller"),
    ("change a record, safely on disk, 64 callers", "writes", "durable writes, 64 callers"),
    ("change records in batches of 500, one caller", "writes", "durable writes, 500 in one batch"),
    ("first pull of 200,000 orders", "pulls", "first pull, 200,000 orders"),
    ("pull again, nothing changed", "pulls", "pull, nothing changed"),
    ("see a change after its page was read", "delays", "a change upstream until it can be read here"),
    ("start with a million records", "large", "start until the first answer, 1,000,000 rows, 10,000 queued"),
    ("memory under load with a million records", "large", "resident memory, 1,000,000 rows, under mixed load"),
]


def keep(bench, topic, rows):
    """Topics can be measured separately: each stores its own date, commit and rounds."""
    kept = json.loads(bench.results.read_text()) if bench.results.exists() else {}
    kept[topic] = {
        "on": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}", "commit": commit(), "rounds": bench.rounds,
        "orders": bench.orders, "rows": [asdict(row) for row in rows], "series": dict(bench.series),
    }
    bench.results.write_text(json.dumps(kept, indent=1))


def commit():
    if "REPAIRMINDER_BIN" in os.environ:
        return "binaries built elsewhere"
    answer = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return answer.stdout.strip() or "unknown"


def cells(row):
    reached = {True: "yes", False: "no", None: ""}[row.reached]
    if row.missed_by:
        reached += f", by {row.missed_by:.2f} ×"
    return [
        row.what, with_spread(row.ours, row.unit), row.against,
        with_spread(row.theirs, row.unit) if row.theirs else "", "" if row.ratio is None else f"{row.ratio:.3g}",
        row.target, reached,
    ]


def show(rows):
    table = [HEAD, *map(cells, rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(HEAD))]
    for line in table:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip(), flush=True)


def write(bench, order):
    kept = json.loads(bench.results.read_text())
    kept = {topic: kept[topic] for topic in order if topic in kept}
    rows = {topic: [Row(**row) for row in taken["rows"]] for topic, taken in kept.items()}
    aims = [row for each in rows.values() for row in each if row.reached is not None]
    parts = [INTRODUCTION.format(expected=expected(rows), reached=sum(row.reached for row in aims), all=len(aims))]
    pictures = bench.report.with_suffix("")
    pictures.mkdir(exist_ok=True)
    for topic, taken in kept.items():
        parts.append(section(importlib.import_module(topic), topic, taken, rows[topic], pictures))
    parts.append(machine.description())
    bench.report.write_text("\n".join(parts))


def expected(rows):
    """A table of what was measured of `EXPECTED`."""
    lines = ["| what | figure |", "| --- | --- |"]
    for words, topic, what in EXPECTED:
        if row := next((row for row in rows.get(topic, []) if row.what == what), None):
            lines.append(f"| {words} | {number(median(row.ours), row.unit)} |")
    return "\n".join(lines)


def section(module, topic, taken, rows, pictures):
    lines = profiles(taken["series"], pictures) if topic == "profiles" else [HEAD, *map(cells, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    parts = [f"## {module.TITLE}", module.HOW.strip(), table]
    if picture := chart(module.TITLE, topic, taken, rows):
        (pictures / f"{topic}.svg").write_text(picture)
        parts.append(f"![{module.TITLE}]({pictures.name}/{topic}.svg)")
    notes = pictures / f"{topic}.md"
    if notes.exists():
        parts.append(notes.read_text().strip())
    parts.append(
        f"Measured on {taken['on']} at {taken['commit']}: {taken['rounds']} rounds, {taken['orders']:,} orders.")
    return "\n\n".join(parts) + "\n"


def profiles(series, pictures):
    """One line for each profile: its flame graph and the functions with the most samples."""
    return [["flame graph", "functions with the most time of their own"]] + [
        [f"[{what}]({pictures.name}/flame-{what.replace(' ', '-')}.svg)",
         ", ".join(f"`{frame}` {share:.0%}" for frame, share in heaviest[:6])]
        for what, heaviest in series.items()]


def chart(title, topic, taken, rows):
    if topic in BARS:
        groups = {}
        for row in rows:
            if row.theirs and row.unit == BARS[topic]:
                group = groups.setdefault(row.what, {"ours": median(row.ours)})
                group[row.against] = median(row.theirs)
        return charts.bars(title, list(groups.items()), BARS[topic])
    if topic == "growth" and taken["series"]:
        series = {
            kind: [(float(size), next(iter(rates.values())) / rate) for size, rate in rates.items()]
            for kind, rates in taken["series"].items()}
        return charts.lines("How many times longer a call takes", series, "×", "rows", logarithmic=True)
    if topic == "large" and taken["series"]:
        series = {name: list(enumerate(values)) for name, values in taken["series"].items()}
        return charts.lines("Resident memory under mixed load", series, "MiB", "sample", False)
    return None
