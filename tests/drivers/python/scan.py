"""Reads a large table with the Python driver in pages of many sizes: each row once, in token order.

Loads BASALT_SCAN_ROWS rows (1,000,000 without it) in partitions of 1 to 5,000 rows, then reads `SELECT *` with each
page size and compares with what was written. The node's address comes from BASALT_HOST and BASALT_PORT; if its process
id is in BASALT_PID, its memory is watched meanwhile and must not grow beyond BASALT_SCAN_GROWTH_MIB.
"""

import os
import sys
import time

from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.concurrent import execute_concurrent_with_args
from cassandra.metadata import Murmur3Token
from cassandra.policies import WhiteListRoundRobinPolicy
from cassandra.query import BatchStatement, BatchType, tuple_factory

HOST, PORT = os.environ["BASALT_HOST"], int(os.environ["BASALT_PORT"])
ROWS = int(os.environ.get("BASALT_SCAN_ROWS") or 1_000_000)
PID = os.environ.get("BASALT_PID")
GROWTH_MIB = int(os.environ.get("BASALT_SCAN_GROWTH_MIB") or 128)
PAGE_SIZES = (100, 500, 1000, 5000)
# Rows of a partition; in turn, with as many small partitions as keep a fifth of all rows in partitions of one row.
WIDTHS = (50, 300, 7, 5000, 2, 100)
SINGLES = 1365
ROWS_PER_BATCH = 100


def memory_mib(field="VmRSS"):
    """Resident memory of the node."""
    with open(f"/proc/{PID}/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith(field + ":"))
    return int(line.split()[1]) / 1024


def partitions():
    """Partition keys and how many rows each has; ROWS rows in all."""
    left, key = ROWS, 0
    while left:
        for width in WIDTHS + (1,) * SINGLES:
            if left:
                yield key, min(width, left)
                key, left = key + 1, left - min(width, left)


def value(p, c):
    return f"row {c} of {p}"


def load(session):
    insert = session.prepare("INSERT INTO scan.t (p, c, v) VALUES (?, ?, ?)")
    singles = ((p, 0, value(p, 0)) for p, width in partitions() if width == 1)
    execute_concurrent_with_args(session, insert, singles, concurrency=200, results_generator=False)
    in_flight = []
    for p, width in partitions():
        for start in range(0, width if width > 1 else 0, ROWS_PER_BATCH):
            batch = BatchStatement(BatchType.UNLOGGED)
            for c in range(start, min(start + ROWS_PER_BATCH, width)):
                batch.add(insert, (p, c, value(p, c)))
            in_flight.append(session.execute_async(batch))
            if len(in_flight) == 32:
                for future in in_flight:
                    future.result()
                in_flight.clear()
    for future in in_flight:
        future.result()


def scan(session, page_size, expected):
    """One SELECT *; answers the most memory that the node took meanwhile."""
    session.default_fetch_size = page_size
    result = session.execute("SELECT * FROM scan.t", timeout=60)
    seen, token, partition, next_c, peak, pages = 0, None, None, 0, 0, 0
    while True:
        page = result.current_rows
        full = not result.has_more_pages or len(page) == page_size
        assert full, f"page {pages} has {len(page)} rows of {page_size}"
        for p, c, v in page:
            if p != partition:
                assert partition is None or next_c == expected[partition], f"{partition} ends at row {next_c}"
                new = Murmur3Token.hash_fn(p.to_bytes(4, "big"))
                assert token is None or new > token, f"partition {p}: token {new} after {token}"
                token, partition, next_c = new, p, 0
            assert c == next_c, f"partition {p}: row {c}, not {next_c}"
            assert v == value(p, c), f"row {p}, {c} holds {v!r}"
            next_c += 1
        seen, pages = seen + len(page), pages + 1
        if PID and pages % 20 == 0:
            peak = max(peak, memory_mib())
        if not result.has_more_pages:
            break
        result.fetch_next_page()
    assert next_c == expected[partition], f"{partition} ends at row {next_c}"
    assert seen == ROWS, f"{seen} rows of {ROWS}"
    return peak


def main():
    profile = ExecutionProfile(load_balancing_policy=WhiteListRoundRobinPolicy([HOST]), row_factory=tuple_factory,
                               request_timeout=60)
    with Cluster([HOST], port=PORT, execution_profiles={EXEC_PROFILE_DEFAULT: profile}) as cluster:
        session = cluster.connect()
        session.execute("DROP KEYSPACE IF EXISTS scan")
        session.execute("CREATE KEYSPACE scan WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
        session.execute("CREATE TABLE scan.t (p int, c int, v text, PRIMARY KEY (p, c))")
        start = time.monotonic()
        load(session)
        took = time.monotonic() - start
        expected = dict(partitions())
        print(f"scan: {ROWS} rows in {len(expected)} partitions loaded in {took:.0f} s", flush=True)
        before = memory_mib() if PID else 0
        for page_size in PAGE_SIZES:
            start = time.monotonic()
            peak = max(scan(session, page_size, expected), memory_mib() if PID else 0)
            took = time.monotonic() - start
            print(f"scan: pages of {page_size}: each row once and in token order, {took:.1f} s, "
                  f"{ROWS / took:.0f} rows a second" + (f", node at {peak:.0f} MiB" if PID else ""), flush=True)
            assert not PID or peak < before + GROWTH_MIB, f"memory grew from {before:.0f} to {peak:.0f} MiB"
        if PID:
            print(f"scan: node's memory {before:.0f} MiB before the scans, {memory_mib():.0f} MiB after, "
                  f"{memory_mib('VmHWM'):.0f} MiB at most")
        session.execute("DROP KEYSPACE scan")


if __name__ == "__main__":
    sys.exit(main())
