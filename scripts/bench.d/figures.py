"""Samples, and the table rows made of them."""

from dataclasses import dataclass, field


def median(samples):
    ordered = sorted(samples)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def percentile(samples, share):
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def in_turn(rounds, contestants):
    """Calls every contestant once a round, one after the other, so all see the same load of the machine.

    `contestants` are functions by name, each returning a figure; the figures come back as lists by name.
    """
    samples = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, measure in contestants.items():
            samples[name].append(measure())
    return samples


@dataclass
class Row:
    """One row of the table: our figure, the one it is compared with, and the target.

    With `theirs` the target is for the median over the rounds of ours / theirs; without, for our own median.
    """

    what: str
    ours: list
    unit: str
    against: str = ""
    theirs: list = field(default_factory=list)
    at_most: float | None = None
    at_least: float | None = None

    @property
    def ratio(self):
        if not self.theirs:
            return None
        if len(self.ours) == len(self.theirs):
            return median([ours / theirs for ours, theirs in zip(self.ours, self.theirs) if theirs])
        return median(self.ours) / median(self.theirs)

    @property
    def measured(self):
        return median(self.ours) if self.ratio is None else self.ratio

    @property
    def target(self):
        unit = f" {self.unit}".rstrip() if self.ratio is None else " ×"
        if self.at_most is not None:
            return f"≤ {limit(self.at_most)}{unit}"
        return "" if self.at_least is None else f"≥ {limit(self.at_least)}{unit}"

    @property
    def reached(self):
        """True, False, or None where there is no target."""
        if self.at_most is not None:
            return self.measured <= self.at_most
        return None if self.at_least is None else self.measured >= self.at_least

    @property
    def missed_by(self):
        """How far from the target, as a factor; None when it is met."""
        if self.reached is not False:
            return None
        if self.at_most is None:
            return self.at_least / self.measured
        return self.measured / self.at_most if self.at_most else None


def limit(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def number(value, unit=""):
    """A readable figure: 61,234/s, 1.27 s, 0.034 ms."""
    if value >= 1000:
        text = f"{value:,.0f}"
    elif value == int(value):
        text = f"{value:.0f}"
    else:
        text = f"{value:.{max(0, 2 if value >= 1 else 3)}f}"
    return text + (unit if unit.startswith("/") else f" {unit}".rstrip())


def with_spread(samples, unit):
    """The median, with minimum and maximum if there are several samples."""
    text = number(median(samples), unit)
    if len(samples) < 2:
        return text
    return f"{text} ({number(min(samples))} – {number(max(samples))})"
