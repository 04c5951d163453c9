"""A port for a program that is started later."""
import random
import socket


def free_port():
    """A port below those that the kernel gives to connections, so that it is still free when the program takes it."""
    for port in random.SystemRandom().sample(range(20_000, 32_000), 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise OSError("no port is free")
