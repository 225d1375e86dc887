"""`basalt stress` against one server: the command lines, and what they left behind. The same client for every server. Knows no server
and no order of things."""
import csv
import dataclasses
import json
import pathlib
import re
import subprocess

from servers import ADDRESS, PORT, Failed, binary, on

# Exit codes of `basalt stress` that leave a record behind: fine, degraded, invalid.
RECORDED = (0, 3, 4)
NO_RATE = 5
SLACK_SECONDS = 300
AGREEMENTS = {"sustain-p99": "p99<5ms", "sustain-p99.9": "p99.9<10ms"}


@dataclasses.dataclass(frozen=True)
class Client:
    """How the client asks: the words of its workload, the records it counts on, processors, connections, users."""
    words: str
    records: int
    cpus: str | None
    connections: int
    users: int

    def command(self, verb, *options, folder=None, sources=()):
        found = [binary(), "stress", verb, *self.words.split(), "--target", f"{ADDRESS}:{PORT}", "--records", str(self.records),
                 "--connections", str(self.connections), *options]
        for source in sources:
            found += ["--server", source]
        if folder:
            found += ["--out", str(folder)]
        return on(self.cpus, found)

    def ask(self, command, seconds, allowed=RECORDED):
        """Runs it; (exit code, what it printed)."""
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=seconds + SLACK_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise Failed(f"the client did not end: {' '.join(command)}") from None
        if ran.returncode not in allowed:
            raise Failed(f"the client ended with {ran.returncode}: {' '.join(command)}\n{(ran.stderr or ran.stdout)[-1500:]}")
        return ran.returncode, ran.stdout

    def load(self, folder):
        self.ask(self.command("load", "--threads", str(self.users), folder=folder), seconds=3600)
        return read(folder)

    def closed(self, folder, seconds, sources, users=None):
        """Users who each wait for their answer: as much as the server gives."""
        self.ask(self.command("run", "--threads", str(users or self.users), "--duration", f"{seconds}s", folder=folder, sources=sources),
                 seconds)
        return read(folder)

    def rate(self, folder, seconds, sources, rate):
        """Independent users who together send so many requests a second."""
        self.ask(self.command("run", "--rate", f"{rate:.0f}", "--arrivals", "poisson", "--duration", f"{seconds}s", folder=folder,
                              sources=sources), seconds)
        return read(folder)

    def sustain(self, folder, agreement, first, probe, most):
        """The highest rate that keeps an agreement, None when there is none; and the words that go with it."""
        command = self.command("sustain", "--sla", agreement, "--duration", f"{probe}s", "--probe", f"{most}s", "--no-soak", "--pause",
                               "1s", "--from", f"{first:.0f}", folder=folder)
        code, printed = self.ask(command, seconds=most * 40, allowed=(0, NO_RATE))
        return sustained(code, printed)


def sustained(code, printed):
    """What `sustain` says."""
    paragraphs = [part for part in printed.strip().split("\n\n") if not part.startswith("recorded in")]
    answer = paragraphs[-1].splitlines()
    if code == NO_RATE:
        return {"rate": None, "answer": answer}
    found = re.search(r"^([\d,]+)/s is sustained", "\n".join(answer), re.MULTILINE)
    if not found:
        raise Failed(f"the client's answer is not understood: {printed[-500:]}")
    return {"rate": float(found[1].replace(",", "")), "answer": answer}


def read(folder):
    """The figures of a recorded run: what its summary says, and the seconds of it."""
    folder = pathlib.Path(folder)
    outcome = json.loads((folder / "outcome.json").read_text())
    with open(folder / "intervals.csv", newline="") as table:
        seconds = list(csv.DictReader(table))
    return summary(outcome, seconds)


def summary(outcome, seconds):
    """An outcome without its histograms. Response times only where there was a plan."""
    counts, own = outcome["counts"], outcome["client"]
    found = {"rate": outcome["summary"]["rate"], "counts": counts, "service_ms": outcome["summary"]["service_ms"],
             "client": {"verdict": own["verdict"], "reason": own["reason"], "cpu_seconds": own["cpu_nanos"] / 1e9},
             "invalid": outcome["invalid"], "server": outcome["setting"]["server"], "load": outcome["load"],
             "answered_by_second": [int(second["answered"]) for second in seconds]}
    if "open" in outcome["load"]:
        found["response_ms"] = outcome["summary"]["response_ms"]
    return found
