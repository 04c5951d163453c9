"""Two network namespaces, joined by a wire with adjustable packet loss. Needs root.

The process of the test moves into the far namespace, where the upstream runs; the daemon runs in the near one. The wire
is two TAP devices and a thread that forwards frames between them, so packet loss needs no kernel module.
"""
import ctypes
import fcntl
import os
import random
import select
import struct
import subprocess
import threading

from .programs import Failed

NEAR, FAR = "10.77.0.1", "10.77.0.2"
_CLONE_NEWNET, _TUNSETIFF, _TUNSETCARRIER = 0x40000000, 0x400454CA, 0x400454E2
_IFF_TAP, _IFF_NO_PI = 0x0002, 0x1000
_libc = ctypes.CDLL(None, use_errno=True)


def is_possible():
    return os.geteuid() == 0 and os.path.exists("/dev/net/tun") and subprocess.run(
        ["unshare", "-n", "true"], capture_output=True).returncode == 0


class Wire:
    """`prefix` is a command that runs another in the near namespace."""

    def __init__(self, seed):
        self.loss = 0.0
        self.random = random.Random(seed)
        self.lost = self.forwarded = 0
        self.is_plugged_in = True
        if _libc.unshare(_CLONE_NEWNET):
            raise Failed(f"cannot create a network namespace: {os.strerror(ctypes.get_errno())}")
        self._run("ip", "link", "set", "lo", "up")
        self.holder = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo here; exec sleep 100000"],
                                       stdout=subprocess.PIPE, text=True)
        self.holder.stdout.readline()
        self.prefix = ["nsenter", "-n", "-t", str(self.holder.pid)]
        self.far = self._tap("far0")
        self.near = self._in_near(lambda: self._tap("near0"))
        self._run("ip", "addr", "add", f"{FAR}/24", "dev", "far0")
        self._run("ip", "link", "set", "far0", "up")
        self.near_run("ip", "link", "set", "lo", "up")
        self.near_run("ip", "addr", "add", f"{NEAR}/24", "dev", "near0")
        self.near_run("ip", "link", "set", "near0", "up")
        self.is_open = True
        self.thread = threading.Thread(target=self._forward, daemon=True)
        self.thread.start()

    def near_run(self, *command):
        return self._run(*self.prefix, *command)

    def set_carrier(self, is_on):
        """Plugs the cable in or pulls it out. Returns when the kernel has reported the change, which may take a
        second, because the kernel limits reports about a flapping link."""
        self.is_plugged_in = is_on
        fcntl.ioctl(self.near, _TUNSETCARRIER, struct.pack("i", is_on))
        while ("LOWER_UP" in self.near_run("ip", "-o", "link", "show", "near0")) != is_on or (
                "state DOWN" in self.near_run("ip", "-o", "link", "show", "near0")) == is_on:
            pass

    def _in_near(self, body):
        with open("/proc/self/ns/net") as here, open(f"/proc/{self.holder.pid}/ns/net") as there:
            _libc.setns(there.fileno(), _CLONE_NEWNET)
            try:
                return body()
            finally:
                _libc.setns(here.fileno(), _CLONE_NEWNET)

    @staticmethod
    def _tap(name):
        tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(tap, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TAP | _IFF_NO_PI))
        return tap

    @staticmethod
    def _run(*command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"{' '.join(command)}: {done.stderr}")
        return done.stdout

    def _forward(self):
        other = {self.near: self.far, self.far: self.near}
        while self.is_open:
            for end in select.select(list(other), [], [], 0.2)[0]:
                try:
                    frame = os.read(end, 65_536)
                    if not self.is_plugged_in:
                        continue
                    if self.loss and self.random.random() < self.loss:
                        self.lost += 1
                        continue
                    self.forwarded += 1
                    os.write(other[end], frame)
                except OSError:
                    pass  # an end that is down neither sends nor receives

    def close(self):
        self.is_open = False
        self.thread.join()
        os.close(self.near)
        os.close(self.far)
        self.holder.kill()
        self.holder.wait()
