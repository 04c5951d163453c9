#!/usr/bin/env python3
"""Cuts the power under the daemon at random moments, again and again over one state folder, on a disk that keeps of what was
not synced as little, and in such order, as it likes; then nothing that was answered may be lost or doubled.
"""
import time
from statistics import median

from lib.power import Power
from lib.programs import Failed
from lib.scene import scene
from lib.topic import main

CUTS_A_SCENE = 20


def cut(shop, chance):
    """Callers write, large and small; some time after an answer the power fails."""
    if chance.random() < 0.3:
        shop.hold_writes(chance.choice(("hold", "timeout_after_apply")))
    writers = shop.writers(chance, padding=chance.choice((0, 0, 0, 20_000)))
    if chance.random() < 0.15:  # while it stops, which writes the log back
        writers.await_answers(chance.randrange(5, 30))
        shop.daemon.process.terminate()
    else:
        writers.await_answers(chance.choice((0, 1, 5, 20, 60)))
    time.sleep(chance.random() * 0.03)
    return fail(shop, writers, chance)


def fail(shop, writers, chance):
    """The power is gone; returns what was lost, in words."""
    shop.daemon.kill()
    writers.stop()
    return shop.faults.fail(chance)


def cuts(run, first, count):
    """Returns the answered writes and how long each start took."""
    settings = {"backup": {"every": "1s", "keep": "2"}}
    with scene(f"power{first}", settings, Power) as shop:
        shop.daemon.start(wait=False)
        shop.daemon.await_ready()
        for number in range(first, first + count):
            loss = cut(shop, run.random(number))
            try:
                shop.check()
            except Failed as failure:
                raise Failed(f"cut {number}, {loss}: {failure}") from failure
        return shop.answered, shop.daemon.starts[1:]


class Lying(Power):
    """A disk that says it has what it has not."""

    is_honest = False
    losses = ("all",)


def require_detection(run):
    """What cannot be kept on a disk that lies is found missing: the test can fail."""
    chance = run.random("lying")
    with scene("lying", preload=Lying) as shop:
        shop.daemon.start()
        shop.hold_writes()  # what has arrived is not missing
        writers = shop.writers(chance)
        writers.await_answers(5)
        fail(shop, writers, chance)
        try:
            shop.check()
        except Failed:
            return
        raise Failed("nothing was found missing on a disk that lies about what it has")


def body(run):
    require_detection(run)
    starts, answered, total = [], 0, run.of(20, 500)
    for first in range(0, total, CUTS_A_SCENE):
        writes, times = cuts(run, first, min(CUTS_A_SCENE, total - first))
        answered += writes
        starts += times
        run.say(f"power: {len(starts)}")
    run.note(power_cuts=len(starts), answered_writes=answered, lost=0, doubled=0,
             ready_seconds={"median": round(median(starts), 3), "most": round(max(starts), 3)})


main("power", body)
