"""What a turn's record comes to: named figures, each with a unit, which way is better, and what makes it doubtful. Knows no ratio and
no page."""
import dataclasses

LOWER, HIGHER = "lower", "higher"
COLD_SECONDS = 10
# Requests below which a percentile is not quoted: ten have to lie beyond it.
PERCENTILES = {"p50": 20, "p99": 1_000, "p99.9": 10_000, "max": 1}


@dataclasses.dataclass(frozen=True)
class Figure:
    value: float | None
    unit: str
    better: str
    notes: tuple = ()   # what a reader must know
    folder: str = ""
    is_void: bool = False


def of_turn(record):
    """{name: Figure} of a turn."""
    found = {}
    for name, run in record["runs"].items():
        found.update(of_run(name, run, record))
    found["start, empty"] = Figure(record["start_empty_seconds"], "s", LOWER)
    if "start_loaded_seconds" in record:
        found["start, loaded"] = Figure(record["start_loaded_seconds"], "s", LOWER)
    if "disk_loaded" in record:
        found["disk, loaded"] = Figure(record["disk_loaded"]["data"] / 1e6, "MB", LOWER)
        found["disk a record"] = Figure(record["disk_loaded"]["data"] / max(1, record["records"]), "bytes", LOWER)
    found["resident memory"] = Figure(record["resident"]["now"] / 2**20, "MiB", LOWER)
    found["resident memory, highest"] = Figure(record["resident"]["peak"] / 2**20, "MiB", LOWER)
    return found


def of_run(name, run, record):
    """The figures of one run of a turn."""
    about = {"notes": doubts(run), "folder": run["folder"], "is_void": bool(run["void"])}
    if name.startswith("sustain-"):
        agreement = name.removeprefix("sustain-")
        about["notes"] += tuple(run["answer"])
        return {f"sustained at {LIMITS[agreement]}": Figure(run["rate"], "/s", HIGHER, **about)}
    title = TITLES.get(name) or named(name)
    cpu = per_operation(run["watch"]["server_cpu_seconds"], run)
    found = {f"{title}: server CPU an operation": Figure(cpu, "us", LOWER, **about)}
    if name in ("load", "maximum") or name.startswith("users-"):
        found[f"{title}: throughput"] = Figure(run["rate"], "/s", HIGHER, **about)
        found[f"{title}: server's part of the CPU used"] = Figure(server_part(run), "%", LOWER, **about)
    if name == "warm":
        found = {"cold: throughput of the first seconds": Figure(cold(run["answered_by_second"]), "/s", HIGHER, **about)}
    for clock in ("response", "service") if name not in ("warm", "load") else ():
        figures = run.get(f"{clock}_ms")
        for percentile in PERCENTILES if figures else ():
            known = run["counts"]["answered"] >= PERCENTILES[percentile]
            found[f"{title}: {clock} {percentile}"] = Figure(figures[percentile] if known else None, "ms", LOWER, **about)
    if name == "own-80" and "response_ms" in run:
        times = run["response_ms"]["p99"] / max(run["service_ms"]["p99"], 1e-9)
        found[f"{title}: response over service at p99"] = Figure(times, "x", LOWER, **about)
    return found


LIMITS = {"p99": "p99 < 5 ms", "p99.9": "p99.9 < 10 ms"}
TITLES = {"load": "load", "maximum": "maximum", "own-80": "80 % of own maximum", "soak": "ten minutes at 80 % of own maximum"}


def named(name):
    kind, _, argument = name.partition("-")
    return f"{argument} users" if kind == "users" else f"{argument} % of Cassandra's maximum"


def doubts(run):
    """Void first, then what the client says of itself and of the server."""
    found = [f"void: {reason}" for reason in run["void"]]
    client = run.get("client")
    if client and client["verdict"] != "ok":
        found.append(f"client {client['verdict']}: {client['reason']}")
    found += [f"invalid: {reason}" for reason in run.get("invalid", ())]
    counts = run.get("counts")
    if counts:
        lost = counts["failed"] + counts["timed_out"] + counts["in_flight"] + counts["unsent"]
        if lost:
            found.append(f"{lost} of {counts['planned']} requests failed or had no answer")
    return tuple(found)


def per_operation(seconds, run):
    """Microseconds of processor time an answered operation."""
    answered = run["counts"]["answered"]
    return seconds * 1e6 / answered if answered else None


def server_part(run):
    server, client = run["watch"]["server_cpu_seconds"], run["client"]["cpu_seconds"]
    return 100 * server / (server + client) if server + client else None


def cold(answered):
    """Answers a second right after the start."""
    first = answered[:COLD_SECONDS]
    return sum(first) / len(first) if first else None
