"""Which cells there are, which of them are asked for, in which order their turns run, and how long that takes.

A cell is workload x durability x layout x server, named `apm-R.periodic.free.basalt`; the first three words are its group. Knows
no server, no file and no clock: everything here is computed."""
import dataclasses
import fnmatch

# name: (words of `basalt stress`, records where the workload has a number of its own, extra parts)
WORKLOADS = {
    "apm-R": ("apm R", None, ()),
    "apm-RW": ("apm RW", None, ()),
    "apm-W": ("apm W", None, ("soak",)),
    "apm-RS": ("apm RS", None, ()),
    "apm-RSW": ("apm RSW", None, ()),
    "apm-RS-slice": ("apm RS slice", None, ()),
    "yj-1": ("yj 1", 100_000, ("sweep",)),
    "yj-2": ("yj 2", 100_000, ("sweep",)),
    "tene": ("tene", None, ()),
}
QUICK_WORKLOADS = ("apm-R", "apm-W", "apm-RS")
# periodic: the log is synced every 10 s. synced: before the answer.
DURABILITIES = ("periodic", "synced")
# free: the kernel decides. pinned: server and client on processors of their own.
LAYOUTS = ("free", "pinned")
# The first is the reference: its maximum sets the rates of all others of the group.
SERVERS = ("cassandra-g1", "basalt", "cassandra-zgc")
REFERENCE = SERVERS[0]
SWEEP_USERS = (8, 16, 32, 64, 128, 180, 260)


@dataclasses.dataclass(frozen=True, order=True)
class Cell:
    workload: str
    durability: str
    layout: str
    server: str

    def __str__(self):
        return f"{self.group}.{self.server}"

    @property
    def group(self):
        return f"{self.workload}.{self.durability}.{self.layout}"

    def records(self, size):
        own = WORKLOADS[self.workload][1]
        return min(own or size.records, size.records)


def parse(text):
    """The cell of a name."""
    words = text.split(".")
    if len(words) != 4:
        raise ValueError(f"{text!r} is no cell: WORKLOAD.DURABILITY.LAYOUT.SERVER")
    for word, known in zip(words, (WORKLOADS, DURABILITIES, LAYOUTS, SERVERS)):
        if word not in known:
            raise ValueError(f"{text!r} is no cell: there is no {word!r} among {', '.join(known)}")
    return Cell(*words)


def matrix(servers=SERVERS):
    """Every cell, group by group."""
    return [Cell(workload, durability, layout, server)
            for workload in WORKLOADS for durability in DURABILITIES for layout in LAYOUTS for server in SERVERS if server in servers]


def quick():
    return [Cell(workload, "periodic", "free", server) for workload in QUICK_WORKLOADS for server in SERVERS[:2]]


def select(cells, patterns):
    """The cells that some pattern names: a whole name, its beginning up to a dot, or a name with stars. A pattern that names
    nothing is an error. The reference of a chosen group comes along, because the others' rates follow from it."""
    chosen = set()
    for pattern in patterns:
        named = [cell for cell in cells if fnmatch.fnmatchcase(str(cell), pattern) or str(cell).startswith(pattern + ".")]
        if not named:
            raise ValueError(f"no cell is named {pattern!r}")
        chosen.update(named)
    groups = {cell.group for cell in chosen}
    return [cell for cell in cells if cell in chosen or (cell.group in groups and cell.server == REFERENCE)]


def turns(cells, size):
    """(cell, number) of every turn in the order they run: group by group, and within a group in turn, the reference first."""
    groups = {}
    for cell in cells:
        groups.setdefault(cell.group, []).append(cell)
    return [(cell, number) for group in groups.values() for number in range(1, size.turns + 1)
            for cell in sorted(group, key=lambda cell: SERVERS.index(cell.server))]


def parts(cell, number, size):
    """What a turn does after loading, in order. What takes long and has bounds of its own is done in the first turn only."""
    extra = WORKLOADS[cell.workload][2]
    found = ["warm", "maximum"] + [f"rate-{share}" for share in size.shares] + ["own-80"]
    if number == 1:
        if size.probe:
            found += ["sustain-p99", "sustain-p99.9"]
        if size.soak and "soak" in extra:
            found.append("soak")
        if size.sweep and "sweep" in extra:
            found += [f"users-{users}" for users in SWEEP_USERS]
    return found


# What a search for a sustained rate takes in probes, roughly: doubling, halving the bracket, a second look.
SUSTAIN_PROBES = 14
# Seconds to start and to stop, roughly, and records a second while loading.
START = {"basalt": 1, "cassandra-g1": 12, "cassandra-zgc": 12}
# A fresh JVM begins slowly: seen on two processors, over the first 100,000 records.
LOAD_RATE = {"basalt": 60_000, "cassandra-g1": 6_000, "cassandra-zgc": 6_000}


def seconds(cell, number, size):
    """About how long a turn takes."""
    length = {"warm": size.warm_basalt if cell.server == "basalt" else size.warm_cassandra, "maximum": size.maximum, "soak": size.soak,
              "own-80": size.rate, "sustain-p99": size.probe * SUSTAIN_PROBES, "sustain-p99.9": size.probe * SUSTAIN_PROBES}
    total = START[cell.server] * (2 if size.restart else 1) + cell.records(size) / LOAD_RATE[cell.server] + size.settle / 2
    for part in parts(cell, number, size):
        total += length.get(part, size.sweep if part.startswith("users-") else size.rate) + 1
    return total


def seconds_of(turns, size):
    """About how long several turns take."""
    return sum(seconds(cell, number, size) for cell, number in turns)


def missing(all_turns, done):
    """The turns that are not done, in order; `done` is a set of (cell, number)."""
    return [turn for turn in all_turns if turn not in done]
