"""Follows the guide: its commands are run, and print what it shows."""
import os
import re
import signal
import subprocess
from pathlib import Path

from lib.programs import BIN, ROOT, Failed

GUIDE = ROOT / "docs" / "guides" / "reports.md"


def blocks(text):
    """The `sh` blocks, each with the `text` block right below it, or None."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    for index, (language, body) in enumerate(fences):
        if language == "sh":
            shown = fences[index + 1] if index + 1 < len(fences) else ("", "")
            yield body, shown[1] if shown[0] == "text" else ""


def guide(postgres, folder, arguments):
    """With the demo, and a PostgreSQL that lets everyone in."""
    demo = subprocess.Popen([BIN / "repairminder-sync", "demo", "--port", "0"], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    try:
        port = _port(demo)
        environment = {**os.environ, **postgres.environment, "REPAIRMINDER_SYNC_LISTEN_TCP": f"127.0.0.1:{port}",
                       "REPAIRMINDER_SYNC_LISTEN_UNIX": "off", "HOME": str(folder),
                       "PATH": f"{BIN}:{postgres.bin}:{os.environ['PATH']}"}
        count = 0
        for commands, shown in blocks(GUIDE.read_text()):
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=120, env=environment, cwd=folder)
            if done.returncode or done.stdout != shown:
                raise Failed(f"{GUIDE.name}: this block:\n{commands}ended with {done.returncode} and printed:\n"
                             f"{done.stdout}and not:\n{shown}")
            count += 1
        unit = ROOT / "docs" / "examples" / "repairminder-sync-feed.service"
        _check(unit, folder)
        return f"{count} blocks"
    finally:
        demo.send_signal(signal.SIGINT)
        demo.wait(30)
        demo.stdout.close()


def _port(demo):
    """The port of the demo's daemon, once it prints that it serves."""
    said = []
    for line in demo.stdout:
        said.append(line)
        if "Ctrl-C stops everything" in line:
            return re.search(r"--address 127\.0\.0\.1:(\d+)", "".join(said))[1]
    raise Failed("the demo did not start:\n" + "".join(said))


def _check(unit, folder):
    """Has systemd read the unit, with this machine's programs in it."""
    if not Path("/usr/bin/systemd-analyze").exists():
        return
    copy = Path(folder, unit.name)
    copy.write_text(unit.read_text().replace("/usr/bin/repairminder-sync", "/bin/true"))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True)
    if done.returncode or unit.name in done.stderr:
        raise Failed(f"systemd-analyze verify: {done.stderr}")
