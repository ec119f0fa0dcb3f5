"""Appends the results of the study of regressions to benches/results/regressions.md, and updates the plot.

    python3 benches/study/report.py NAME=FOLDER...

Each FOLDER has splits.csv, sto.csv and peers.csv of one set of recordings, written by study_splits and
peers.R; NAME is the name of the set (idle, busy).
"""

import csv
import math
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from session import RESULTS, append, heading, table  # noqa: E402

METHODS = {
    "sto": "sto",
    "edger_both": "edgeR, self and total",
    "edger": "edgeR, self",
    "t": "t-test, Bonferroni",
    "ratio": "ratio of shares",
}
COLORS = {"sto": "#c0392b", "edger_both": "#1a56b0", "edger": "#7fa8dc", "t": "#888", "ratio": "#bbb"}
SLOWER = [2, 5, 10, 25]
RUNS_A_SIDE = [1, 2, 3, 6, 12]
ALPHA = 0.05
# The fixed threshold of the ratio rule: a change of 10 %.
NOMINAL = {"ratio": 1 / 1.1}


def rows(folder, name):
    with open(folder / name, newline="") as file:
        return list(csv.DictReader(file))


def load(folder):
    """Loads scores by (method, runs per side, slowdown), each as a dict of columns."""
    splits = {row["split"]: (int(row["runs"]), int(row["slower"])) for row in rows(folder, "splits.csv")}
    scores = {}
    sto = [{**row, "method": "sto"} for row in rows(folder, "sto.csv")]
    for row in sto + rows(folder, "peers.csv"):
        scores.setdefault((row["method"], *splits[row["split"]]), []).append(row)
    return scores


def column(scores, method, runs, slower, name):
    return [float(row[name]) for row in scores.get((method, runs, slower), [])]


def rate(values, threshold):
    return sum(value <= threshold for value in values) / len(values)


def at_equal_false_findings(equal):
    """Returns the largest threshold at which at most 5 % of comparisons of equal builds report anything."""
    allowed = math.floor(ALPHA * len(equal))
    return math.nextafter(sorted(equal)[allowed], -math.inf)


def wilson(share, n):
    z = 1.96
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def percent(share):
    return f"{100 * share:.1f}"


def defaults(scores):
    """Returns a table of sto's results with its defaults."""
    lines = []
    for runs in RUNS_A_SIDE:
        equal = scores["sto", runs, 0]
        line = [str(runs), str(len(equal))]
        for said in [
            [row["verdict"] == "Regression" for row in equal],
            [int(row["findings"]) > 0 for row in equal],
        ]:
            share = sum(said) / len(equal)
            low, high = wilson(share, len(equal))
            line.append(f"{percent(share)} ({percent(low)} to {percent(high)})")
        for slower in SLOWER:
            found = [int(row["target_first"]) for row in scores["sto", runs, slower]]
            line.append(percent(sum(found) / len(found)))
        lines.append(line)
    header = ["runs per side", "equal", "verdict is a regression (%, 95 % interval)", "report anything (%, 95 % interval)"]
    return table(header + [f"{s} % found first (%)" for s in SLOWER], lines)


def power(scores, effect):
    """Returns a table of each method's power at its nominal threshold and at 5 % false findings, and the curves to plot."""
    lines, curves = [], {}
    for runs in RUNS_A_SIDE:
        for method, name in METHODS.items():
            equal = column(scores, method, runs, 0, f"any_{effect}")
            if not equal:
                continue
            nominal = NOMINAL.get(method, ALPHA)
            matched = at_equal_false_findings(equal)
            line = [str(runs), name, percent(rate(equal, nominal))]
            curve = []
            for slower in SLOWER:
                target = column(scores, method, runs, slower, f"target_{effect}")
                curve.append(rate(target, matched))
                line.append(f"{percent(curve[-1])} ({percent(rate(target, nominal))})")
            curves[runs, method] = curve
            lines.append(line)
    header = ["runs per side", "method", "false at the nominal threshold (%)"]
    return table(header + [f"{s} % slower (%)" for s in SLOWER], lines), curves


