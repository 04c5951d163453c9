"""Simulates a power failure: computes from the notes of `shims/power.c` what a disk may still hold of a state folder.

Unsynced writes are dropped, kept, or partly kept: any subset of whole writes, or of their sectors. A file name that was
created, changed or removed is durable once its folder was synced. Of the later name changes a prefix is kept: one
prefix over all folders, as on a file system that journals names, or one for each folder.
"""
import os
import shutil
import struct
from pathlib import Path

from . import shim

(WRITTEN, TRUNCATED, SYNCING, SYNCED, CREATED, RENAMED, REMOVED, FOLDER_CREATED, LINKED, SYMLINKED, LOCK_HELD,
 LOCK_RELEASED) = range(1, 13)
_NOTE = struct.Struct("<IIQQQ")
_SECTOR = 512


class File:
    """The part of a file that is certainly on disk, and the later changes in order."""

    def __init__(self, content=b""):
        self.durable = bytearray(content)
        self.pending = []  # (what, offset, bytes)
        self.settled = 0

    @property
    def changes(self):
        """The number of changes so far."""
        return self.settled + len(self.pending)

    def settle(self, count):
        """Marks the first `count` changes as on disk."""
        fresh = self.pending[:max(0, count - self.settled)]
        for change in fresh:
            _apply(self.durable, change)
        self.settled += len(fresh)
        del self.pending[:len(fresh)]


