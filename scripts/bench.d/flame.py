"""Flame graphs: where a running program's time goes, by perf's samples of its call stacks, drawn as SVG."""

import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, ROW, LEAST = 1200, 17, 0.002
COLOURS = ["#f4a259", "#f2c14e", "#e76f51", "#f08a5d", "#f6bd60"]


def can_record():
    return shutil.which("perf") is not None


class Recording:
    """Samples a process while the block runs, or a command from its first instruction on; `draw` makes the graph."""

    def __init__(self, pid=None, rate=499):
        self.file = Path(tempfile.mkdtemp(prefix="repairminder-flame.")) / "samples"
        self.command = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(rate), "-g", "-o", self.file]
        if pid:
            self.command += ["-p", str(pid)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # perf starts sampling a moment after it is launched.
        deadline = time.monotonic() + 20
        while not self.file.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()

    def stacks(self):
        """How many samples each call stack has, outermost first."""
        command = ["perf", "script", "-i", self.file, "-F", "ip,sym"]
        script = subprocess.run(command, capture_output=True, text=True)
        shutil.rmtree(self.file.parent)
        stacks = Counter()
        if script.returncode:
            print(f"  no flame graph: {script.stderr.strip().splitlines()[-1:]}", flush=True)
            return stacks
        for sample in readable(script.stdout).split("\n\n"):
            frames = [line.split(None, 1)[1] for line in sample.splitlines() if len(line.split(None, 1)) == 2]
            if frames:
                stacks[tuple(name(frame) for frame in reversed(frames))] += 1
        return stacks


def readable(text):
    """Demangles Swift's names."""
    if not shutil.which("swift-demangle"):
        return text
    return subprocess.run(
        ["swift-demangle", "--simplified"], input=text, capture_output=True, text=True, check=True).stdout


def name(frame):
    for begin in ("specialized ", "closure #1 in ", "partial apply for ", "merged "):
        frame = frame.replace(begin, "")
    return frame.split("(")[0].strip() or frame


def draw(title, stacks):
    total = sum(stacks.values())
    parts, depths = [], [0]

    def place(below, left, depth):
        """`below`: the stacks under one frame, without the frame itself."""
        depths.append(depth)
        groups = {}
        for stack, count in below.items():
            if stack:
                groups.setdefault(stack[0], Counter())[stack[1:]] += count
        for frame, rest in sorted(groups.items()):
            count = sum(rest.values())
            if count / total >= LEAST:
                parts.append(box(frame, left, depth, count, total))
                place(rest, left, depth + 1)
            left += count / total * WIDTH

    place(stacks, 0, 0)
    height = (max(depths) + 1) * ROW + 34
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' width='{WIDTH}' "
        "font-family='monospace' font-size='11'>"
        f"<rect width='{WIDTH}' height='{height}' fill='#fff'/>"
        f"<text x='6' y='18' font-size='14'>{escape(title)}: {total} samples; callers above, what they call below</text>")
    return "\n".join([head, *parts, "</svg>\n"])


def box(frame, left, depth, count, total):
    width, top = count / total * WIDTH, 28 + depth * ROW
    colour = COLOURS[sum(map(ord, frame)) % len(COLOURS)]
    label = frame if len(frame) * 6.7 < width else frame[: max(0, int(width / 6.7) - 1)]
    return (
        f"<g><title>{escape(frame)}: {count / total:.1%}</title>"
        f"<rect x='{left:.1f}' y='{top}' width='{width:.1f}' height='{ROW - 1}' fill='{colour}'/>"
        f"<text x='{left + 2:.1f}' y='{top + 12}'>{escape(label)}</text></g>")


def heaviest(stacks, count=12):
    """The functions with the most samples of their own, not counting what they call, and their shares."""
    own = Counter()
    for stack, samples in stacks.items():
        own[stack[-1]] += samples
    total = sum(own.values())
    return [(frame, samples / total) for frame, samples in own.most_common(count)]
