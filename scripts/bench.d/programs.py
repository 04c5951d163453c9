"""Starts the suite's programs, waits until they are ready, stops them, and reads what the kernel knows about them."""

import os
import random
import signal
import socket
import subprocess
import time
from pathlib import Path


class ProgramError(Exception):
    """A program ended, or did not become ready."""


class Program:
    """One started program; its output goes to a file, which `ready` searches."""

    def __init__(self, command, log, environment=None, folder=None):
        self.log = Path(log)
        with open(self.log, "wb") as output:
            self.process = subprocess.Popen(
                [str(part) for part in command], stdout=output, stderr=subprocess.STDOUT, cwd=folder,
                env={**os.environ, **(environment or {})}, process_group=0)
        self.name = Path(str(command[0])).name

    @property
    def pid(self):
        return self.process.pid

    def await_ready(self, ready, seconds=120, every=0.01):
        """Calls `ready` until it returns something, and returns that."""
        deadline = time.monotonic() + seconds
        while True:
            found = ready()
            if found:
                return found
            if self.process.poll() is not None:
                raise ProgramError(f"{self.name} ended with {self.process.returncode}:\n{self.log.read_text()[-2000:]}")
            if time.monotonic() > deadline:
                raise ProgramError(f"{self.name} was not ready after {seconds} s; its log is {self.log}")
            time.sleep(every)

    def await_line(self, prefix, seconds=300):
        """The rest of the first output line that contains `prefix`."""
        def found():
            for line in self.log.read_text(errors="replace").splitlines():
                if prefix in line:
                    return line.partition(prefix)[2].strip() or True
            return None
        return self.await_ready(found, seconds)

    def await_port(self, port, seconds=120):
        self.await_ready(lambda: accepts(port), seconds)

    def stop(self):
        """Stops the program and everything it started."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    # What the kernel knows

    def status(self, key):
        """A number of /proc/PID/status, such as VmRSS in KiB."""
        return field(f"/proc/{self.pid}/status", key)

    def processor_seconds(self):
        """CPU time in user space and in the kernel."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def bytes_written(self):
        """Bytes that it made the disks write."""
        return field(f"/proc/{self.pid}/io", "write_bytes")

    def wake_ups(self):
        """Voluntary context switches by thread; those of a thread that has ended are lost."""
        tasks = Path(f"/proc/{self.pid}/task")
        return {task.name: field(task / "status", "voluntary_ctxt_switches") for task in tasks.iterdir()}


def field(path, key):
    for line in Path(path).read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1])
    raise KeyError(key)


def accepts(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def free_port():
    """A port below the kernel's ephemeral range, so it is still free when the program restarts."""
    for port in random.sample(range(20_000, 32_000), 100):
        with socket.socket() as taken:
            try:
                taken.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise ProgramError("no port is free")
