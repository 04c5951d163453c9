"""A relay between the daemon and its upstream that notes when each piece of data passes."""

import select
import socket
import threading
import time


class Relay:
    """Passes bytes on unchanged, in a thread of its own, until `stop`."""

    def __init__(self, upstream_port):
        self.upstream = ("127.0.0.1", upstream_port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        # Piece by piece: the time, whether it came from the upstream, and the bytes.
        self.passed = []
        self.ends = {}
        self.waker, self.wake = socket.socketpair()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        poll = select.epoll()
        poll.register(self.listener, select.EPOLLIN)
        poll.register(self.waker, select.EPOLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == self.waker.fileno():
                    return
                if descriptor == self.listener.fileno():
                    self.accept(poll)
                elif descriptor in self.ends:
                    self.move(poll, descriptor)

    def accept(self, poll):
        caller, _ = self.listener.accept()
        callee = socket.create_connection(self.upstream)
        for source, target, answers in ((caller, callee, False), (callee, caller, True)):
            source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.ends[source.fileno()] = source, target, answers
            poll.register(source, select.EPOLLIN)

    def move(self, poll, descriptor):
        source, target, answers = self.ends[descriptor]
        try:
            piece = source.recv(1 << 20)
            target.sendall(piece)
        except OSError:
            piece = b""
        if piece:
            self.passed.append((time.time(), answers, piece))
            return
        for end in (source, target):
            poll.unregister(end)
            del self.ends[end.fileno()]
            end.close()

    def time_of(self, text, answers):
        """When the first piece with this text passed, of the requests or of the answers."""
        return next(
            at for at, from_upstream, piece in list(self.passed) if from_upstream == answers and text.encode() in piece)

    def first_answer(self, after):
        """When the upstream first answered after this time."""
        return next(at for at, from_upstream, _ in list(self.passed) if from_upstream and at > after)

    def stop(self):
        self.wake.send(b"x")
        self.thread.join()
        self.listener.close()
