"""A hostile upstream: endless answers, compression bombs, redirects; over TLS with any certificate."""
import http.server
import json
import socket
import threading
import zlib

GIB = 1 << 30


class Hostile:
    """Serves the API of schema.yaml; `answer(handler)` answers the requests for notes. Records every request."""

    def __init__(self, answer, context=None):
        self.requests = []
        hostile = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do(self):
                length = int(self.headers.get("Content-Length") or 0)
                self.body = self.rfile.read(length)
                hostile.requests.append((self.command, self.path, dict(self.headers.items()), self.body))
                if self.path.startswith("/api/notes"):
                    return answer(self)
                self.reply(200, {"data": {"id": "me"} if self.path == "/api/me" else []})

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do

            def reply(self, status, body, headers=()):
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def get_request(self):
                connection, address = super().get_request()
                hostile.connections += 1
                if context:
                    connection = context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
                return connection, address

            def finish_request(self, request, client_address):
                try:
                    super().finish_request(request, client_address)
                except OSError:
                    pass  # the caller has disconnected

        self.connections = 0
        self.server = Server(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def request_count(self, prefix):
        return sum(path.startswith(prefix) for _, path, _, _ in self.requests)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def flood(headers, opening=b"", block=b" " * 65_536, status=200):
    """Answers with 1 GiB, until the caller closes the connection."""
    def answer(handler):
        handler.send_response(status)
        for name, value in headers:
            handler.send_header(name, value)
        handler.end_headers()
        handler.close_connection = True
        try:
            handler.wfile.write(opening)
            for _ in range(GIB // len(block)):
                handler.wfile.write(block)
        except OSError:
            pass  # the caller has closed the connection
    return answer


def bomb(encoding):
    """Answers with about 1 MiB that decompresses to 1 GiB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31 if encoding == "gzip" else 15)
    parts = [packer.compress(b'{"data":[')]
    parts += [packer.compress(b" " * (1 << 20)) for _ in range(1024)]
    body = b"".join(parts) + packer.flush()
    return lambda handler: handler.reply(200, body, [("Content-Encoding", encoding)])


def header_fields(handler):
    """Answers with an endless list of header fields."""
    handler.close_connection = True
    try:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(200_000):
            handler.wfile.write(f"X-{number}: {'a' * 5000}\r\n".encode())
    except OSError:
        pass


_RECORD = json.dumps({"id": "n", "text": "a" * 65_000}).encode() + b","

# Answers that are too large to store.
OVERSIZED = {
    "announced": lambda: flood([("Content-Length", str(GIB))]),
    "unannounced": lambda: flood([("Connection", "close")]),
    "chunked": lambda: flood(
        [("Transfer-Encoding", "chunked")], block=b"10000\r\n" + b" " * 65_536 + b"\r\n"),
    "records": lambda: flood([("Connection", "close")], b'{"data":[', _RECORD),
    "error_text": lambda: flood([("Connection", "close")], b'{"error":"', b"a" * 65_536, 500),
    "header_fields": lambda: header_fields,
    "gzip_bomb": lambda: bomb("gzip"),
    "deflate_bomb": lambda: bomb("deflate"),
}
