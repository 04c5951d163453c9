"""Network namespaces on two bridges: one leads to etcd, the other to the upstream."""
import os
import subprocess

MEMBERS, DAEMONS = ["e1", "e2", "e3"], ["d1", "d2"]


def ip(*words, check=True):
    return subprocess.run(["ip", *words], check=check, capture_output=True, text=True)


def why_not():
    """Why no namespaces can be made; None if they can."""
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    name = f"rm-try-{os.getpid()}"
    try:
        made = ip("netns", "add", name, check=False)
        ip("netns", "del", name, check=False)
    except FileNotFoundError:
        return "apt-get install iproute2"
    return None if made.returncode == 0 else f"no network namespace can be made: {made.stderr.strip()}"


class Network:
    """A namespace for each member and each daemon. All names have this process's number, so that runs do not meet."""

    def __init__(self):
        self.tag = f"{os.getpid() % 10000:04d}"
        # Two runs at once have other addresses, too.
        self.base = 2 * (os.getpid() % 100)

    def __enter__(self):
        try:
            for bridge, net in (("e", self.base), ("u", self.base + 1)):
                ip("link", "add", self.bridge(bridge), "type", "bridge")
                ip("addr", "add", f"10.77.{net}.1/24", "dev", self.bridge(bridge))
                ip("link", "set", self.bridge(bridge), "up")
            for number, name in enumerate(MEMBERS + DAEMONS):
                ip("netns", "add", self.namespace(name))
                ip("-n", self.namespace(name), "link", "set", "lo", "up")
                self.connect(name, "e", number)
                if name in DAEMONS:
                    self.connect(name, "u", number)
        except subprocess.CalledProcessError as error:
            self.__exit__()
            raise RuntimeError(f"{error.cmd}: {error.stderr}") from error
        return self

    def __exit__(self, *_):
        for name in MEMBERS + DAEMONS:
            # The kernel removes a namespace, and what is in it, some time later.
            for kind in "eu":
                ip("link", "del", f"rm{self.tag}{name}{kind}", check=False)
            ip("netns", "del", self.namespace(name), check=False)
        for bridge in "eu":
            ip("link", "del", self.bridge(bridge), check=False)

    def bridge(self, kind):
        return f"rm{kind}{self.tag}"

    def namespace(self, name):
        return f"rm-{self.tag}-{name}"

    def connect(self, name, kind, number):
        outer, inner = f"rm{self.tag}{name}{kind}", f"{kind}0"
        ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", self.namespace(name))
        ip("link", "set", outer, "master", self.bridge(kind), "up")
        ip("-n", self.namespace(name), "addr", "add", f"{self.address(name, kind)}/24", "dev", inner)
        ip("-n", self.namespace(name), "link", "set", inner, "up")

    def address(self, name, kind):
        net = self.base + (0 if kind == "e" else 1)
        return f"10.77.{net}.{10 + (MEMBERS + DAEMONS).index(name)}"

    @property
    def upstream_address(self):
        return f"10.77.{self.base + 1}.1"

    def cut(self, name, kind, is_cut=True):
        """Cuts the cable at its outer end: the namespace notices nothing but silence."""
        ip("link", "set", f"rm{self.tag}{name}{kind}", "down" if is_cut else "up")

    def start(self, name, command, log):
        words = ["ip", "netns", "exec", self.namespace(name), *map(str, command)]
        return subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
