"""Describes the machine."""

import os
import platform
import shutil
import sqlite3
import subprocess
from pathlib import Path

PROGRAMS = [
    ["swift", "--version"], ["curl", "--version"], ["sqlite3", "--version"], ["nginx", "-v"], ["/usr/sbin/nginx", "-v"],
    ["wrk", "-v"], ["valgrind", "--version"],
]


def description():
    found = {}
    for command in PROGRAMS:
        if shutil.which(command[0]):
            answer = subprocess.run(command, capture_output=True, text=True)
            line = (answer.stdout + answer.stderr).strip().splitlines()[0]
            found[Path(command[0]).name] = f"`{line[:60].strip()}`"
    return (
        "## The machine\n\n"
        f"{os.cpu_count()} cores of {processor()}, {memory()} GiB of memory, {platform.system()} {platform.release()}, "
        f"SQLite {sqlite3.sqlite_version}; {', '.join(found.values())}.\n")


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def memory():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30
