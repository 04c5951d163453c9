"""What answers in PostgreSQL's place, and says that a row has a gigabyte."""
import contextlib
import socket
import struct
import threading

SIZE = 1_000_000_000


def message(kind, body=b""):
    return kind + struct.pack(">I", len(body) + 4) + body


READY = message(b"Z", b"I")
GREETING = b"".join([
    message(b"R", struct.pack(">I", 0)), message(b"S", b"server_version\x0015.0\0"),
    message(b"S", b"client_encoding\0UTF8\0"), message(b"S", b"standard_conforming_strings\0on\0"),
    message(b"K", struct.pack(">II", 1, 2)), READY])
COLUMN = message(b"T", struct.pack(">H", 1) + b"x\0" + struct.pack(">IHIhih", 0, 0, 25, -1, -1, 0))
ROW = b"D" + struct.pack(">IHI", SIZE + 10, 1, SIZE)


class Liar:
    """An address of a database for `Feed`."""

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def address(self, database):
        return f"postgresql://feed@127.0.0.1:{self.listener.getsockname()[1]}/{database}?sslmode=disable"

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._answer, args=(self.listener.accept()[0],), daemon=True).start()

    def _answer(self, connection):
        # It goes away when it has enough.
        with connection, contextlib.suppress(OSError):
            connection.recv(65536)
            connection.sendall(GREETING)
            connection.recv(65536)
            connection.sendall(message(b"1") + message(b"2") + COLUMN + ROW)
            for _ in range(SIZE // 1_000_000):
                connection.sendall(bytes(1_000_000))
            connection.sendall(message(b"C", b"SELECT 1\0") + READY)
