"""A machine on which a guide is followed, and what a guide has."""
import os
import re
import signal
import subprocess
from pathlib import Path

from lib.programs import BIN, ROOT, Daemon, Failed

SCHEMA = ROOT / "config" / "schemas" / "repairminder.yaml"
# The flag goes before `--`, after which there are none.
COMMAND = """flag="--config {config}"
for word in "$@"; do
    shift
    [ "$word" != -- ] || {{ set -- "$@" $flag; flag=; }}
    set -- "$@" "$word"
done
exec {bin}/repairminder-sync "$@" $flag
"""


def blocks(page, part, language):
    """The blocks of one language in a part of a page; a part that is not there fails."""
    text = (ROOT / "docs" / page).read_text()
    if f"\n## {part}\n" not in text:
        raise Failed(f"{page} has no part {part}")
    body = text.split(f"\n## {part}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", body, re.M | re.S)


def every(page, language):
    """The blocks of one language in a page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / "docs" / page).read_text(), re.M | re.S)


def require(holds, complaint):
    if not holds:
        raise Failed(complaint)


class Machine:
    """A folder with a daemon, whose commands find its configuration; `reload` is what systemd would do."""

    def __init__(self, folder, upstream, instance, settings=""):
        self.folder = folder
        folder.mkdir()
        self.daemon = Daemon(folder, upstream, schema=SCHEMA)
        self.base = f"instance: {instance}\n" + self.daemon.config.read_text().replace("level: notice", "level: info")
        self.programs = folder / "programs"
        self.programs.mkdir()
        self.program("sudo", 'exec "$@"')
        self.program("repairminder-sync", COMMAND.format(bin=BIN, config=self.daemon.config))
        self.set(settings)

    def program(self, name, text):
        file = self.programs / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
        return file

    def set(self, settings):
        """Adds sections to the configuration, or lines before all of them."""
        self.daemon.config.write_text(f"{self.base}{settings}\n")

    def start(self):
        self.daemon.environment["PATH"] = self.environment["PATH"]
        self.daemon.start(within=20)
        self.program("systemctl", f"kill -HUP {self.daemon.process.pid}")
        self.client = self.daemon.client()

    @property
    def environment(self):
        return {**os.environ, "PATH": f"{self.programs}:{os.environ['PATH']}", "HOME": str(self.folder)}

    def run(self, commands, typed="", fails=False, **more):
        """What commands print in this folder; `typed` is what a person types."""
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], input=typed, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120, cwd=self.folder,
                              env={**self.environment, **more})
        if (done.returncode != 0) != fails:
            raise Failed(f"this block:\n{commands}ended with {done.returncode} and printed:\n{done.stdout}")
        return done.stdout

    def call(self, method, path, body=None):
        # A reload closes the connections of before, perhaps just as a request is sent.
        self.client.close()
        return self.client.call(method, path, body)

    def stop(self):
        if self.daemon.is_running:
            self.daemon.process.send_signal(signal.SIGTERM)
            self.daemon.process.wait(30)
