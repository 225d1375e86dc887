"""How much is measured, and for how long: the full matrix, the quick look, and a trial that only shows that all works.

Knows no server and no file. Seconds everywhere."""
import dataclasses

# Cassandra's JIT needs minutes: a fresh JVM does about half of what a warm one does.
WARM_CASSANDRA_LEAST = 300


@dataclasses.dataclass(frozen=True)
class Size:
    """What one turn of a cell consists of. A length of 0 leaves that part out."""
    name: str
    turns: int           # of each cell, Cassandra and Basalt one after the other: A B A B ...
    records: int         # loaded first, unless the workload has its own number
    warm_cassandra: int  # under the same workload, before anything is measured
    warm_basalt: int
    maximum: int         # of the closed loop
    rate: int            # of a run at a rate
    shares: tuple        # percent of Cassandra's maximum
    probe: int           # of one step of the search for a sustained rate
    probe_most: int      # of all runs at one rate of that search
    soak: int            # of W at 80 % of its own maximum
    sweep: int           # of a run of the sweep over users
    restart: bool        # stop after loading: disk bytes at rest, and the start on data
    settle: int          # at most, for what loading left behind
    repeats: int         # of a run that is void
    users: int = 128
    connections: int = 16

    def is_short(self):
        """Whether Cassandra is warmed for less than a comparison needs."""
        return self.warm_cassandra < WARM_CASSANDRA_LEAST


FULL = Size("full", turns=3, records=1_000_000, warm_cassandra=300, warm_basalt=60, maximum=60, rate=60, shares=(50, 70, 90), probe=20,
            probe_most=60, soak=600, sweep=20, restart=True, settle=120, repeats=3)
QUICK = Size("quick", turns=1, records=50_000, warm_cassandra=300, warm_basalt=5, maximum=6, rate=6, shares=(70,), probe=0,
             probe_most=0, soak=0, sweep=0, restart=False, settle=3, repeats=1)
TRIAL = Size("trial", turns=2, records=10_000, warm_cassandra=4, warm_basalt=2, maximum=3, rate=3, shares=(50, 70, 90), probe=2,
             probe_most=2, soak=4, sweep=2, restart=True, settle=5, repeats=1)
ALL = {size.name: size for size in (FULL, QUICK, TRIAL)}
