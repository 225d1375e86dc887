"""Makes a stock node sort sets as it does when it is new.

Cassandra keeps one serializer of sets for each type of elements, with the order it was first asked for
(SetSerializer.getInstance): once a set of a descending column's values came before any other set of that type, the node
sorts all of them the other way until it ends. So tables with a set and a map of every type come first.
"""
import record

TYPES = ("ascii bigint blob boolean date decimal double duration float inet int smallint text time timestamp timeuuid tinyint "
         "uuid varint").split()
KEYSPACE = "interned"


def settle(address):
    """Makes the tables and drops them again."""
    runner = record.Runner(address)
    columns = ["s_%s set<%s>, m_%s map<%s, %s>" % (t, t, t, t, t) for t in TYPES if t != "duration"]
    for statement in (
        "CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}" % KEYSPACE,
        "CREATE TABLE IF NOT EXISTS %s.t (k int PRIMARY KEY, %s)" % (KEYSPACE, ", ".join(columns)),
        "INSERT INTO %s.t JSON '{\"k\": 1}'" % KEYSPACE,
        "SELECT * FROM %s.t" % KEYSPACE,
        "DROP KEYSPACE " + KEYSPACE,
    ):
        answer = list(runner.run(record.Case(["cql: " + statement])))
        if any(line.startswith("error") for line in answer):
            raise SystemExit("%s: %s" % (statement, answer))
