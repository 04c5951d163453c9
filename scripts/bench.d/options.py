"""The options: what is measured, how often and on how much data. `--smallest` only shows that everything works."""

import argparse
from dataclasses import dataclass, field
from pathlib import Path

import figures
from shop import ROOT, Shop

TOPICS = [
    "pulls", "reads", "writes", "storage", "drain", "busy", "delays", "large", "idle", "growth", "instructions", "profiles"]
# Topics that need valgrind or perf; the smallest run skips them.
WITH_TOOLS = ["instructions", "profiles"]


@dataclass
class Bench:
    """What every topic receives: the shop, the sizes, and a place for the series that become charts."""

    shop: Shop
    data: Path | None
    topics: list
    rounds: int
    seconds: float
    smallest: bool
    keep_counts: bool
    check: bool
    results: Path
    report: Path | None
    orders: int = 200_000
    large: int = 1_000_000
    sizes: tuple = (10_000, 100_000, 1_000_000)
    connections: tuple = (1, 16, 64)
    backlog: int = 100_000
    changes: int = 10_000
    long_rounds: int = 1
    idle_seconds: int = 60
    soak_seconds: int = 600
    memory_samples: int = 20
    series: dict = field(default_factory=dict)

    def in_turn(self, contestants):
        return figures.in_turn(self.rounds, contestants)


SMALLEST = {
    "orders": 2000, "large": 4000, "sizes": (1000, 2000, 4000), "connections": (1, 16), "backlog": 300, "changes": 80,
    "idle_seconds": 2, "soak_seconds": 3, "memory_samples": 3,
}


def read(arguments, binaries):
    """Calls `binaries` for the folder of built commands once the options are valid."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description="Measures the daemon against floors and alternatives and writes docs/benchmarks.md.")
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"only these of: {', '.join(TOPICS)}")
    parser.add_argument("--smallest", action="store_true", help="the smallest run, once, to check that everything works")
    parser.add_argument("--rounds", type=int, help="rounds of each measurement, all contestants in turn (5)")
    parser.add_argument("--seconds", type=float, help="duration of each load (4)")
    parser.add_argument("--orders", type=int, help="records in the cache of pulls, reads and writes (200,000)")
    parser.add_argument("--soak", type=int, metavar="SECONDS", help="duration of the mixed load (600)")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data/repair-cafes",
                        help="a folder of <entity>.ndjson or .ndjson.gz to pull as well")
    parser.add_argument("--keep-counts", action="store_true", help="store these instruction counts for later comparison")
    parser.add_argument("--check", action="store_true", help="fail when a target is missed")
    given = parser.parse_args(arguments)
    if unknown := set(given.topics) - set(TOPICS):
        parser.error(f"there is no topic {', '.join(sorted(unknown))}; there are {', '.join(TOPICS)}")
    kept = ROOT / ".build/bench"
    bench = Bench(
        shop=Shop(binaries(), kept), data=given.data if given.data.is_dir() and not given.smallest else None,
        topics=given.topics or [topic for topic in TOPICS if not given.smallest or topic not in WITH_TOOLS],
        rounds=given.rounds or (1 if given.smallest else 5),
        seconds=given.seconds or (0.3 if given.smallest else 4), smallest=given.smallest,
        keep_counts=given.keep_counts, check=given.check,
        results=kept / ("smallest.json" if given.smallest else "results.json"),
        report=None if given.smallest else ROOT / "docs/benchmarks.md")
    for name, value in (SMALLEST if given.smallest else {}).items():
        setattr(bench, name, value)
    bench.orders = given.orders or bench.orders
    bench.backlog = min(bench.backlog, bench.orders)
    bench.soak_seconds = given.soak or bench.soak_seconds
    return bench
