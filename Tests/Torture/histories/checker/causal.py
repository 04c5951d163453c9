"""Each record across all daemons and the upstream: writes of a record arrive in the order they were made.

Daemons work offline, so they need not agree on the order of writes that did not know of each other. But what a daemon
had done or seen before a write comes before it everywhere: a place that shows the write must not show an older value of
another field of that record. These are the patterns WriteCOInitRead and WriteCORead of Bouajjani, Enea, Guerraoui and
Hamza, "On verifying causal consistency" (2017), applied to one record at a time: between records the daemon promises no
order, because it sends them in parallel.
"""
from collections import defaultdict

from .graph import frontier_edges
from .model import EXISTS, describe


def check(history):
    by_record = defaultdict(lambda: defaultdict(dict))  # record: {operation: {register: value read}}
    for operation in history.operations:
        for register in operation.writes:
            by_record[register[0]][operation] = {}
        for register, value in operation.reads.items():
            by_record[register[0]][operation][register] = value
    for record, reads in by_record.items():
        if record in history.known and record not in history.discarded and record not in history.blamed:
            _check_record(history, record, reads)


def _check_record(history, record, reads):
    operations = list(reads)
    places = defaultdict(list)
    for operation in operations:
        places[operation.at].append(operation)
    if len(places) < 2:
        return  # `registers` and `cycles` see more
    pasts = _pasts(history, reads, places)
    if pasts is None:
        return  # a cycle; `sightings` and `registers` report where it comes from
    number = {operation: index for index, operation in enumerate(operations)}
    registers = {register for operation in operations for register in operation.writes
                 if register[0] == record and register[1] != EXISTS and not history.conflicts[register]}
    writers = {register: [operation for operation in operations if register in operation.writes]
               for register in registers}
    for operation in sorted(operations, key=lambda operation: operation.end):
        for register, value in reads[operation].items():
            seen = history.writers.get((register, value))
            if register not in registers or seen is operation or (seen and seen not in number):
                continue
            if seen is None and value != history.initial.get(register):
                continue  # a value without a write; `sightings` reports it
            for writer in writers[register]:
                is_past = pasts[operation] >> number[writer] & 1
                is_newer = seen is None or pasts[writer] >> number[seen] & 1
                if writer is not seen and is_past and is_newer and writer is not operation:
                    if writer.at == operation.at and (seen is None or seen.at == operation.at):
                        continue  # `registers` reports it
                    return _report(history, register, pasts, number, operations, operation, writer)


def _pasts(history, reads, places):
    """For each operation a set, as bits, of those that must come before it; None if one must come before itself."""
    before = defaultdict(set)
    for mine in places.values():
        for one, other in frontier_edges(mine):
            before[other].add(one)
    operations = list(reads)
    for operation, seen in reads.items():
        for register, value in seen.items():
            writer = history.writers.get((register, value))
            if writer is not None and writer is not operation:
                before[operation].add(writer)
    number = {operation: index for index, operation in enumerate(operations)}
    pasts, left = {}, {operation: len(before[operation]) for operation in operations}
    after = defaultdict(list)
    for operation, earlier in before.items():
        for one in earlier:
            after[one].append(operation)
    ready = [operation for operation in operations if not left[operation]]
    while ready:
        operation = ready.pop()
        past = 0
        for one in before[operation]:
            past |= pasts[one] | 1 << number[one]
        pasts[operation] = past
        for other in after[operation]:
            left[other] -= 1
            if not left[other]:
                ready.append(other)
    return pasts if len(pasts) == len(operations) else None


def _report(history, register, pasts, number, operations, reader, writer):
    # The operation that brought the news: it shows something later than the write that is missing.
    story = [describe(writer, register)]
    news = next((operation for operation in operations
                 if operation is not writer and operation.writes and pasts[reader] >> number[operation] & 1
                 and pasts[operation] >> number[writer] & 1), None)
    if news:
        story.append(f"{describe(news)}, after that")
    story.append(f"{describe(reader, register)}" + (f", although line {news.line} had arrived there" if news else ""))
    history.report("overtaken-write", history.place(register), story,
                   [operation.line for operation in (writer, news, reader) if operation])
