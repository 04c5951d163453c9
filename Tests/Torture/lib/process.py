"""What the kernel reports about a process: memory, descriptors, CPU time."""
import os
from pathlib import Path


def _status(pid, name):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    raise KeyError(name)


def memory(pid):
    """KiB of anonymous memory, without file pages, which belong to the kernel's cache."""
    return _status(pid, "RssAnon")


def peak(pid):
    """The peak in KiB since `forget_peak`, including file pages."""
    return _status(pid, "VmHWM")


def resident(pid):
    """KiB, including file pages."""
    return _status(pid, "VmRSS")


def forget_peak(pid):
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def processor_time(pid):
    """CPU time in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
