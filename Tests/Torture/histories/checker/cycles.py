"""All registers of one daemon together: its operations must fit into one order.

A daemon has one writer, and every answer is one snapshot. So its operations are serializable, in an order that respects
the time between an answer and the next call. Writes upstream and at other daemons take part without a time of their
own.

Edges, from what must come first to what must come later:
- wr: one wrote what the other read;
- ww: one wrote a version, the other a later version of the same register;
- rw: one read a version, the other wrote a later one;
- session: a caller's operation and its next;
- time: one was answered before the other began.
"""
from collections import defaultdict

from .graph import cycles, frontier_edges
from .model import EXISTS, FOREVER, UPSTREAM, describe, short

WR, WW, RW, SESSION, TIME = "wr", "ww", "rw", "session", "time"
DATA = {WR, WW, RW}


def check(history):
    for node in history.nodes:
        if node != UPSTREAM:
            _check_node(history, node)


def _check_node(history, node):
    edges = defaultdict(dict)  # from: {to: (kind, register, version, next version)}
    for register, versions in history.versions[node].items():
        if register[0] not in history.discarded:
            _add_data(history, edges, register, versions)
    # What needs the fewest kinds of edges is explained best.
    reported = set()
    own = [operation for operation in history.operations if operation.at == node and operation.kind != "final"]
    for kind, more in ((None, []), (SESSION, _sessions(own)), (TIME, frontier_edges(own))):
        for one, other in more:
            edges[one].setdefault(other, (kind, None, None, None))
        for cycle in cycles(edges):
            if not reported.intersection(cycle):
                _report(history, edges, cycle)
            reported.update(cycle)


def _add_data(history, edges, register, versions):
    def add(one, other, kind, value, later=None):
        if one is not None and other is not None and one is not other:
            edges[one].setdefault(other, (kind, register, value, later))
    writer = {}
    for value, version in versions.items():
        writer[value] = history.writers.get((register, value)) or version.writer
        if writer[value] and history.conflicts[register] and writer[value] is not version.writer:
            writer[value] = None  # a write elsewhere may have lost a part of its fields in a conflict
    for value, version in versions.items():
        for reader in version.readers:
            add(writer[value], reader, WR, value)
    following = defaultdict(list)
    for value, later in next_versions(versions):
        following[value].append(later)
        add(writer[value], writer[later], WW, value, later)
        for reader in versions[value].readers:
            add(reader, writer[later], RW, value, later)
    if register[1] == EXISTS:
        return
    for value, version in versions.items():
        # A write that named the version it replaces has read it.
        if (version.writer, register) not in history.required:
            continue
        before = history.required[version.writer, register]
        add(writer.get(before), version.writer, WW, before, value)
        for later in following[before]:
            add(version.writer, writer[later], RW, before, later)


def next_versions(versions):
    """Yields (version, next version): each pair known to be in order, without those that follow from others."""
    ordered = sorted(versions.values(), key=lambda version: version.known)
    for later in versions.values():
        latest = -FOREVER
        for one in reversed([version for version in ordered if version.known < later.last and version is not later]):
            if one.known < latest:
                break
            yield one.value, later.value
            latest = max(latest, one.last)


def _sessions(operations):
    last = {}
    for operation in sorted(operations, key=lambda operation: operation.start):
        if operation.by in last:
            yield last[operation.by], operation
        if operation.end != FOREVER:
            last[operation.by] = operation


# Reporting


def _report(history, edges, cycle):
    kinds = [edges[one][other] for one, other in zip(cycle, cycle[1:] + cycle[:1])]
    history.blamed.update(register[0] for _, register, _, _ in kinds if register)
    story = [f"T{number} = {describe(operation)}" for number, operation in enumerate(cycle, 1)]
    for number, (kind, register, value, later) in enumerate(kinds, 1):
        following = number % len(cycle) + 1
        reason = _reason(history, following, kind, register, value, later)
        story.append(f"T{number} came before T{following}: {reason}"
                     + (", a contradiction." if number == len(cycle) else "."))
    history.report(_name(cycle, kinds), _place(history, kinds), story, [operation.line for operation in cycle])


def _place(history, kinds):
    registers = dict.fromkeys(register for _, register, _, _ in kinds if register)
    return " and ".join(history.place(register) for register in list(registers)[:3])


def _reason(history, following, kind, register, value, later):
    if kind == SESSION:
        return "the same caller made it first"
    if kind == TIME:
        return "it was answered before the other began"
    place = history.place(register)
    if kind == WR:
        return f"T{following} saw its {short(value)} in {place}"
    if kind == WW:
        return f"T{following} replaced {short(value)} in {place} by {short(later)}"
    return f"it saw {short(value)} in {place}, which T{following} replaced by {short(later)}"


def _name(cycle, kinds):
    names = [kind for kind, _, _, _ in kinds]
    if sorted(names) == [RW, WR]:
        return "half-applied-write"
    registers = {register for kind, register, _, _ in kinds if kind in DATA}
    if len(registers) == 1 and set(names) <= {RW, WW} and RW in names:
        return "lost-update"
    for index, (kind, _, _, _) in enumerate(kinds):
        if kind in (SESSION, TIME) and RW in names and WR in names:
            one, other = cycle[index], cycle[(index + 1) % len(cycle)]
            if one.by is not None and one.by == other.by and other.writes:
                return "monotonic-writes" if one.writes else "writes-follow-reads"
    return "dependency-cycle"
