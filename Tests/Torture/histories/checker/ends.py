"""Final states: when nothing is in flight, acknowledged writes are there, and all places are equal."""
from collections import defaultdict

from .model import ALIVE, EXISTS, UPSTREAM, describe, plain, short


def check(history):
    rounds = defaultdict(list)
    for event in history.events:
        if event["op"] == "final":
            rounds[event.get("round", 0), event["entity"]].append(event)
    reported = set()
    for (_, entity), finals in sorted(rounds.items(), key=lambda item: min(event["start"] for event in item[1])):
        held = {event["at"]: _held(history, event) for event in finals}
        _check_queue(history, finals)
        _check_equal(history, entity, held, finals, reported)
        if UPSTREAM in held:
            moment = min(event["start"] for event in finals)
            _check_writes(history, entity, held[UPSTREAM], moment, reported)


def _held(history, event):
    return {history.record(event, record["id"]):
            {field: plain(value) for field, value in record.items() if field != "id"}
            for record in event["seen"] if history.record(event, record["id"]) not in history.confused}


def _check_queue(history, finals):
    for event in finals:
        if event.get("waiting"):
            history.report("not-sent", event["at"], [f"{event['waiting']} changes wait in the queue of {event['at']}"],
                           (event["line"],))


def _check_equal(history, entity, held, finals, reported):
    lines = [event["line"] for event in finals]
    upstream = held.get(UPSTREAM)
    for at, records in held.items():
        if at == UPSTREAM or upstream is None:
            continue
        for record in dict.fromkeys([*upstream, *records]):
            here, there = records.get(record), upstream.get(record)
            if here is None or there is None:
                where = (UPSTREAM, at) if here is None else (at, UPSTREAM)
                _once(history, reported, (record, EXISTS), "not-converged",
                      [f"the record is at {where[0]} and not at {where[1]}"], lines)
                continue
            for field in here.keys() & there.keys():
                if here[field] != there[field] and not _is_open(history, (record, field)):
                    _once(history, reported, (record, field), "not-converged",
                          [f"{at} has {short(here[field])}, the upstream {short(there[field])}"], lines)


def _is_open(history, register):
    return any(conflict["winner"] is None for conflict in history.conflicts[register])


def _check_writes(history, entity, upstream, moment, reported):
    for operation in history.operations:
        if operation.at == UPSTREAM or operation.outcome != "ok" or operation.end >= moment:
            continue
        for register, value in operation.writes.items():
            record, field = register
            if record[0] != entity or record in history.discarded or record not in history.known:
                continue
            if field == EXISTS:
                _check_existence(history, operation, register, value, upstream.get(record), moment, reported)
            elif record in upstream and field in upstream[record]:
                _check_value(history, operation, register, value, upstream[record][field], reported)


def _check_existence(history, operation, register, value, there, moment, reported):
    record = register[0]
    if history.conflicts[register]:
        return
    if value == ALIVE and there is None:
        if not any(deletion.start < moment for deletion in history.deletions[record]):
            _once(history, reported, register, "lost-creation", [describe(operation)], (operation.line,))
    elif value != ALIVE and there is not None:
        _once(history, reported, register, "lost-deletion", [describe(operation)], (operation.line,))


def _check_value(history, operation, register, value, final, reported):
    """The final value must be this one, or one that may have replaced it."""
    if final == value:
        return
    winner = history.writers.get((register, final))
    if winner is not None and not _came_before(history, winner, operation, register, final):
        return
    if any(_is_loser(history, operation, register, value, conflict) and _is_after(history, register, winner, conflict)
           for conflict in history.conflicts[register]):
        return
    if winner is None and history.initial.get(register) != final:
        story = [describe(operation, register), f"finally it is {short(final)}, which nobody wrote"]
    else:
        before = describe(winner, register) if winner else "that was there at the beginning"
        story = [describe(operation, register), f"finally it is {short(final)} again: {before}"]
    _once(history, reported, register, "lost-write", story, [operation.line] + ([winner.line] if winner else []))


def _came_before(history, winner, operation, register, final):
    """Whether one write was over, and known where the other was made. A write at another daemon that had not arrived
    may be sent later, and replaces what the upstream has by then if the upstream has no versions."""
    if winner.at in (UPSTREAM, operation.at):
        return winner.end < operation.start
    met = history.versions[operation.at].get(register, {}).get(final)
    return met is not None and met.known < operation.start


def _is_loser(history, operation, register, value, conflict):
    """Whether this write, or a later one that replaced it, lost in a conflict, or waits for a choice."""
    loser = {"server": "local", "local": "server"}.get(conflict["winner"])
    if loser is None or conflict.get("undone"):
        return True
    lost = plain(conflict[loser])
    if lost == value:
        return True
    writer = history.writers.get((register, lost))
    return writer is not None and writer.end >= operation.start


def _is_after(history, register, final, conflict):
    """Whether the final value may have replaced the one that won the conflict, if it is not that one."""
    if conflict["winner"] is None or conflict.get("undone") or final is None:
        return True
    won = history.writers.get((register, plain(conflict[conflict["winner"]])))
    return won is None or final is won or final.at not in (UPSTREAM, conflict["at"]) or final.end >= won.start


def _once(history, reported, register, name, story, lines):
    if (name, register) not in reported:
        reported.add((name, register))
        history.report(name, history.place(register), story, lines)
