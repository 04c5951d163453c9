"""What reads show must have been written: to this register, not refused, and not later."""
from collections import defaultdict

from .model import ALIVE, EXISTS, describe, short


def check(history):
    homes = defaultdict(list)  # value: registers that it was written to
    for (register, value), _ in history.writers.items():
        if register[1] != EXISTS:
            homes[value].append(register)
    tags = {}
    reported = set()
    for operation in history.operations:
        for register, value in list(operation.reads.items()):
            own = operation.writes.get(register)
            if own is not None and own != value:
                _report(history, reported, "own-write-not-in-answer", register, value,
                        [f"{describe(operation)}; the answer shows {register[1]}: {short(value)}"], (operation.line,))
            elif register[1] == EXISTS or value in _beginnings(history, register) or _is_possible(
                    history, homes, reported, operation, register, value):
                continue
            del operation.reads[register]  # the next checks would find only what follows from it
        _check_tag(history, tags, operation)


def _beginnings(history, register):
    """The value that the field began with, in a list; an empty list if the history does not know it."""
    created = history.writers.get(((register[0], EXISTS), ALIVE))
    if created:
        return [created.writes.get(register)]
    return [history.initial[register]] if register in history.initial else []


def _is_possible(history, homes, reported, operation, register, value):
    """Whether the value was written here, and before; if not, it is reported."""
    writer = history.writers.get((register, value))
    if writer is not None:
        if operation.end < writer.start:
            _report(history, reported, "read-before-write", register, value,
                    [describe(operation, register), describe(writer, register)], (operation.line, writer.line))
        return operation.end >= writer.start
    refused = history.refused.get((register, value))
    if refused is not None:
        _report(history, reported, "refused-write-visible", register, value,
                [f"line {refused.line}: {refused.by} was refused {register[1]}={short(value)}",
                 describe(operation, register)], (refused.line, operation.line))
    elif value in homes:
        _report(history, reported, "foreign-value", register, value,
                [describe(operation, register), f"it was written to {history.place(homes[value][0])}"],
                (operation.line,))
    elif _beginnings(history, register):
        _report(history, reported, "unknown-value", register, value, [describe(operation, register)], (operation.line,))
    else:
        return True
    return False


def _report(history, reported, name, register, value, story, lines):
    """Reports each value once, however many reads show it."""
    if (name, register, value) not in reported:
        reported.add((name, register, value))
        history.report(name, history.place(register), story, lines)


def _check_tag(history, tags, operation):
    """Of two writers that require the same version, only one may succeed."""
    tag = operation.event.get("if_match")
    if tag is None or operation.outcome != "ok" or not operation.writes:
        return
    record = next(iter(operation.writes))[0]
    other = tags.setdefault((operation.at, record, tag), operation)
    if other is not operation:
        history.report("lost-update", history.identity.name(record),
                       [f"{describe(other)}, if the version is {short(tag)}",
                        f"{describe(operation)}, if the version is {short(tag)}",
                        "The second replaced a version that its caller had not seen."], (other.line, operation.line))
