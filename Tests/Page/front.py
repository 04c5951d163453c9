"""A proxy with TLS in front of the daemon's page, as docs/guides/securing.md has it: it leaves Host as the reader called it."""
import select
import socket
import ssl
import subprocess
import threading
from pathlib import Path

from shop import Failed

# The browser finds this name on the machine itself: see window.py.
NAME = "shop.test"


class Front:
    """Listens on a port of its own with a certificate that it made, and forwards to `target` until it is closed."""

    def __init__(self, target, folder):
        host, _, port = target.rpartition(":")
        self.target = (host, int(port))
        key, certificate = Path(folder) / "front.key", Path(folder) / "front.pem"
        made = subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
             "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}", "-keyout", key, "-out", certificate],
            capture_output=True, text=True)
        if made.returncode:
            raise Failed(f"openssl made no certificate: {made.stderr[-500:]}")
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.address = f"https://{NAME}:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=[near], daemon=True).start()

    def serve(self, near):
        try:
            with self.context.wrap_socket(near, server_side=True) as near, socket.create_connection(self.target) as far:
                # One thread for both directions: a TLS connection is not for two at once.
                while all(self.pass_on(*pair) for pair in self.await_data(near, far)):
                    pass
        except OSError:
            pass  # the browser or the daemon has closed the connection

    @staticmethod
    def await_data(near, far):
        ready = [near] if near.pending() else select.select([near, far], [], [])[0]
        return [(one, far if one is near else near) for one in ready]

    @staticmethod
    def pass_on(source, target):
        """False when the source has ended."""
        source.settimeout(0)
        try:
            data = source.recv(65_536)
        except ssl.SSLWantReadError:
            return True  # a part of a TLS record
        finally:
            source.settimeout(None)
        target.sendall(data)
        return data != b""

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