def behind(curves):
    """Returns a table of sto's power minus the power of peers, in percentage points at equal false findings."""
    lines = []
    for runs in RUNS_A_SIDE:
        sto = curves[runs, "sto"]
        for method in list(METHODS)[1:]:
            if (runs, method) in curves:
                ahead = [a - b for a, b in zip(sto, curves[runs, method])]
                lines.append([str(runs), METHODS[method]] + [f"{100 * d:+.1f}" for d in ahead])
    return table(["runs per side", "sto minus", *(f"{s} % slower" for s in SLOWER)], lines)


def plot(sets):
    """Plots power by slowdown, with a panel for each number of runs and set of recordings."""
    width, height, left, top, gap = 190, 150, 50, 60, 18
    panels = RUNS_A_SIDE
    full = (left + len(panels) * (width + gap), top + len(sets) * (height + 60) + 20)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {full[0]} {full[1]}"'
        ' font-family="sans-serif" font-size="11">',
        "<title>Power by slowdown at 5 % false findings</title>",
        f'<rect width="{full[0]}" height="{full[1]}" fill="white"/>',
    ]
    for place, (method, name) in enumerate(METHODS.items()):
        x = left + place * 155
        out.append(f'<line x1="{x}" y1="16" x2="{x + 20}" y2="16" stroke="{COLORS[method]}" stroke-width="2.5"/>')
        out.append(f'<text x="{x + 25}" y="20">{name}</text>')
    for row, (title, curves) in enumerate(sets):
        bottom = top + row * (height + 60) + height
        for number, runs in enumerate(panels):
            x0 = left + number * (width + gap)
            x = lambda slower, x0=x0: x0 + width * slower / 25
            y = lambda share, bottom=bottom: bottom - height * share
            out.append(f'<text x="{x0}" y="{bottom - height - 6}">{title}, {runs} per side</text>')
            for share in (0, 0.25, 0.5, 0.75, 1):
                out.append(f'<line x1="{x0}" y1="{y(share)}" x2="{x0 + width}" y2="{y(share)}" stroke="#eee"/>')
                if number == 0:
                    out.append(f'<text x="{x0 - 6}" y="{y(share) + 4}" text-anchor="end">{share:.0%}</text>')
            for slower in SLOWER:
                out.append(f'<text x="{x(slower)}" y="{bottom + 14}" text-anchor="middle">{slower}</text>')
            for method in reversed(METHODS):
                if (runs, method) not in curves:
                    continue
                points = " ".join(f"{x(s):.1f},{y(p):.1f}" for s, p in zip(SLOWER, curves[runs, method]))
                out.append(
                    f'<polyline points="{points}" fill="none" stroke="{COLORS[method]}" stroke-width="2"/>'
                )
        out.append(f'<text x="{left}" y="{bottom + 30}">slower by (%)</text>')
    return "\n".join([*out, "</svg>", ""])


def main(sets):
    lines, plotted = heading("perf on a virtual machine"), []
    for name, folder in sets:
        scores = load(pathlib.Path(folder))
        any_change, curves = power(scores, 1)
        from_ten, _ = power(scores, 10)
        plotted.append((name, curves))
        lines += ["", f"### {name}", "", "sto with its defaults:", "", *defaults(scores)]
        lines += ["", "Power at 5 % false findings (at the nominal threshold), for changes of at least 1 %:", "", *any_change]
        lines += ["", "Power of sto minus the power of other methods, in percentage points:", "", *behind(curves)]
        lines += ["", "As above, for changes of at least 10 %, sto's default:", "", *from_ten]
    append("regressions.md", lines)
    (RESULTS / "regressions.svg").write_text(plot(plotted))


main([argument.split("=", 1) for argument in sys.argv[1:]])
