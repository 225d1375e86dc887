#!/usr/bin/env python3
"""Whether HdrHistogram's own readers find in a run's log what its report says.

    check.py RUN java CLASSPATH     RUN is a folder of `basalt stress --out`
    check.py RUN python             with the package hdrhistogram
"""

import json
import math
import pathlib
import subprocess
import sys

PERCENTILES = {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "p99.9": 99.9, "p99.99": 99.99, "max": 100}
APART_MAX = 0.001
HOUR_NANOS = 3_600_000_000_000


def by_java(log, classpath):
    """By series: how many values, then the percentiles in nanoseconds; as Java reads the log."""
    source = pathlib.Path(__file__).with_name("Percentiles.java")
    asked = [str(percentile) for percentile in PERCENTILES.values()]
    lines = subprocess.run(["java", "-cp", classpath, source, log, *asked], check=True, capture_output=True, text=True).stdout
    return {line.split()[0]: [int(word) for word in line.split()[1:]] for line in lines.splitlines()}


def by_python(log):
    """The same as Python reads it."""
    from hdrh.histogram import HdrHistogram
    from hdrh.log import HistogramLogReader

    sums = {}
    reader = HistogramLogReader(str(log), HdrHistogram(1, HOUR_NANOS, 3))
    while interval := reader.get_next_interval_histogram():
        tag = interval.get_tag()
        series = tag if tag.startswith("hiccup") else tag.split("-", 1)[1]
        sums.setdefault(series, HdrHistogram(1, HOUR_NANOS, 3)).add(interval)
    return {series: [sum.get_total_count(), *(ranked(sum, percentile) for percentile in PERCENTILES.values())] for series, sum in sums.items()}


def ranked(histogram, percentile):
    """The value at the rank that Java and the report take for a percentile: the next whole one. Python's reader takes the nearest."""
    total = histogram.get_total_count()
    return histogram.get_value_at_percentile(100 * math.ceil(percentile / 100 * total - 1e-6) / total)


def findings(found, outcome):
    """What differs, in words."""
    counts, summary = outcome["counts"], outcome["summary"]
    numbers = {
        "rt": counts["answered"] + counts["unsent"] + counts["in_flight"],
        "st": counts["answered"],
        "wt": counts["answered"],
        "err-rt": counts["failed"] + counts["timed_out"],
    }
    for series, number in numbers.items():
        read = found.get(series, [0])[0]
        if read != number:
            yield f"{series}: {read} values, {number} in the report"
    for series, figures in {"rt": summary["response_ms"], "st": summary["service_ms"]}.items():
        for (name, _), nanos in zip(PERCENTILES.items(), found[series][1:]):
            told = figures[name] * 1e6
            if abs(nanos - told) > APART_MAX * told:
                yield f"{series} {name}: {nanos} ns, {told:.0f} in the report"
    if not found.get("hiccup"):
        yield "no hiccups"


def main(folder, reader, *classpath):
    folder = pathlib.Path(folder)
    outcome = json.loads((folder / "outcome.json").read_text())
    log = folder / "latency.hlog"
    found = by_java(log, *classpath) if reader == "java" else by_python(log)
    wrong = list(findings(found, outcome))
    for line in wrong:
        print(f"hlog: {reader}: {line}")
    if not wrong:
        print(f"hlog: {reader} reads {found['rt'][0]} responses and {found.get('err-rt', [0])[0]} failures as the report has them")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
