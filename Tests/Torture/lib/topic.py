"""What every topic's command has in common: its flags, its seed, and one line of figures at the end."""
import argparse
import json
import random
import sys
import time

from .client import Unanswered
from .programs import Failed


class Run:
    """How much is to be done, from which seed, and what was seen."""

    def __init__(self, arguments):
        self.is_full = arguments.full
        self.seed = arguments.seed
        self.only = arguments.only
        self.figures = {}

    def of(self, small, full):
        return full if self.is_full else small

    def random(self, *part):
        """The choices of one part, the same for the same seed."""
        return random.Random(f"{self.seed}/{'/'.join(map(str, part))}")

    def note(self, **figures):
        self.figures.update(figures)

    def say(self, text):
        print(text, file=sys.stderr, flush=True)


def main(topic, body):
    """Calls `body` with a `Run`; prints the figures as one line of JSON, or what was broken with the seed; then exits."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--small", action="store_true", help="a part that CI has time for (the default)")
    size.add_argument("--full", action="store_true", help="everything that docs/reliability.md claims")
    parser.add_argument("--seed", type=int, default=None, help="the choices of an earlier run")
    parser.add_argument("--only", default=None, help="the parts whose name has this in it")
    arguments = parser.parse_args()
    if arguments.seed is None:
        arguments.seed = random.randrange(1 << 32)
    run = Run(arguments)
    run.say(f"{topic}: seed {run.seed}")
    begun = time.monotonic()
    try:
        body(run)
    except (Failed, Unanswered) as failure:
        run.say(f"{topic}: {failure}\n{topic}: FAILED; again with --seed {run.seed}")
        sys.exit(1)
    run.note(seconds=round(time.monotonic() - begun, 1))
    print(json.dumps({"topic": topic, "size": "full" if run.is_full else "small", "seed": run.seed, **run.figures}),
          flush=True)
