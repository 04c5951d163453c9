#!/usr/bin/env python3
"""Cuts the power at random moments, again and again on one state folder. The disk keeps any part of the unsynced data,
in any order; no acknowledged write may be lost or doubled.
"""
import time
from statistics import median

from lib.power import Power
from lib.programs import Failed
from lib.scene import Scene, scene
from lib.topic import main

CUTS_A_SCENE = 20


def cut(shop, chance):
    """Callers make large and small writes; some time after an answer the power fails."""
    if chance.random() < 0.3:
        shop.hold_writes(chance.choice(("hold", "timeout_after_apply")))
    writers = shop.writers(chance, padding=chance.choice((0, 0, 0, 20_000)))
    if chance.random() < 0.15:  # during the stop, which checkpoints the log
        writers.await_answers(chance.randrange(5, 30))
        shop.daemon.process.terminate()
    else:
        writers.await_answers(chance.choice((0, 1, 5, 20, 60)))
    time.sleep(chance.random() * 0.03)
    return fail(shop, writers, chance)


def fail(shop, writers, chance):
    """Cuts the power; returns a description of the loss."""
    shop.daemon.kill()
    writers.stop()
    return shop.faults.fail(chance)


def cuts(run, first, count):
    """Returns the acknowledged writes and the start times."""
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
    """A disk that reports a sync without syncing."""

    is_honest = False
    losses = ("all",)


def check_history(shop):
    """Starts the daemon and checks the history alone."""
    shop.faults.clear()
    shop.upstream.faults()
    shop.daemon.start()
    shop.daemon.await_sent()
    shop.check_history()


def require_detection(run, check, tries=10):
    """Checks that a check can fail: it detects the loss on a disk that lies about syncing."""
    for number in range(tries):
        chance = run.random("lying", number)
        with scene("lying", preload=Lying) as shop:
            shop.daemon.start()
            shop.hold_writes()  # what has arrived upstream would not be missing
            writers = shop.writers(chance)
            writers.await_answers(5)
            fail(shop, writers, chance)
            try:
                check(shop)
            except Failed:
                if shop.daemon.is_running:
                    return
                continue  # it refused to start, because even the key of the secrets is lost
            raise Failed("no loss was detected on a disk that lies about syncing")
    raise Failed("on a disk that lies about syncing the daemon never started")


def body(run):
    for check in (Scene.check, check_history):
        require_detection(run, check)
    starts, answered, total = [], 0, run.of(20, 500)
    for first in range(0, total, CUTS_A_SCENE):
        writes, times = cuts(run, first, min(CUTS_A_SCENE, total - first))
        answered += writes
        starts += times
        run.say(f"power: {len(starts)}")
    run.note(power_cuts=len(starts), answered_writes=answered, lost=0, doubled=0,
             ready_seconds={"median": round(median(starts), 3), "most": round(max(starts), 3)})


main("power", body)
