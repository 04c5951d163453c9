"""The floor of every read: the same bytes as files from nginx, or from our own server where nginx is not installed."""

import shutil

import load
from programs import Program, free_port

CONFIGURATION = """
daemon off; worker_processes 2; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; default_type application/json;
  open_file_cache max=4000 inactive=1h; open_file_cache_valid 1h;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port}; root {folder}/files; }}
}}
"""


class Nginx:
    """Serves the given files at generated paths; its port opens with the first load."""

    def __init__(self, shop):
        self.shop, self.program = shop, None
        self.folder = shop.folder("nginx")
        self.files = self.folder / "files"
        self.files.mkdir()
        self.port = free_port()
        self.name = "nginx" if executable() else "the same bytes from memory"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.program:
            self.program.stop()

    def serve(self, name, content):
        """The path of a new file with this content."""
        path = self.files / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        # The server that stands in for nginx reads its files when it starts.
        if not executable():
            self.__exit__()
            self.program = None
        return f"/{name}"

    def load(self, calls, connections, seconds):
        if not self.program:
            self.program = Program(self.command(), self.folder / "log")
            self.program.await_port(self.port)
        return load.measure(("127.0.0.1", self.port), calls, connections, seconds)

    def command(self):
        if not executable():
            return [self.shop.binaries / "bench-server", "--listen", f"127.0.0.1:{self.port}", "--files", self.files]
        configuration = self.folder / "nginx.conf"
        configuration.write_text(CONFIGURATION.format(folder=self.folder, port=self.port))
        # nginx workers may run as another user, who must be able to read the files.
        for folder in (self.shop.work, self.folder, self.files):
            folder.chmod(0o755)
        return [executable(), "-e", self.folder / "error.log", "-c", configuration]


def executable():
    return shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
