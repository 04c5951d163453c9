"""A standby: etcd with TLS and users as the guide sets them up, and two daemons of which one takes over."""
import shutil
import subprocess

from lib.ports import free_port
from lib.programs import Failed, Upstream, await_true
from machine import SCHEMA, Machine, blocks, require

PASSWORD = "correct horse battery"


class Etcd:
    """One member with a certificate of its own."""

    def __init__(self, folder):
        self.folder, self.certificate, key = folder, folder / "etcd-ca.pem", folder / "etcd.key"
        folder.mkdir()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", self.certificate,
                        "-days", "2", "-subj", "/CN=etcd-1", "-addext", "subjectAltName=IP:127.0.0.1"],
                       check=True, capture_output=True)
        port, peer = free_port(), f"http://127.0.0.1:{free_port()}"
        self.address = f"https://127.0.0.1:{port}"
        self.process = subprocess.Popen(
            ["etcd", "--name", "one", "--data-dir", folder / "data", "--cert-file", self.certificate, "--key-file", key,
             "--listen-client-urls", self.address, "--advertise-client-urls", self.address, "--listen-peer-urls", peer,
             "--initial-advertise-peer-urls", peer, "--initial-cluster", f"one={peer}"],
            stdout=subprocess.DEVNULL, stderr=open(folder / "log", "wb"))
        self.variables = {"ETCDCTL_API": "3", "ETCDCTL_ENDPOINTS": self.address, "ETCDCTL_CACERT": str(self.certificate)}

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


def set_up(etcd, machine):
    """Makes the users; etcdctl asks for passwords in a terminal."""
    variables = {**machine.environment, **etcd.variables}

    def is_healthy():
        return subprocess.run(["etcdctl", "endpoint", "health"], env=variables, capture_output=True).returncode == 0
    await_true(is_healthy, 20, "etcd does not answer")
    commands, = blocks("guides/standby.md", "Set it up", "sh")
    file = machine.folder / "commands"
    file.write_text(f"set -e\n{commands}")
    machine.run(f"script --quiet --return --echo never --command 'bash {file}' /dev/null", f"{PASSWORD}\n" * 4, **etcd.variables)


def bring_over(folder, settings, upstream):
    """Without standby.sync: what a dead daemon had not sent comes from its copy, here one that has everything."""
    first, second = (Machine(folder / f"copied-{name}", upstream, name, settings) for name in ("till-1", "till-2"))
    try:
        first.start()
        first.run("repairminder-sync sync --wait")
        await_true(lambda: holds(first), 20, "no daemon holds the lease")
        give_key(first, second)
        second.start()
        second.run("repairminder-sync sync --wait")
        order = f"/v1/orders/{first.call('GET', '/v1/orders?limit=1').json['data'][0]['id']}"
        upstream.faults({"effect": "offline"})
        require(first.call("PATCH", order, {"notes": "Not sent yet"}).status == 200, "the holder refuses a write")
        first.daemon.kill()
        second.program("litestream", f'[ "$1 $2" = "restore -o" ] && sqlite3 -readonly {first.daemon.database} ".backup $3"')
        stop, copy, restore, start, tidy = blocks("guides/standby.md", "Without standby.sync", "sh")[0].splitlines()
        require(" stop " in stop and " start " in start, "the guide stops and starts the daemon elsewhere")
        second.stop()
        own = str(folder / "till-1.db")
        second.run("\n".join([copy, restore]).replace("/root/till-1.db", own))
        upstream.faults()
        second.start()
        second.run(tidy.replace("/root/till-1.db", own))
        sent = {"pending": 0, "failed": 0}
        await_true(lambda: second.call("GET", "/v1/pending/count").json == sent, 40, "the queue is not sent")
        notes = [record["notes"] for record in upstream.records("orders")]
        require(notes.count("Not sent yet") == 1, f"upstream: {notes}")
    finally:
        first.stop()
        second.stop()


def give_key(first, second):
    """The guide's step 2."""
    second.daemon.state.mkdir(mode=0o700)
    shutil.copy(first.daemon.state / "secret.key", second.daemon.state)


def holds(machine):
    return machine.call("GET", "/v1/status").json["standby"]["holds_lease"]


def follow(folder):
    upstream, etcd = Upstream(SCHEMA), Etcd(folder / "etcd")
    pair, user = blocks("guides/standby.md", "Set it up", "yaml")
    password = folder / "etcd-password"
    password.write_text(PASSWORD + "\n")
    password.chmod(0o600)
    members = "https://etcd-1:2379, https://etcd-2:2379, https://etcd-3:2379"
    require(members in pair and pair.startswith("instance: till-1\n"), "the guide's section is another one")
    settings = pair.removeprefix("instance: till-1\n").replace(members, etcd.address)
    settings = settings.replace("/etc/repairminder-sync/etcd-ca.pem", str(etcd.certificate)) + "  ttl: 3s\n"
    besides = user.split("{", 1)[1].split("}", 1)[0].replace("/etc/repairminder-sync/etcd-password", str(password))
    settings += "".join(f"  {key.strip()}\n" for key in besides.split(","))
    machines = []
    try:
        for name in ("till-1", "till-2"):
            machines.append(Machine(folder / name, upstream, name, settings))
        set_up(etcd, machines[0])
        first, second = machines
        first.start()
        give_key(first, second)
        second.start()

        def standing(machine):
            return machine.call("GET", "/v1/status").json["standby"]
        await_true(lambda: any(map(holds, machines)), 20, "no daemon holds the lease")
        if holds(second):
            first, second = second, first
        name = standing(first)["holder"]
        await_true(lambda: standing(second)["holder"] == name, 20, "the standby does not know the holder")
        for said in (second.run("repairminder-sync doctor || true"), second.run("repairminder-sync status")):
            require(name in said, f"neither says who holds the lease:\n{said}")
        first.run("repairminder-sync sync --wait")
        second.run("repairminder-sync sync --wait")
        order = f"/v1/orders/{first.call('GET', '/v1/orders?limit=1').json['data'][0]['id']}"
        refused = second.call("PATCH", order, {"notes": "At the standby"})
        require(refused.status == 503 and refused.json["code"] == "not_leader", f"the standby answers {refused}")
        require(first.call("PATCH", order, {"notes": "At the holder"}).status == 200, "the holder refuses a write")
        first.daemon.kill()
        await_true(lambda: holds(second), 20, "the standby does not take over")
        require(second.call("PATCH", order, {"notes": "After the takeover"}).status == 200, "the new holder refuses a write")
        for machine in machines:
            machine.stop()
        bring_over(folder, settings.replace("sync: true", "sync: false"), upstream)
        return f"users made, {name} wrote, the other daemon took over; a copy's queue was brought over"
    except KeyError as error:
        raise Failed(f"an answer has no {error}") from error
    finally:
        for machine in machines:
            machine.stop()
        etcd.stop()
        upstream.stop()