class Power:
    """The disk of a daemon that was started with `environment`. Has the same interface as `Faults`."""

    is_honest = True  # synced data is on disk
    losses = ("all", "none", "writes", "sectors")

    def __init__(self, folder, state):
        self.state = str(state)
        self.notes = Path(folder) / "notes"
        self.environment = {
            "LD_PRELOAD": shim.build("power", "-lsqlite3"), "TORTURE_NOTES": str(self.notes), "TORTURE_STATE": self.state}
        self.watch()

    def watch(self):
        """Starts over: everything that exists now counts as on disk. Call it while no daemon runs."""
        self.notes.write_bytes(b"")
        self.files, self.symlinks, self.names = {}, {}, {}
        self.unsettled, self.name_changes = [], 0
        parent = os.path.dirname(self.state)
        self.names[parent] = ("folder", os.lstat(parent).st_ino)
        for folder, folders, files in os.walk(self.state):
            self.names[folder] = ("folder", os.lstat(folder).st_ino)
            for name in folders + files:
                path = os.path.join(folder, name)
                number = os.lstat(path).st_ino
                if os.path.islink(path):
                    self.names[path] = ("symlink", number)
                    self.symlinks[number] = os.readlink(path)
                elif not os.path.isdir(path):
                    self.names[path] = ("file", number)
                    self.files[number] = File(Path(path).read_bytes())

    def fail(self, random):
        """Replaces the folder with what the disk may hold. Call it after killing the daemon. Returns a description
        of the loss."""
        self._replay()
        losses = random.choice(self.losses)
        self._lose_names(random)
        dropped = 0
        for file in self.files.values():
            for change in file.pending:
                dropped += _keep(file.durable, change, losses, random)
        self._write(random)
        names = ", ".join(os.path.relpath(change[3][-1], self.state) for change in self.unsettled)
        summary = f"unsynced data lost: {losses}, {dropped} changes, possibly the names of {names}"
        self.watch()
        return summary

    # Reading the notes

    def _replay(self):
        bounds = {}  # sync: the number of changes to the file, or to names, when it started
        generation = {}  # the file system reuses the inode number of a deleted file
        for what, number, offset, _, body, names in self._read():
            if what in (CREATED, FOLDER_CREATED, SYMLINKED):
                generation[number] = generation.get(number, 0) + 1
            number += generation.get(number, 0) << 64
            file = self.files.get(number)
            if what in (WRITTEN, TRUNCATED):
                if file:
                    file.pending.append((what, offset, body))
            elif what == SYNCING:
                bounds[offset] = file.changes if file else self.name_changes
            elif what == SYNCED and self.is_honest:
                if file:
                    file.settle(bounds[offset])
                else:
                    self._settle_names(number, bounds[offset])
            elif what not in (SYNCED, LOCK_HELD, LOCK_RELEASED):
                if what == CREATED:
                    self.files[number] = File()
                elif what == SYMLINKED:
                    self.symlinks[number] = names[0]
                self.name_changes += 1
                self.unsettled.append((self.name_changes, what, number, names))

    def _read(self):
        notes = memoryview(self.notes.read_bytes())
        at = 0
        while at + _NOTE.size <= len(notes):
            what, length, number, offset, size = _NOTE.unpack_from(notes, at)
            at += _NOTE.size
            names = bytes(notes[at:at + length]).decode().split("\0")[:-1]
            at += length
            body = bytes(notes[at:at + size]) if what == WRITTEN else b""
            at += len(body)
            yield what, number, offset, size, body, names

    def writing_spans(self, database):
        """For each connection that wrote to the log of the database, or checkpointed it: its first and last note of a
        write.

        The writer is the connection that held the lock. Readers hold it briefly too, when they must recover the log's
        index. Other databases in the folder have logs of their own: a backup is made in one.
        """
        locks = {f"{database}-wal": 0, str(database): 1}
        paths = {number: path for path, (kind, number) in self.names.items() if kind == "file"}
        holders, spans = {0: [], 1: []}, {}
        for at, (what, number, offset, size, _, names) in enumerate(self._read()):
            path = paths.get(number)
            if what in (CREATED, RENAMED, LINKED):
                paths[number] = names[-1]
            elif what == LOCK_HELD and path == str(database):
                holders[offset].append(size)
            elif what == LOCK_RELEASED and size in holders[offset]:
                holders[offset].remove(size)
            elif what == WRITTEN and path in locks:
                # Only a connection with exclusive access writes without the lock: on creation and on the last close.
                connection = next(iter(holders[locks[path]]), f"alone at {at}")
                first, _ = spans.get(connection, (at, at))
                spans[connection] = (first, at)
        return spans

    # Names

    def _settle_names(self, folder, bound):
        """Marks the name changes in a synced folder, up to `bound`, as on disk."""
        now = dict(self.names)
        for change in self.unsettled:
            self._rename(now, change)
        path = next((path for path, entry in now.items() if entry == ("folder", folder)), None)
        settled = [change for change in self.unsettled if change[0] <= bound and path in _folders(change)]
        self.unsettled = [change for change in self.unsettled if change not in settled]
        for change in settled:
            self._rename(self.names, change)

    def _lose_names(self, random):
        end, ends = random.randint(0, len(self.unsettled)), {}
        is_ordered = random.random() < 0.5
        for index, change in enumerate(self.unsettled):
            folder = max(_folders(change))
            last = end if is_ordered else ends.setdefault(folder, random.randint(0, len(self.unsettled)))
            if index < last:
                self._rename(self.names, change)

    def _rename(self, names, change):
        _, what, number, parts = change
        if what == RENAMED:
            old, new = parts
            below = [path for path in names if path.startswith(old + "/")]
            names.pop(old, None)
            names[new] = (self._kind(number), number)
            for path in below:
                names[new + path[len(old):]] = names.pop(path)
        elif what == REMOVED:
            names.pop(parts[0], None)
        elif what == SYMLINKED:
            names[parts[1]] = ("symlink", number)
        elif what == FOLDER_CREATED:
            names[parts[0]] = ("folder", number)
        else:
            names[parts[-1]] = ("file", number)

    def _kind(self, number):
        return "file" if number in self.files else "symlink" if number in self.symlinks else "folder"

    # Writing the disk's contents

    def _write(self, random):
        shutil.rmtree(self.state, ignore_errors=True)
        for path, (kind, what) in sorted(self.names.items()):
            if kind == "folder" and os.path.isdir(os.path.dirname(path)) and path.startswith(self.state):
                os.mkdir(path, 0o700)
        for path, (kind, what) in self.names.items():
            if kind == "folder" or not os.path.isdir(os.path.dirname(path)):
                continue
            if kind == "symlink":
                os.symlink(self.symlinks[what], path)
                continue
            durable = bytes(self.files[what].durable) if what in self.files else b""
            if path.endswith("-shm"):  # never synced: any content
                durable = random.randbytes(random.choice((0, 4096, 32768)))
            Path(path).write_bytes(durable)
            os.chmod(path, 0o600)

    def clear(self):
        """Does nothing: there is no fault to clear."""

    def close(self):
        """Does nothing: no file is open."""


def _apply(content, change):
    what, offset, body = change
    if what == TRUNCATED:
        del content[offset:]
        content.extend(bytes(offset - len(content)))
        return
    content.extend(bytes(max(0, offset + len(body) - len(content))))
    content[offset:offset + len(body)] = body


def _folders(change):
    """The folders whose names it changes."""
    _, what, _, parts = change
    return {os.path.dirname(part) for part in (parts if what == RENAMED else parts[-1:])}


def _keep(content, change, losses, random):
    """Applies the part of an unsynced change that survives; returns whether any of it was dropped."""
    what, offset, body = change
    if losses == "sectors" and what == WRITTEN:
        kept = [start for start in range(0, len(body), _SECTOR) if random.random() < 0.5]
        for start in kept:
            _apply(content, (WRITTEN, offset + start, body[start:start + _SECTOR]))
        return len(kept) * _SECTOR < len(body)
    if losses == "all" or (losses != "none" and random.random() < 0.5):
        return True
    _apply(content, change)
    return False
