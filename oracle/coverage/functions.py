"""Compares the functions of Cassandra's registry, as tests/golden/functions.txt lists them, with what was recorded.

Overloads that give the same type are told apart by no column of a result; `tests/golden/functions.txt` itself holds each, and
Basalt's own registry is compared with it. Here a name with a type of result counts as one.
"""
import re

TYPES = {"AsciiType": "ascii", "BooleanType": "boolean", "ByteType": "tinyint", "BytesType": "blob", "CounterColumnType": "counter",
         "DecimalType": "decimal", "DoubleType": "double", "DurationType": "duration", "FloatType": "float",
         "InetAddressType": "inet", "Int32Type": "int", "IntegerType": "varint", "LongType": "bigint", "ShortType": "smallint",
         "SimpleDateType": "date", "TimeType": "time", "TimeUUIDType": "timeuuid", "TimestampType": "timestamp",
         "UTF8Type": "text", "UUIDType": "uuid"}
OPERATORS = {"_add": "+", "_substract": "-", "_multiply": "*", "_divide": "/", "_modulo": "%"}


def listed(path):
    """(name, type of result) of each native function; the type is None for those made for the types they are given."""
    found = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            fields = line.rstrip("\n").split(" | ")
            if fields[0] == "function":
                found.append((fields[2], TYPES.get(fields[4], fields[4])))
            elif fields[0] == "factory":
                found.append((fields[1].split("(")[0], None))
    return sorted(set(found), key=str)


def missing(functions, cases):
    """Those of which no call was recorded with that type: in a column of a result, or by name alone where it may be anything."""
    text = "\n".join(cases.statements).lower()
    return ["function %s%s" % (name, " giving " + result if result else "")
            for name, result in functions if not recorded(name, result, cases, text)]


def recorded(name, result, cases, text):
    if name in OPERATORS:
        return any(kind == result and " %s " % OPERATORS[name] in column for column, kind in cases.results)
    if name == "_negate":
        return any(kind == result and column.startswith("-") for column, kind in cases.results)
    if name.startswith("cast_as_"):
        return any(kind == result and re.search(r"cast\(.* as %s\)|cast_as_%s" % (result, result), column) for column, kind in cases.results)
    # Results do not tell these from their other names.
    if result is None or name in ("count_rows", "countRows") or name.startswith("castAs"):
        return re.search(r"\b%s\"?\s*\(" % name.lower(), text) is not None
    # An alias is resolved to the name it stands for, or keeps its own.
    return any(kind == result and re.search(r"\b%s\(" % name, column) for column, kind in cases.results)
