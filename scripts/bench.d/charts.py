"""Charts as SVG: bars side by side, and lines."""

import math
from xml.sax.saxutils import escape

from figures import number

WIDTH, LABELS, BAR, GAP = 860, 270, 15, 16
OURS, COLOURS = "#0b6e4f", ["#8d99ae", "#e09f3e", "#9e2a2b", "#335c67", "#6d597a", "#b0a990"]
STYLE = "font-family='system-ui, sans-serif' font-size='12' fill='#222'"


def bars(title, groups, unit):
    """Horizontal bars. `groups`: what is measured, then the figure of each contestant by name, ours first. Each group has a
    scale of its own, because only figures of one group are comparable."""
    parts, y = [text(12, 22, title, "font-weight='600' font-size='14'")], 40
    colours = colouring(groups)
    for what, figures in groups:
        parts.append(text(12, y + 12, what, "font-weight='600'"))
        y += 20
        most = max(figures.values())
        for name, value in figures.items():
            length = max(1, (WIDTH - LABELS - 120) * value / most)
            parts.append(text(LABELS - 10, y + 12, name, "text-anchor='end'"))
            parts.append(f"<rect x='{LABELS}' y='{y}' width='{length:.1f}' height='{BAR}' fill='{colours[name]}'/>")
            parts.append(text(LABELS + length + 6, y + 12, number(value, unit)))
            y += BAR + 3
        y += GAP
    return svg(parts, y)


def colouring(groups):
    names = list(dict.fromkeys(name for _, figures in groups for name in figures))
    others = [name for name in names if name != "ours"]
    return {"ours": OURS} | {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(others)}


def lines(title, series, unit, x_label, logarithmic=False):
    """`series`: lists of (x, y) by name, over one pair of axes."""
    left, top, width, height = 70, 44, WIDTH - 300, 260
    xs = [x for points in series.values() for x, _ in points]
    highest = max(y for points in series.values() for _, y in points) * 1.1
    scale = math.log10 if logarithmic else float

    def place(x, y):
        across = (scale(x) - scale(min(xs))) / ((scale(max(xs)) - scale(min(xs))) or 1)
        return left + across * width, top + height - y / highest * height

    parts = [text(12, 22, title, "font-weight='600' font-size='14'")]
    for step in range(5):
        value = highest * step / 4
        _, y = place(min(xs), value)
        parts.append(f"<path d='M{left} {y:.1f}h{width}' stroke='#ddd'/>")
        parts.append(text(left - 8, y + 4, number(float(f"{value:.2g}"), unit), "text-anchor='end'"))
    for x in sorted(set(xs)) if logarithmic else (min(xs), max(xs)):
        parts.append(text(place(x, 0)[0], top + height + 18, number(x), "text-anchor='middle'"))
    parts.append(text(left + width / 2, top + height + 36, x_label, "text-anchor='middle'"))
    for index, (name, points) in enumerate(series.items()):
        colour = [OURS, *COLOURS][index % (len(COLOURS) + 1)]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in (place(*point) for point in points))
        parts.append(f"<path d='M{path}' fill='none' stroke='{colour}' stroke-width='2'/>")
        parts.append(f"<rect x='{left + width + 20}' y='{top + index * 20}' width='12' height='12' fill='{colour}'/>")
        parts.append(text(left + width + 38, top + index * 20 + 11, name))
    return svg(parts, top + height + 50)


def text(x, y, content, more=""):
    return f"<text x='{x:.1f}' y='{y:.1f}' {more}>{escape(content)}</text>"


def svg(parts, height):
    return "\n".join([
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height:.0f}' width='{WIDTH}' {STYLE}>",
        f"<rect width='{WIDTH}' height='{height:.0f}' fill='#fff'/>", *parts, "</svg>\n"])
