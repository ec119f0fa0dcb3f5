"""Draws scatter plots as SVG with only the standard library."""

WIDTH, HEIGHT = 720, 400
LEFT, TOP, RIGHT, BOTTOM = 70, 40, 20, 50


def ticks(end, most):
    """Returns round numbers from 0 to the first that reaches `end`, in at most `most` steps."""
    power = 10.0**-6
    while True:
        for factor in (1, 2, 5):
            if factor * power * most >= end:
                step = factor * power
                count = next(n for n in range(1, most + 1) if n * step >= end)
                return [n * step for n in range(count + 1)]
        power *= 10


COLOURS = ["#1a56b0", "#b0471a", "#2a8a3e", "#7a3fa0"]


def scatter(title, x_label, y_label, series):
    """Draws nonnegative points (x, y) of at most four named series."""
    points = [point for series in series.values() for point in series]
    x_ticks = ticks(max(x for x, _ in points), 10)
    y_ticks = ticks(max(y for _, y in points), 6)
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(x, y):
        return LEFT + width * x / x_ticks[-1], HEIGHT - BOTTOM - height * y / y_ticks[-1]

    def text(x, y, words, anchor, more=""):
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{words}</text>'

    right, top = place(x_ticks[-1], y_ticks[-1])
    left, bottom = place(0, 0)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="12">',
        f"<title>{title}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        text(WIDTH / 2, 22, title, "middle", ' font-size="15"'),
        text((left + right) / 2, HEIGHT - 12, x_label, "middle"),
        text(
            16,
            (top + bottom) / 2,
            y_label,
            "middle",
            f' transform="rotate(-90 16 {(top + bottom) / 2})"',
        ),
    ]
    for tick in x_ticks:
        x, _ = place(tick, 0)
        lines.append(text(x, bottom + 18, f"{tick:,.6g}", "middle"))
        lines.append(
            f'<line x1="{x:.1f}" y1="{top:.1f}" x2="{x:.1f}" y2="{bottom:.1f}" stroke="#ddd"/>'
        )
    for tick in y_ticks:
        _, y = place(0, tick)
        lines.append(text(left - 8, y + 4, f"{tick:,.6g}", "end"))
        lines.append(
            f'<line x1="{left:.1f}" y1="{y:.1f}" x2="{right:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
        )
    for row, (colour, (name, points)) in enumerate(zip(COLOURS, series.items())):
        for x, y in points:
            x, y = place(x, y)
            lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{colour}"/>')
        lines.append(text(left + 12, top + 14 + 16 * row, name, "start", f' fill="{colour}"'))
    return "\n".join([*lines, "</svg>", ""])
