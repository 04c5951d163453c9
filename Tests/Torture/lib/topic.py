"""What all topics share: the flags, the seed, and a line of figures at the end."""
import argparse
import json
import random
import sys
import time

from .client import Unanswered
from .history import checked
from .programs import Failed


class Run:
    """The size and the seed of a run, and its figures."""

    def __init__(self, arguments):
        self.is_full = arguments.full
        self.seed = arguments.seed
        self.only = arguments.only
        self.figures = {}

    def of(self, small, full):
        return full if self.is_full else small

    def random(self, *part):
        """The random generator of one part; the same seed gives the same choices."""
        return random.Random(f"{self.seed}/{'/'.join(map(str, part))}")

    def note(self, **figures):
        self.figures.update(figures)

    def say(self, text):
        print(text, file=sys.stderr, flush=True)


def main(topic, body):
    """Calls `body` with a `Run`. Prints the figures as a line of JSON; or, on failure, the reason and the seed, and
    exits."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--small", action="store_true", help="the part that CI has time for (the default)")
    size.add_argument("--full", action="store_true", help="everything that docs/reliability.md reports")
    parser.add_argument("--seed", type=int, default=None, help="repeat the choices of an earlier run")
    parser.add_argument("--only", default=None, help="run only the parts whose name contains this")
    arguments = parser.parse_args()
    if arguments.seed is None:
        arguments.seed = random.randrange(1 << 32)
    run = Run(arguments)
    run.say(f"{topic}: seed {run.seed}")
    started = time.monotonic()
    try:
        body(run)
    except (Failed, Unanswered) as failure:
        run.say(f"{topic}: {failure}\n{topic}: FAILED; repeat with --seed {run.seed}")
        sys.exit(1)
    if checked:
        run.note(histories={"checked": checked["histories"], "events": checked["events"],
                            "seconds": round(checked["milliseconds"] / 1000, 1)})
    run.note(seconds=round(time.monotonic() - started, 1))
    print(json.dumps({"topic": topic, "size": "full" if run.is_full else "small", "seed": run.seed, **run.figures}),
          flush=True)
