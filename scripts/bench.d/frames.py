"""How many pages a daemon writes into its log."""

import os
import sqlite3
import struct


class Frames:
    """Counts frames of the write-ahead log. A reader holds the log open meanwhile, so that it begins again at most once: at the
    first write, if all of it was in the database by then."""

    def __init__(self, database):
        # Closed after the reader: closing a file releases all locks that this process has on it.
        self.index = os.open(f"{database}-shm", os.O_RDONLY)
        self.reader = sqlite3.connect(f"file:{database}?mode=ro", uri=True, isolation_level=None)

    def __enter__(self):
        self.reader.execute("BEGIN")
        self.reader.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        return self

    def __exit__(self, *_):
        self.reader.close()
        os.close(self.index)

    def during(self, work):
        """The frames of the transactions that `work` commits."""
        salt, before = self.last()
        work()
        new, after = self.last()
        return after - before if new == salt else after

    def last(self):
        """What tells this log from those before it, and its last valid frame (`aSalt` and `mxFrame` in
        https://www.sqlite.org/walformat.html#the_wal_index_header)."""
        frame, salt = struct.unpack("=16xI12xQ", os.pread(self.index, 40, 0))
        return salt, frame
