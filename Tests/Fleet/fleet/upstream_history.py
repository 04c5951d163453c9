"""What the upstream has done, in its own order: its log says which changes it applied, the taps say what was in them."""
import json
from collections import Counter
from dataclasses import dataclass
from urllib.parse import unquote

from lib.programs import Failed


@dataclass(frozen=True)
class Applied:
    machine: int
    method: str
    entity: str
    id: str  # empty for a creation
    values: dict


def applied(upstream, machines):
    """The machines' changes that the upstream has applied, oldest first."""
    sent = {}
    for machine in machines:
        for one in machine.tap.sent:
            other = sent.setdefault(one.key, one)
            if (other.machine, other.method, other.path) != (one.machine, one.method, one.path) or other.body != one.body:
                raise Failed(f"two changes have one idempotency key: {other} and {one}")
    entries = [entry for entry in upstream.log() if entry["applied"] and entry["idempotency_key"]]
    twice = [key for key, count in Counter(entry["idempotency_key"] for entry in entries).items() if count > 1]
    if twice:
        raise Failed(f"applied twice: {[sent.get(key) for key in twice][:3]}")
    done = []
    for entry in entries:
        one = sent[entry["idempotency_key"]]
        steps = unquote(one.path).removeprefix("/api/").split("/")
        done.append(Applied(one.machine, one.method, steps[0], steps[1] if len(steps) > 1 else "",
                            json.loads(one.body) if one.body else {}))
    return done
