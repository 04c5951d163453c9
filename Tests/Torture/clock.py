#!/usr/bin/env python3
"""Sets the system clock by days and by years, while the daemon runs and while it does not; time zones and daylight
saving."""
import datetime
import os
import struct
import time
import zoneinfo

from lib import shim
from lib.programs import TORTURE, Daemon, Failed, Upstream, await_true, temporary_folder
from lib.proxy import Proxy
from lib.topic import main

DAY, YEARS = 86_400, 10 * 365 * 86_400
JUMPS = {"a day on": DAY, "a day back": -DAY, "ten years on": YEARS, "ten years back": -YEARS}
INTERVAL_S = 2
# An interval varies by a tenth, and a sync takes time.
LONGEST_GAP_S = INTERVAL_S * 1.1 + 1
HELD_S = 4
# Between two edits whose order matters: the server's times are whole seconds.
APART_S = 2.5


class Clock:
    """The daemon's system clock, with an offset in seconds from ours."""

    def __init__(self, folder):
        self.path = f"{folder}/clock"
        self.set(0)
        self.environment = {"LD_PRELOAD": shim.build("clock"), "TORTURE_CLOCK": self.path}

    def set(self, seconds):
        with open(self.path, "r+b" if os.path.exists(self.path) else "w+b") as file:
            file.write(struct.pack("<q", int(seconds)))
        self.seconds = seconds


class Scene:
    def __init__(self, run, folder, environment=None):
        self.run = run
        self.clock = Clock(folder)
        schema = f"{folder}/schema.yaml"
        with open(schema, "w") as file:
            file.write((TORTURE / "schema.yaml").read_text().replace(
                "  idempotency_header: Idempotency-Key", "  idempotency_header: Idempotency-Key\n  version: { etag: true }"))
        self.upstream = Upstream(schema=schema, seed=run.seed % 1000)
        self.proxy = Proxy(self.upstream.address)
        self.daemon = Daemon(
            folder, self.proxy.address,
            {"sync": {"interval": f"{INTERVAL_S}s", "full_every": "2s", "write_delay": "0ms"},
             "retry": {"base": "1s", "cap": f"{INTERVAL_S}s"}},
            environment={**self.clock.environment, **(environment or {})}, schema=schema)

    def start(self):
        self.daemon.start(within=10)
        self.client = self.daemon.client()
        await_true(lambda: self.client.get("/v1/status").json["last_sync_at"], 10, "nothing was pulled")

    def asked(self, since, words=b"GET /api/notes"):
        return [when for when, line in self.proxy.requests if when >= since and line.startswith(words)]

    def check_interval(self, since, name):
        """Checks that no gap between two pulls since `since` was longer than an interval."""
        times = [since, *self.asked(since), time.monotonic()]
        gap = max(later - earlier for earlier, later in zip(times, times[1:]))
        if gap > LONGEST_GAP_S:
            raise Failed(f"{name}: nothing was pulled for {gap:.1f} s, with an interval of {INTERVAL_S} s")
        return gap

    def check_daemon_time(self):
        """Checks that the shim works: the daemon's clock shows the time that was set."""
        said = self.client.get("/v1/status").json["last_sync_at"]
        daemon_time = datetime.datetime.fromisoformat(said.replace("Z", "+00:00")).timestamp()
        if abs(daemon_time - time.time() - self.clock.seconds) > 60:
            raise Failed(f"the daemon's time is {said}, with an offset of {self.clock.seconds} s")

    def close(self):
        self.client.close()
        self.daemon.kill()
        self.proxy.close()
        self.upstream.stop()


def hold(scene, name, jump):
    """The upstream sends Retry-After, then the clock is set: the next request comes no sooner, and not much later."""
    scene.upstream.faults({"effect": "fail", "status": 429, "retry_after": str(HELD_S), "next": 1})
    scene.client.call("POST", "/v1/sync")
    await_true(lambda: scene.client.get("/v1/status").json["upstream"]["retry_after"], 10,
               "Retry-After was not noticed")
    # The request that got that answer; this may notice the answer some time after it.
    held = scene.asked(0, b"")[-1]
    scene.client.call("POST", "/v1/notes", {"text": f"written while held, {name}"})
    scene.clock.set(jump)
    time.sleep(HELD_S + INTERVAL_S)
    scene.upstream.faults()
    after = scene.asked(held + 0.3, b"")
    first = after[0] - held if after else None
    if first is None or not HELD_S - 0.5 <= first <= HELD_S + INTERVAL_S * 1.1:
        raise Failed(f"{name}: held for {HELD_S} s, but the next request came after {first} s")
    return first


