"""A certificate authority for the tests, built with the openssl command, and TLS server contexts with its
certificates."""
import ssl
import subprocess
from pathlib import Path

from .programs import Failed


class Authority:
    """Signs certificates. `ca` is the PEM file that clients must trust."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.ca = self.folder / "ca.pem"
        self._key("ca")
        self._openssl("req", "-x509", "-new", "-key", "ca.key", "-subj", "/CN=Torture CA", "-days", "2", "-out", "ca.pem")

    def context(self, name, address="IP:127.0.0.1", days=2, is_signed=True, maximum=None):
        """A server context with a certificate for `address` that expires in `days`, which may be negative."""
        self._key(name)
        self._openssl("req", "-new", "-key", f"{name}.key", "-subj", f"/CN={name}", "-out", f"{name}.csr")
        (self.folder / f"{name}.ext").write_text(f"subjectAltName={address}\n")
        signer = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"] if is_signed else ["-signkey", f"{name}.key"]
        self._openssl("x509", "-req", "-in", f"{name}.csr", *signer, "-days", str(days), "-extfile", f"{name}.ext",
                      "-out", f"{name}.pem")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / f"{name}.pem", self.folder / f"{name}.key")
        if maximum:
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
            context.maximum_version = maximum
        return context

    def _key(self, name):
        self._openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", f"{name}.key")

    def _openssl(self, *arguments):
        done = subprocess.run(["openssl", *arguments], cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"openssl {arguments[0]}: {done.stderr[-500:]}")
