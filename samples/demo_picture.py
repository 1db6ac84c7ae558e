#!/usr/bin/env python3
"""Usage: demo_picture.py [--chart] PICTURE PROGRAM [ARGUMENT…]

Runs the program, passes on what it says, and draws which node waited, and which one led, as an SVG file PICTURE;
with --chart also as text. The rows are in the order in which the nodes came: each stands below the one it waits for."""

import re
import shutil
import signal
import subprocess
import sys

SAID = re.compile(r" *([\d.]+) ms  (node \d+) +(asks|waits for|leads|unlocks)(?: (node \d+))?")
MOST_LINES = 60  # of the chart
MARGIN, WIDTH, TOP, ROW = 70, 720, 40, 20  # pixels
# Colours and opacities for light and for dark surroundings.
WAITS = 'fill-opacity=".4"'
LEADS = 'fill="#e8590c"'
SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"
  font-family="sans-serif" font-size="13" fill="#808080">
<title>{title}</title>
<text x="{margin}" y="20" font-size="15">{title}</text>
{body}
</svg>
"""


class Node:
    ahead = None  # the name of the node that it waits for
    came = leads = unlocks = None  # seconds


def note(nodes, line):
    if not (said := SAID.match(line)):
        return
    node = nodes.setdefault(said[2], Node())
    time = float(said[1]) / 1000
    if node.came is None:
        node.came = time
    if said[3] in ("leads", "unlocks"):
        setattr(node, said[3], time)
    else:
        node.ahead = said[4]


def in_order(nodes):
    """The nodes that have led, by name."""
    placed = {}
    for name in nodes:
        queue = {}
        while name in nodes and name not in placed and name not in queue:
            queue[name] = nodes[name]
            name = nodes[name].ahead
        placed |= reversed(queue.items())
    return {name: node for name, node in placed.items() if node.unlocks is not None}


def ticks(end):
    steps = (unit * 10**power for power in range(-3, 9) for unit in (1, 2, 5))
    step = next(step for step in steps if end / step < 8)
    return [(i * step, f"{i * step:g}") for i in range(int(end / step) + 1)]


def svg(nodes, end):
    def x(time):
        return round(MARGIN + time * WIDTH / end, 1)

    def bar(begin, end, y, paint):
        return f'<rect x="{x(begin)}" y="{y + 3}" width="{x(end) - x(begin):.1f}" height="{ROW - 6}" {paint}/>'

    bottom = TOP + ROW * len(nodes)
    body = [f'<path d="M{x(time)} {TOP}V{bottom + 5}" stroke="#808080" stroke-opacity=".3"/>'
            f'<text x="{x(time)}" y="{bottom + 20}" text-anchor="middle">{text} s</text>' for time, text in ticks(end)]
    body += [f'<g><text x="{MARGIN - 8}" y="{y + 14}" text-anchor="end">{name}</text>'
             + bar(node.came, node.leads, y, WAITS) + bar(node.leads, node.unlocks, y, LEADS) + "</g>"
             for y, (name, node) in zip(range(TOP, bottom, ROW), nodes.items())]
    return SVG.format(title=f"{len(nodes)} nodes, one lock: who waits (grey), and who leads (orange)", margin=MARGIN,
                      width=MARGIN + WIDTH + 30, height=bottom + 30, body="\n".join(body))


def chart(nodes, end):
    left = max(map(len, [*nodes, "seconds"])) + 1
    columns = max(shutil.get_terminal_size().columns - left, 10)
    waits, leads = "░█" if "utf" in sys.stdout.encoding.lower() else "-#"

    def x(time):
        return int(time * columns / end)

    every = -(-len(nodes) // MOST_LINES)
    for name, node in list(nodes.items())[::every]:
        begin = x(node.leads)
        waiting = (waits * (begin - x(node.came))).rjust(begin)
        print(f"{name:{left}}{waiting}{leads * max(x(node.unlocks) - begin, 1)}")
    axis = ""
    for time, text in ticks(end):
        if x(time) + len(text) <= columns:
            axis = axis.ljust(x(time)) + text
    print(f"{'seconds':{left}}{axis}")
    if every > 1:
        print(f"(one node of {every})")


def main():
    with_chart = sys.argv[1] == "--chart"
    picture, *command = sys.argv[1 + with_chart:]
    nodes = {}
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        for end in (signal.SIGINT, signal.SIGTERM):
            signal.signal(end, lambda *_: program.terminate())
        for line in program.stdout:
            print(line, end="", flush=True)
            note(nodes, line)
    if program.returncode != 0 or not nodes:
        sys.exit(program.returncode if program.returncode >= 0 else 128 - program.returncode)
    nodes = in_order(nodes)
    end = max(node.unlocks for node in nodes.values())
    if with_chart:
        chart(nodes, end)
    try:
        with open(picture, "w", encoding="utf-8") as file:
            file.write(svg(nodes, end))
    except OSError as problem:
        sys.exit(f"no picture: {problem}")
    print(f"who waited and who led: {picture}")


main()
