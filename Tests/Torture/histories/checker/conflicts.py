"""Conflicts must be with somebody else: a value that the daemon sent, or had before the edit, is not news."""
from .model import EXISTS, FOREVER, describe, plain, short


def check(history):
    met = {}  # (daemon, register, value): when it was first known there
    for operation in history.operations:
        for register, value in [*operation.reads.items(), *operation.writes.items()]:
            key = (operation.at, register, value)
            met[key] = min(met.get(key, FOREVER), operation.end)
    reported = set()
    for register, conflicts in history.conflicts.items():
        for conflict in conflicts:
            if register[1] != EXISTS and register not in reported and _is_invented(history, met, register, conflict):
                reported.add(register)


def _is_invented(history, met, register, conflict):
    edit = history.writers.get((register, plain(conflict["local"])))
    server = plain(conflict["server"])
    if edit is None or edit.at != conflict["at"]:
        return False
    sent = history.writers.get((register, server))
    if sent is not None and sent.at == edit.at:
        reason = describe(sent, register)
    elif met.get((edit.at, register, server), FOREVER) < edit.start:
        reason = f"{edit.at} had shown {short(server)} before"
    else:
        return False
    history.report("invented-conflict", history.place(register), [
        reason, describe(edit, register), f"conflict: {short(edit.writes[register])} here, {short(server)} upstream"],
        [edit.line, *([sent.line] if sent is not None else []), conflict["line"]])
    return True
