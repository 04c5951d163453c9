"""Each register at each daemon, alone: every value is there for one span of time.

For a value, `known` is the earliest end of an operation that wrote or saw it, and `last` is the latest start of one. If
a value is known before another is seen last, it came first. Both ways round, one of them has come back. That is exact:
values that never contradict each other in pairs can be put into one order (Gibbons and Korach).
"""
from collections import defaultdict

from .model import ALIVE, DELETED, EXISTS, FOREVER, UNBORN, UPSTREAM, describe


class Version:
    """A value of a register, and who met it at one daemon."""

    def __init__(self, value):
        self.value = value
        self.writer = None  # at this daemon
        self.readers = []
        self.known, self.last = FOREVER, -FOREVER

    def add(self, operation, is_writer=False):
        if is_writer and self.writer is None:
            self.writer = operation
        else:  # only a deletion can be done twice
            self.readers.append(operation)
        self.known = min(self.known, operation.end)
        self.last = max(self.last, operation.start)

    @property
    def operations(self):
        return ([self.writer] if self.writer else []) + self.readers


def versions_at(history, node):
    """{register: {value: Version}} of what one daemon's callers met."""
    found = defaultdict(dict)

    def version(register, value):
        values = found[register]
        if value not in values:
            values[value] = Version(value)
        return values[value]
    for operation in history.operations:
        if operation.at != node:
            continue
        for register, value in operation.writes.items():
            version(register, value).add(operation, is_writer=True)
        for register, value in operation.reads.items():
            if register not in operation.writes:
                version(register, value).add(operation)
    for register, values in found.items():
        first = history.initial.get(register)
        for value, one in values.items():
            # What was there before everything else is known from the beginning. A daemon does not have the initial
            # records before its first pull.
            if value == UNBORN or register[1] != EXISTS and (register, value) not in history.writers and value == first:
                one.known = -FOREVER
    return found


def check(history):
    """Reports one violation for each register and daemon; leaves the versions of the others for the next checks."""
    history.versions = {}
    for node in history.nodes:
        history.versions[node] = {}
        for register, values in versions_at(history, node).items():
            pairs = _contradictions(values)
            if not pairs:
                history.versions[node][register] = values
            elif not _is_explained(history, register):
                _report_return(history, node, register, [_in_order(history, register, *pair) for pair in pairs])


def _contradictions(values):
    """The pairs of versions of which each came before the other."""
    ordered = sorted(values.values(), key=lambda version: version.known)
    # Each version is compared with those that are known before it is seen last.
    pairs = []
    for index, older in enumerate(ordered):
        for newer in ordered[index + 1:]:
            if newer.known >= older.last:
                break
            if older.known < newer.last:
                pairs.append((older, newer))
    return pairs


def _report_return(history, node, register, pairs):
    """Reports a value that came back after a newer one."""
    def rank(pair):
        """The first step back in time has the shortest story, best with one caller only."""
        witness, stale = _steps_back(*pair)
        return stale.start, witness.by != stale.by, witness is not pair[1].writer
    older, newer = min(pairs, key=rank)
    witness, stale = _steps_back(older, newer)
    before = [operation for operation in older.operations if operation.end < witness.start][:1]
    told = [*before, witness, stale]
    history.blamed.add(register[0])
    history.report(_name(register, newer, witness, stale, node), history.place(register),
                   [describe(operation, register) for operation in told], [operation.line for operation in told])


def _in_order(history, register, one, other):
    """Puts the value that was there first before the one that replaced it."""
    if one.writer and other.writer and other.writer.end < one.writer.start:
        return other, one
    if one.value == DELETED or other.value == UNBORN or other.known == -FOREVER:
        return other, one
    later = history.writers.get((register, one.value))
    earlier = history.writers.get((register, other.value))
    if later and earlier and earlier.end < later.start and not (one.writer and other.writer):
        return other, one
    return one, other


def _steps_back(older, newer):
    """Who met the newer value, and who then saw the older one: the same caller if there is one."""
    best = None
    for stale in sorted(older.operations, key=lambda operation: operation.start):
        witnesses = [operation for operation in newer.operations if operation.end < stale.start]
        if not witnesses:
            continue
        own = [operation for operation in witnesses if operation.by is not None and operation.by == stale.by]
        if own:
            return (newer.writer if newer.writer in own else own[-1]), stale
        best = best or (newer.writer if newer.writer in witnesses else witnesses[0], stale)
    return best or (newer.operations[0], older.operations[-1])


def _name(register, newer, witness, stale, node):
    if register[1] == EXISTS:
        if newer.value == DELETED:
            return "deleted-record-returned"
        if newer.value == ALIVE:
            return "vanished-record"
    if node != UPSTREAM and stale.by is not None and stale.by == witness.by:
        return "read-your-writes" if witness is newer.writer else "monotonic-reads"
    return "stale-read"


def _is_explained(history, register):
    """A person threw the newer value away or chose again in a conflict, or an edit upstream undid a deletion here."""
    if register[0] in history.discarded:
        return True
    return any(conflict.get("undone") or register[1] == EXISTS for conflict in history.conflicts[register])
