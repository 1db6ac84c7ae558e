#!/usr/bin/env python3
"""Usage: check_picture.py PICTURE NODES COLUMNS < SAID

Checks what samples/demo_picture.py draws, an SVG file and, in what it said, a chart: one row for each node, which leads
once, below the one that it waits for; never do two lead, and they lead in the order that was said. The chart may leave
rows out."""

import re
import sys
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"
LEADS = "#e8590c"

picture, nodes, columns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
said = sys.stdin.read().splitlines()


def require(condition, problem):
    if not condition:
        sys.exit(f"{picture}: {problem}")


def drawn_row(row):
    """The name of a row of the picture, and where its leading begins and ends."""
    name = row.find(f"{SVG}text").text
    bars = [(bar.get("fill") == LEADS, float(bar.get("x")), float(bar.get("width"))) for bar in row.iter(f"{SVG}rect")]
    leading = [(x, x + width) for leads, x, width in bars if leads]
    waiting = [(x, x + width) for leads, x, width in bars if not leads]
    require(len(leading) == 1 and leading[0][0] < leading[0][1], f"{name} does not lead once: {leading}")
    require(len(waiting) == 1 and abs(waiting[0][1] - leading[0][0]) < 0.01, f"{name} does not wait until it leads")
    return name, *leading[0]


rows = [drawn_row(row) for row in xml.parse(picture).getroot().iter(f"{SVG}g")]
require(len({name for name, _, _ in rows}) == len(rows) == nodes, f"it has {len(rows)} rows instead of {nodes}")
leaders = sorted(rows, key=lambda row: row[1])
for (before, _, end), (name, begin, _) in zip(leaders, leaders[1:]):
    require(end <= begin + 0.01, f"{before} leads until {end}, {name} from {begin}")
order = [name for name, _, _ in leaders]
spoken = [found[1] for line in said if (found := re.match(r" *[\d.]+ ms  (node \d+) +leads", line))]
require(order == spoken, f"they lead as {order} instead of {spoken}")
names = [name for name, _, _ in rows]
for line in said:
    if found := re.match(r" *[\d.]+ ms  (node \d+) +waits for (node \d+)", line):
        require(names.index(found[1]) == names.index(found[2]) + 1, f"{found[1]} is not below {found[2]}")

charted = {}  # where each begins to lead
for line in said:
    if found := re.fullmatch(r"(node \d+) +░*(█+)", line):
        require(len(line) <= columns, f"wider than {columns}: {line}")
        require(found[1] not in charted, f"{found[1]} has two rows")
        charted[found[1]] = found.start(2)
require(set(charted) <= set(order) and min(nodes, 30) <= len(charted) <= 60, f"the chart has {len(charted)} rows")
require([name for name in names if name in charted] == list(charted), "the chart has another order")
begins = [charted[name] for name in order if name in charted]
require(begins == sorted(begins), f"the chart lets them lead as {begins}")
