"""Injects I/O errors and crashes into the running daemon; `shims/faults.c` is the other half."""
import errno
import mmap
import struct
from pathlib import Path

from . import shim

DATABASE, LOG, INDEX, CONTENT, BACKUP, OTHER = (1 << bit for bit in range(6))
WRITE, SYNC, TRUNCATE, CREATE, RENAME, REMOVE = (1 << bit for bit in range(6))
KILL, FAIL, TEAR = 1, 2, 3
ALWAYS, PUSH_ANSWERED, PAGE_ANSWERED = 0, 1, 2

_HEAD = struct.Struct("<iiiiiiqqq")
_SIZE = _HEAD.size + 36 * 8


class Faults:
    """The faults of a daemon that was started with `environment`."""

    def __init__(self, folder, state):
        path = Path(folder) / "faults"
        path.write_bytes(bytes(_SIZE))
        self.file = open(path, "r+b")
        self.memory = mmap.mmap(self.file.fileno(), _SIZE)
        self.environment = {
            "LD_PRELOAD": shim.build("faults"), "TORTURE_FAULTS": str(path), "TORTURE_STATE": str(state)}

    def arm(self, action, files, operations, after=0, times=1, since=ALWAYS, error=errno.EIO):
        """Lets `after` operations pass, then injects the fault into the next `times` (-1: all). Counts from the
        event `since`."""
        self.clear()
        _HEAD.pack_into(self.memory, 0, 0, error, files, operations, since, 0, after, times, 0)
        struct.pack_into("<i", self.memory, 0, action)

    def clear(self):
        struct.pack_into("<i", self.memory, 0, 0)

    @property
    def injected(self):
        """How many faults were injected since `arm`."""
        return _HEAD.unpack_from(self.memory, 0)[8]

    def count(self, files, operations):
        """How many operations of these kinds have happened so far."""
        counts = struct.unpack_from("<36q", self.memory, _HEAD.size)
        return sum(counts[file * 6 + operation] for file in range(6) for operation in range(6)
                   if files >> file & 1 and operations >> operation & 1)

    def close(self):
        self.memory.close()
        self.file.close()
