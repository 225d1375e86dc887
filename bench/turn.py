"""One turn of a cell: a server on a fresh directory, loaded, warmed, measured part by part, stopped. Every run is watched, and one that
is void is made again, a bounded number of times. Knows no other cell but the reference rate it is handed."""
import time

import cells
import servers
import stress
import watch


class Turn:
    """`folder` is where runs are recorded, `directory` the server's; `said` hears of what goes on."""

    def __init__(self, cell, number, size, options, folder, directory, said):
        self.cell, self.number, self.size, self.options, self.folder, self.said = cell, number, size, options, folder, said
        self.server = servers.make(cell, directory, options.memory)
        _, cpus = servers.pinned(cell.layout)
        words = cells.WORKLOADS[cell.workload][0]
        self.client = stress.Client(words, cell.records(size), cpus, size.connections, size.users)
        self.runs = {}

    def run(self, reference):
        """Makes the turn; returns its record. `reference` is Cassandra's maximum, None when this turn is the one that finds it."""
        began = time.time()
        record = {"cell": str(self.cell), "turn": self.number, "began": began, "program": servers.digest(), "runs": self.runs}
        try:
            self.prepare(record)
            for part in cells.parts(self.cell, self.number, self.size):
                self.part(part, reference)
                if part == "maximum" and reference is None:
                    reference = self.runs["maximum"]["rate"]
            record["resident"] = watch.resident(self.server.pid)
        finally:
            self.server.stop()
        record["disk_end"] = self.server.disk()
        record["reference_rate"] = reference
        record["seconds"] = time.time() - began
        return record

    def prepare(self, record):
        """An empty server, its records, and what lies on the disk when all is at rest."""
        self.server.wipe()
        record["start_empty_seconds"] = self.server.start()
        self.runs["load"] = self.watched("load", lambda folder: self.client.load(folder), repeats=0)
        record["settle_seconds"] = watch.settle(self.server.pid, self.size.settle)
        record["records"] = self.client.records
        if self.size.restart:
            self.server.stop()
            record["disk_loaded"] = self.server.disk()
            record["start_loaded_seconds"] = self.server.start()

    def part(self, part, reference):
        """One part, by its name."""
        kind, _, argument = part.partition("-")
        size, client, sources = self.size, self.client, self.server.sources()
        if part == "warm":
            seconds = size.warm_basalt if self.cell.server == "basalt" else size.warm_cassandra
            self.runs[part] = self.watched(part, lambda folder: client.closed(folder, seconds, sources), repeats=0)
        elif part == "maximum":
            self.runs[part] = self.watched(part, lambda folder: client.closed(folder, size.maximum, sources))
        elif kind == "rate":
            rate = reference * int(argument) / 100
            self.runs[part] = self.watched(part, lambda folder: client.rate(folder, size.rate, sources, rate))
        elif kind == "own" or part == "soak":
            seconds, rate = size.soak if part == "soak" else size.rate, self.runs["maximum"]["rate"] * 0.8
            self.runs[part] = self.watched(part, lambda folder: client.rate(folder, seconds, sources, rate))
        elif kind == "users":
            self.runs[part] = self.watched(part, lambda folder: client.closed(folder, size.sweep, sources, users=int(argument)))
        else:
            first = self.runs["maximum"]["rate"] / 8
            agreement = stress.AGREEMENTS[part]
            self.runs[part] = self.watched(
                part, lambda folder: client.sustain(folder, agreement, first, size.probe, size.probe_most))

    def watched(self, name, work, repeats=None):
        """Runs `work` under watch until it is not void, as often as is allowed; the last one stands, with what made it void."""
        repeats = self.size.repeats if repeats is None else repeats
        for attempt in range(repeats + 1):
            if attempt and self.options.is_late():
                break
            folder = self.folder / (name if attempt == 0 else f"{name}-again-{attempt}")
            self.said(f"{self.cell} turn {self.number}: {name}" + (f", again ({attempt})" if attempt else ""))
            with watch.Watch(self.server.pid) as seen:
                found = work(folder)
            found.update(watch=seen.record(), folder=str(folder.relative_to(self.options.out)), attempts=attempt + 1)
            found["void"] = watch.void(found["watch"])
            if not found["void"]:
                break
            self.said(f"  void: {'; '.join(found['void'])}")
            if self.options.keep_void:
                break
        return found
