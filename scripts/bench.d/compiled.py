"""The suite's small C programs, compiled on first use."""

import shutil
import subprocess
from pathlib import Path


def compiler():
    return shutil.which("cc") or shutil.which("clang")


def slow_fsync(folder):
    """A library to preload."""
    return build("slow-fsync.c", folder / "slow-fsync.so", "-shared", "-fPIC", "-ldl")


def own_sigmask(folder):
    """A second library to preload: lets valgrind run programs that use libdispatch."""
    return build("own-sigmask.c", folder / "own-sigmask.so", "-shared", "-fPIC")


def list_floor(folder):
    return build("list-floor.c", folder / "list-floor", "-lsqlite3")


def build(source, target, *options):
    command = [compiler(), "-O2", "-o", str(target), str(Path(__file__).with_name(source)), *options]
    subprocess.run(command, check=True)
    return target
