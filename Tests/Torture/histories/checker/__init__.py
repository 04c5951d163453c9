"""Checks histories of the fault tests for broken promises; `check(path)` returns the violations, best explained first.

How it works, after Elle (Kingsbury and Alvaro, "Elle: Inferring Isolation Anomalies from Experimental Observations"):
every write writes a value that no other write uses, so a read shows which write it saw. Operations are transactions:
a PATCH writes some fields of a record and its answer reads the others, a list reads many records in one snapshot.

The objects are registers (a field of a record), not Elle's append-only lists: the API replaces values, and a list kept
in a field would turn every write into a read and a write, which is not how callers work. Registers show less about the
order of versions, but each daemon has one writer and promises that a write is visible once it is answered. So the order
follows from the times of operations (Elle's `linearizable-keys?`), and for one register the check is exact.

1. `identity`: which ids are one record; creations that arrived twice.
2. `sightings`: values that nobody wrote, that were refused, or that were seen before they were written.
3. `registers`: each register at each daemon, alone: zones as in Gibbons and Korach, "Testing shared memories" (1997).
4. `cycles`: all registers of one daemon together: cycles of wr, ww, rw, session and real-time edges.
5. `causal`: each record across all daemons and the upstream: no write is overtaken by one that followed it.
6. `conflicts`: each was with somebody else.
7. `ends`: final states: no acknowledged write is lost, and both sides are equal.
"""
from . import causal, conflicts, cycles, ends, registers, sightings
from .events import InvalidHistory, read_events
from .model import History
from .violation import NAMES, Violation

__all__ = ["check", "check_events", "History", "InvalidHistory", "NAMES", "Violation"]

STEPS = (sightings, registers, cycles, causal, conflicts, ends)


def check(path):
    """Returns the violations in the history file; raises `InvalidHistory` for a file that proves nothing."""
    return check_events(read_events(path))


def check_events(events):
    history = History(events)
    for step in STEPS:
        step.check(history)
    return history.violations