def last_write_wins(scene, name, jump):
    """Both sides edit a field of two records, in either order, and the clock is set in between."""
    client, upstream = scene.client, scene.upstream
    keys = [upstream.create("notes", {"text": f"{name} {order}", "one": "before"})["id"] for order in ("here", "there")]
    for key in keys:
        await_true(lambda: client.get(f"/v1/notes/{key}").status == 200, 10, "a new record was not pulled")
    client.call("POST", "/v1/sync/pause")
    client.call("PATCH", f"/v1/notes/{keys[1]}", {"one": "here, first"})
    upstream.change("notes", keys[0], {"one": "there, first"})
    time.sleep(APART_S / 2)
    scene.clock.set(jump)
    time.sleep(APART_S / 2)
    client.call("PATCH", f"/v1/notes/{keys[0]}", {"one": "here, last"})
    upstream.change("notes", keys[1], {"one": "there, last"})
    client.call("POST", "/v1/sync/resume")
    client.call("POST", "/v1/sync?wait=true", {})
    scene.daemon.await_sent(20, client)
    expected = {keys[0]: "here, last", keys[1]: "there, last"}

    def is_settled():
        there = {record["id"]: record["one"] for record in upstream.records("notes") if record["id"] in expected}
        here = {key: client.get(f"/v1/notes/{key}").json["one"] for key in expected}
        return there == expected == here
    await_true(is_settled, 5, lambda: f"{name}: the last write did not win: "
               f"{[client.get(f'/v1/notes/{key}').body for key in expected]}")


def while_running(run, scene, wanted):
    longest, sooner = 0.0, []
    for name, jump in wanted.items():
        scene.clock.set(0)
        client = scene.client
        client.call("POST", "/v1/sync?wait=true", {})
        started = time.monotonic()
        scene.clock.set(jump)
        time.sleep(INTERVAL_S * 1.5)
        scene.check_daemon_time()
        longest = max(longest, scene.check_interval(started, name))
        scene.clock.set(0)
        time.sleep(0.1)
        sooner.append(hold(scene, name, jump))
        last_write_wins(scene, name, -jump)
        run.say(f"{name}: passed")
    run.note(while_running={"jumps": len(wanted), "longest_gap_s": round(longest, 2),
                            "held_s": [round(first, 2) for first in sooner]})


def between_starts(run, scene, wanted):
    """The daemon fails to send with a wrong clock and is restarted with the right one: neither the change nor a full
    pull waits for a time years ahead."""
    slowest = 0.0
    for name, jump in wanted.items():
        scene.clock.set(jump)
        scene.daemon.kill()
        scene.start()
        scene.upstream.faults({"effect": "fail", "status": 503, "method": "POST"})
        key = scene.client.call("POST", "/v1/notes", {"text": f"written {name}"}).json["id"]
        await_true(lambda: scene.client.get("/v1/pending").json["data"][0]["retry_count"] >= 2, 20,
                   "the change was not tried twice")
        scene.daemon.kill()
        scene.upstream.faults()
        scene.clock.set(0)
        started = time.monotonic()
        scene.start()
        scene.daemon.await_sent(LONGEST_GAP_S + 1, scene.client)
        await_true(lambda: any(b"updated_since" not in line for when, line in scene.proxy.requests
                               if when > started and line.startswith(b"GET /api/notes")), 2 * LONGEST_GAP_S,
                   f"{name}: no full pull")
        slowest = max(slowest, time.monotonic() - started)
        if not any(record["text"] == f"written {name}" for record in scene.upstream.records("notes")):
            raise Failed(f"{name}: {key} does not exist upstream")
    run.note(between_starts={"jumps": len(wanted), "sent_and_pulled_s": round(slowest, 2)})


def summer_time(run, zones):
    """The local time changes for daylight saving while the daemon runs: it keeps syncing."""
    gaps = {}
    for zone, (year, month, day, hour, minute) in zones.items():
        moment = datetime.datetime(year, month, day, hour, minute, tzinfo=zoneinfo.ZoneInfo("UTC"))
        with temporary_folder() as folder:
            scene = Scene(run, folder, {"TZ": zone})
            try:
                scene.clock.set(int(moment.timestamp() - time.time()) - 4)
                scene.start()
                started = time.monotonic()
                time.sleep(INTERVAL_S * 4)
                gaps[f"{zone} {month}"] = round(scene.check_interval(started, zone), 2)
            finally:
                scene.close()
    run.note(summer_time=gaps)


# A clock change in each zone, in UTC.
ZONES = {
    "Europe/London": (2027, 3, 28, 1, 0), "America/St_Johns": (2027, 11, 7, 4, 30),
    "Australia/Lord_Howe": (2027, 4, 3, 15, 0), "Africa/Casablanca": (2027, 2, 7, 2, 0),
}


def body(run):
    small = run.random("jump").choice(list(JUMPS))
    wanted = JUMPS if run.is_full else {small: JUMPS[small]}
    with temporary_folder() as folder:
        scene = Scene(run, folder)
        try:
            scene.start()
            for _ in range(run.of(1, 5)):
                while_running(run, scene, wanted)
                between_starts(run, scene, wanted)
        finally:
            scene.close()
    if run.is_full:
        summer_time(run, ZONES)


if __name__ == "__main__":
    main("clock", body)
