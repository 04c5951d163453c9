"""Many machines: files of conf.d with a pinned schema; bundles, of which a machine takes only what minisign has signed."""
import functools
import hashlib
import http.server
import threading

from lib.programs import Upstream, await_true
from machine import SCHEMA, Machine, blocks, require

PASSWORD = "a password\n"


class Served:
    """A web server that nobody needs to trust."""

    def __init__(self, folder):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}"


def bundle(number):
    """What docs/config.md shows, with a schema that is one."""
    shown = blocks("config.md", "Signed bundles", "yaml")[0]
    settings, found, _ = shown.partition("schema: |\n")
    require(found and "bundle: 12 " in settings, "docs/config.md shows no bundle 12 with a schema")
    schema = "".join(f"  {line}" for line in SCHEMA.read_text().splitlines(True))
    return settings.replace("bundle: 12 ", f"bundle: {number} ") + found + schema


def follow_files(folder, upstream):
    """What all machines share, and what differs, in files of conf.d."""
    shared, own = blocks("guides/fleets.md", "One configuration for all", "yaml")
    check, = blocks("guides/fleets.md", "One configuration for all", "sh")
    machine = Machine(folder / "files", upstream, "another-name")
    pins = hashlib.sha256(SCHEMA.read_bytes()).hexdigest()
    head, found, _ = shared.partition("schema: { name: shop, version: 7, sha256: ")
    require(found, "the guide pins another schema")
    machine.base = "".join(line for line in machine.base.splitlines(True) if not line.startswith(("schema:", "  interval:")))
    machine.set("")
    files = machine.folder / "conf.d"
    files.mkdir()
    (files / "10-fleet.yaml").write_text(f"{head}schema: {{ name: {SCHEMA}, sha256: {pins} }}\n")
    (files / "20-machine.yaml").write_text(own)
    try:
        machine.start()
        said = machine.run(check)
        for place in ("10-fleet.yaml:2", "20-machine.yaml:2"):
            require(place in said, f"--origin does not name {place}:\n{said}")
        require('instance="till-2",site="north"' in machine.call("GET", "/metrics").body.decode(), "conf.d has no effect")
        (files / "10-fleet.yaml").write_text(f"{head}schema: {{ name: {SCHEMA}, sha256: {'0' * 64} }}\n")
        machine.run(check, fails=True)
    finally:
        machine.stop()


def follow(folder):
    create, sign, install = blocks("guides/fleets.md", "Signed bundles", "sh")
    upstream = Upstream(SCHEMA)
    follow_files(folder, upstream)
    signer = Machine(folder / "signer", upstream, "office")
    signer.run(create, PASSWORD * 2)
    served = Served(signer.folder)
    install = install.replace("https://config.example", served.address)
    require(install.count(served.address) == 2, "the guide fetches a bundle and its signature")

    def signed(number):
        (signer.folder / "bundle.yaml").write_text(bundle(number))
        signer.run(sign, PASSWORD)

    def uses(number):
        return f'bundle="{number}"' in machine.call("GET", "/metrics").body.decode()

    machine = Machine(folder / "machine", upstream, "till-2")
    # The schema comes with the bundle, and so does the interval.
    machine.base = machine.base.replace(f"schema: {SCHEMA}\n", "").replace("  interval: 200ms\n", "")
    key = (signer.folder / "fleet.pub").read_text().splitlines()[1]
    machine.set(f"bundle: {{ file: installed.yaml, public_key: {key} }}")
    try:
        signed(12)
        machine.run(install.split(" && sudo systemctl")[0])
        machine.start()
        require(uses(12), "/metrics does not have the bundle's number")
        signed(13)
        machine.run(install)
        await_true(lambda: uses(13), 20, "a reload does not take the bundle")
        said = machine.run("repairminder-sync check-config")
        require("every 30 minutes" in said, f"check-config does not print the signed comment:\n{said}")
        (signer.folder / "bundle.yaml").write_text(bundle(14))
        said = machine.run(install, fails=True)
        require("signature" in said, f"a bundle that was not signed is refused without words:\n{said}")
        signed(12)
        machine.run(install, fails=True)
        machine.run(install.replace("bundle install", "bundle install --allow-older"))
        await_true(lambda: uses(12), 20, "the older bundle is not in use")
        return "configured by conf.d; signed, installed, refused, and an older one brought back"
    finally:
        machine.stop()
        served.server.shutdown()
        upstream.stop()
