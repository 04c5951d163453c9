"""A daemon in its namespace, called over its Unix socket."""
import http.client
import json
import os
import signal
import socket
import subprocess
import time


class Connection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Daemon:
    def __init__(self, name, network, bin_folder, folder, config):
        self.name, self.network, self.bin, self.folder = name, network, bin_folder, folder
        self.socket, self.process = str(folder / f"{name}.sock"), None
        self.config = folder / f"{name}.yaml"
        self.config.write_text(config.format(state=folder / f"{name}-state", socket=self.socket))

    def start(self):
        log = open(self.folder / f"{self.name}.log", "ab")
        self.process = self.network.start(
            self.name, [self.bin / "repairminder-sync", "run", "--config", self.config], log)

    def kill(self, number=signal.SIGKILL):
        # `ip netns exec` becomes the daemon itself.
        os.kill(self.process.pid, number)
        self.process.wait()

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def call(self, method, path, body=None, headers=None, timeout=15):
        """Status and document; None and the reason without an answer."""
        connection = Connection(self.socket, timeout)
        try:
            text = None if body is None else json.dumps(body)
            fields = {"Content-Type": "application/json"} if text else {}
            connection.request(method, path, text, {**fields, **(headers or {})})
            response = connection.getresponse()
            data = response.read()
            return response.status, json.loads(data) if data.strip().startswith((b"{", b"[")) else {}
        except (OSError, http.client.HTTPException, ValueError) as error:
            return None, f"{error}"
        finally:
            connection.close()

    def status(self):
        status, document = self.call("GET", "/v1/status", timeout=5)
        return document if status == 200 else {}

    @property
    def holds_lease(self):
        return (self.status().get("standby") or {}).get("holds_lease") is True


def await_(what, condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.1)
    raise TimeoutError(what)


def stopped(process):
    if process and process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
