"""What can be wrong with a history, and how it is reported."""
from dataclasses import dataclass

NAMES = {
    "unknown-value": "a read shows a value that nobody wrote",
    "foreign-value": "a read shows a value that was written to another field or record",
    "refused-write-visible": "a read shows a write that was refused",
    "read-before-write": "a read shows a value before its write began",
    "own-write-not-in-answer": "the answer to a write shows another value than it wrote",
    "read-your-writes": "a caller does not see its own acknowledged write",
    "monotonic-reads": "a caller sees an older value than before",
    "stale-read": "a caller sees an older value than was acknowledged to another caller, or seen by it",
    "vanished-record": "a record that nobody deleted is gone",
    "deleted-record-returned": "a record is back after its deletion",
    "half-applied-write": "a read shows a part of a write",
    "lost-update": "two writes that required the same version were both accepted",
    "monotonic-writes": "a caller's later write is visible without its earlier one",
    "writes-follow-reads": "a write is visible without what its caller had seen before",
    "dependency-cycle": "each of some operations must have come before the next, in a circle",
    "overtaken-write": "a record's writes arrived elsewhere in another order",
    "doubled-creation": "a record was created once and exists twice",
    "two-copies": "a daemon shows a created record under its own id and under the upstream's",
    "merged-creations": "two created records have become one",
    "invented-conflict": "a conflict with a value that the daemon itself sent, or had before the edit",
    "lost-write": "an acknowledged value is gone, and no later write or conflict explains it",
    "lost-creation": "an acknowledged creation is gone, and nobody deleted it",
    "lost-deletion": "a record whose deletion was acknowledged still exists",
    "not-converged": "cache and upstream differ at the end",
    "not-sent": "changes wait in the queue at the end",
}


@dataclass
class Violation:
    name: str
    place: str  # what it is about: a field, a record, a queue
    story: list  # what happened, a sentence each
    lines: tuple = ()  # of the history

    def __str__(self):
        where = f" (line{'s' * (len(self.lines) > 1)} {', '.join(map(str, self.lines))})" if self.lines else ""
        return "\n    ".join([f"{self.name}: {self.place}: {NAMES[self.name]}{where}", *self.story])
