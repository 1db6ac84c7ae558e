"""What becomes of the measurements: medians, spreads, ratios, and the table.

The rounds of a case are a list, with one dictionary for each round: contestant -> figures.
"""
import statistics


def median_and_spread(values):
    return statistics.median(values), min(values), max(values)


def short(value):
    """Three digits, or all that stand before the point."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:#.3g}".rstrip(".")


def middle(values):
    return short(statistics.median(values)) if values else "–"


def shown(values, unit=""):
    middle, least, most = median_and_spread(values)
    return f"{short(middle)}{unit} ({short(least)}–{short(most)})"


def series(rounds, contestant, figure):
    """The values of one figure over the rounds that have it."""
    return [measured[contestant][figure] for measured in rounds
            if figure in measured.get(contestant, {})]


def ratios(rounds, first, second, figure="rate"):
    """How many times the figure of the second the first one has, in each round that has both."""
    return [measured[first][figure] / measured[second][figure] for measured in rounds
            if figure in measured.get(first, {}) and figure in measured.get(second, {})]


def added(parts):
    """The figures of several processes together; the slowest one determines p99."""
    if len(parts) == 1:
        return parts[0]
    operations = sum(part["operations"] for part in parts)
    return {"operations": operations,
            "late": sum(part["late"] for part in parts),
            "rate": sum(part["rate"] for part in parts),
            "p50_ms": statistics.median(part["p50_ms"] for part in parts),
            "p99_ms": max(part["p99_ms"] for part in parts),
            "cpu_us": sum(part["cpu_us"] * part["operations"] for part in parts) / operations}


def per_operation(measured, before, after):
    """What a server counted, for each operation, the late ones included: those after the time."""
    every = measured["operations"] + measured["late"]
    return {figure: (after[figure] - before[figure]) / every for figure in after}


COLUMNS = ("case", "contestant", "operations/s", "p50 ms", "p99 ms", "CPU µs", "requests",
           "packets", "paddock's rate", "")
REMARKS = {
    "handoffs": "{} hand-offs/s",
    "kib_per_waiter": "{} KiB per waiter",
    "nodes": "{} nodes left per key",
    "transactions": "{} transactions",
    "server_us": "{} µs of the server",
    "watches": "{} watches",
}


def chosen(measured, contenders, remarked):
    """The figures that mean something in a case."""
    kept = {figure: value for figure, value in measured.items()
            if figure in remarked or figure not in REMARKS}
    if measured["operations"] < contenders:  # the longest waits are not over
        del kept["p50_ms"], kept["p99_ms"]
    return kept


def remarks(rounds, contestant, baseline):
    for figure, text in REMARKS.items():
        if not series(rounds, contestant, figure):
            continue
        over = ratios(rounds, baseline, contestant, figure) if figure == "handoffs" else []
        yield (text.format(middle(series(rounds, contestant, figure)))
               + (f" (× {middle(over)})" if over and contestant != baseline else ""))


def rows(case, rounds, baseline):
    """A row for each contestant, with how many times its rate the baseline has."""
    contestants = list(dict.fromkeys(name for measured in rounds for name in measured))
    for contestant in contestants:
        over = [] if contestant == baseline else ratios(rounds, baseline, contestant)
        yield (case, contestant,
               shown(series(rounds, contestant, "rate")),
               middle(series(rounds, contestant, "p50_ms")),
               middle(series(rounds, contestant, "p99_ms")),
               middle(series(rounds, contestant, "cpu_us")),
               middle(series(rounds, contestant, "requests")),
               middle(series(rounds, contestant, "packets")),
               shown(over, "×") if over else "",
               ", ".join(remarks(rounds, contestant, baseline)))


def table(all_rows):
    """Lines with columns below each other; a case is named once."""
    widths = [max(len(row[i]) for row in [COLUMNS, *all_rows]) for i in range(len(COLUMNS))]
    lines, named = [], None
    for row in [COLUMNS, *all_rows]:
        words = ["" if row[0] == named else row[0], *row[1:]]
        named = row[0]
        lines.append("  ".join(word.ljust(width) if i in (0, 1, len(widths) - 1) else word.rjust(width)
                               for i, (word, width) in enumerate(zip(words, widths))).rstrip())
    return lines
