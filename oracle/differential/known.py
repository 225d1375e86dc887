"""Differences that COMPAT.md lists, each as one narrow rule. A rule whose line is no longer there is an error at start.

A rule is told the case and both answers (client.Answer: Cassandra's, Basalt's) and says whether they differ only so.
"""
import math
import pathlib
import re
import struct

from . import spelling

RULES = []


def compat(line):
    """Registers a rule under its name, with the words of COMPAT.md that it stands for."""
    def register(function):
        RULES.append((function.__name__, line, function))
        return function
    return register


def check():
    page = (pathlib.Path(__file__).parents[2] / "COMPAT.md").read_text()
    words = " ".join(page.split())
    for name, line, _ in RULES:
        if line not in words:
            raise SystemExit("known.py: rule %s: COMPAT.md does not say %r" % (name, line))


def rule(case, both):
    return next((name for name, _, holds in RULES if holds(case, *both)), None)


def both_errors(cassandra, basalt):
    return cassandra.kind == basalt.kind == "error"


SERVER_ERROR, WRITE_TIMEOUT, READ_TIMEOUT, READ_FAILURE, WRITE_FAILURE = 0x0000, 0x1100, 0x1200, 0x1300, 0x1500
WRITTEN_IN_PART = (WRITE_TIMEOUT, WRITE_FAILURE)
UNAVAILABLE = 0x1000
CLIENT_ERRORS = (0x1400, 0x2000, 0x2100, 0x2200, 0x2300, 0x2400, 0x2500)


@compat("Where the text of a Java exception gets out of Cassandra, ours says what is wrong in words of its own")
def java_exception(case, cassandra, basalt):
    return both_errors(cassandra, basalt) and cassandra.code == SERVER_ERROR and basalt.code in CLIENT_ERRORS + (SERVER_ERROR,)


@compat("except where its parser stumbles and a Java exception's text gets out")
def parser_stumbles(case, cassandra, basalt):
    """Actions of its grammar run on parts that were not there, before the error that is the first one here is reported."""
    both = both_errors(cassandra, basalt) and cassandra.code == basalt.code == 0x2000
    return both and cassandra.message.startswith("Failed parsing statement: [") and "Exception " in cassandra.message


@compat("A `decimal` of a scale without digits")
def decimal_without_digits(case, cassandra, basalt):
    return both_errors(cassandra, basalt) and cassandra.code == SERVER_ERROR and "Zero length BigInteger" in cassandra.message


@compat("digits that adding, dividing or rounding a `decimal` takes | 100,000")
def too_many_digits(case, cassandra, basalt):
    """`exp` of 300,000, say. A hundred thousand digits are some 41,500 bytes."""
    refused = basalt.kind == "error" and basalt.message.endswith(": Overflow")
    return refused and cassandra.kind == "rows" and any(len(value or b"") > 41_500 for row in cassandra.rows for value in row)


@compat("`ALTER TYPE` that changes nothing")
def altered_to_the_same(case, cassandra, basalt):
    return case.statements[0][0].startswith("ALTER TYPE") and cassandra.kind == "schema_change" and basalt.kind == "void"


@compat("are named in the order of their names, in Cassandra in that of their last change")
def order_of_names(case, cassandra, basalt):
    if not both_errors(cassandra, basalt) or cassandra.code != basalt.code:
        return False
    names = lambda answer: sorted(re.split(r"[, ]+", answer.message))
    in_the_way = " tables: " in cassandra.message or " still used by " in cassandra.message
    return in_the_way and names(cassandra) == names(basalt)


@compat("of which Cassandra stores more than one byte")
def long_tinyint(case, cassandra, basalt):
    return cassandra.kind != "error" and basalt.kind == "error" and basalt.message.startswith("Expected 1 byte for a tinyint (")


@compat("Conditions are asked in the order of the text, in Cassandra in that of hashes")
def order_of_conditions(case, cassandra, basalt):
    """One says that a condition does not hold, the other that one cannot be asked; or two cannot be asked."""
    cannot = ("Invalid comparison with null for operator", "Invalid 'unset' value in condition")
    if both_errors(cassandra, basalt) and cassandra.message.startswith(cannot) and basalt.message.startswith(cannot):
        return True
    kinds = sorted((cassandra, basalt), key=lambda answer: answer.kind)
    failed, refused = (kinds[1], kinds[0]) if kinds[0].kind == "error" else (None, None)
    if not failed or failed.kind != "rows" or failed.columns[0][2] != "[applied]" or failed.rows[0][0] != b"\0":
        return False
    return refused.message.startswith(cannot)


@compat("operators of several types fit equally. Cassandra takes any of them")
def any_operator(case, cassandra, basalt):
    """The type that a list is refused for is that of the operator, or cast, that Cassandra happens to try first."""
    plain = lambda answer: re.sub(r"^Unexpected receiver type '\w+';", "", answer.message)
    return both_errors(cassandra, basalt) and cassandra.code == basalt.code and plain(cassandra) == plain(basalt) != basalt.message


@compat("Where Cassandra fails inside on a statement that has a meaning, ours does what the statement says")
def cassandra_fails_inside(case, cassandra, basalt):
    failed = cassandra.kind == "error" and cassandra.code in (SERVER_ERROR, WRITE_TIMEOUT, READ_TIMEOUT, READ_FAILURE, WRITE_FAILURE)
    # Too few replicas is what a statement says, too, when Cassandra failed before it asked.
    return failed and (basalt.kind != "error" or basalt.code in CLIENT_ERRORS + (UNAVAILABLE,))


@compat("there the write times out, in a batch once it is known what else is wrong")
def null_bound_in_a_batch(case, cassandra, basalt):
    batch = "batch" in case.options or "BATCH" in case.statements[0][0].upper()
    refused = both_errors(cassandra, basalt) and basalt.message.startswith("Invalid null value in condition for column")
    return batch and refused and cassandra.code in CLIENT_ERRORS


@compat("a client warning names those that were given a value other than Cassandra's default")
def option_without_effect(case, cassandra, basalt):
    extra = [w for w in basalt.warnings if w not in cassandra.warnings]
    return cassandra.kind == basalt.kind == "schema_change" and cassandra.change == basalt.change and all("no effect" in w or "as before until the node starts again" in w for w in extra)


@compat("pages of `GROUP BY` over all partitions of a table without clustering columns go on to the end")
def refused_group_by_page(case, cassandra, basalt):
    """The state that Cassandra writes ends in nine bytes 0xff: a remaining count of -1, which it then refuses."""
    alike = cassandra.kind == basalt.kind == "rows" and cassandra.rows == basalt.rows and cassandra.columns == basalt.columns
    return alike and (cassandra.paging_state or b"").endswith(b"\xff" * 9)


@compat("The sign and the lower bits of a NaN that was computed are not defined")
def bits_of_nan(case, cassandra, basalt):
    alike = cassandra.kind == basalt.kind == "rows" and cassandra.columns == basalt.columns and cassandra.paging_state == basalt.paging_state
    return alike and with_one_nan(cassandra) == with_one_nan(basalt)


def with_one_nan(answer):
    """The rows with every NaN of a column of floats as the same one."""
    def plain(kind, value):
        form = {("double", 8): ">d", ("float", 4): ">f"}.get((kind, len(value or b"")))
        return b"NaN" if form and math.isnan(struct.unpack(form, value)[0]) else value
    return [[plain(column[3], value) for column, value in zip(answer.columns, row)] for row in answer.rows]


@compat("Of two spellings the larger as bytes is shown, in any order of writing")
def spelling_of_equal_clusterings(case, cassandra, basalt):
    alike = cassandra.kind == basalt.kind == "rows" and cassandra.columns == basalt.columns and len(cassandra.rows) == len(basalt.rows)
    def plain(answer):
        return [[spelling.canonical(column[3], value) for column, value in zip(answer.columns, row)] for row in answer.rows]
    return alike and plain(cassandra) == plain(basalt) and spelling.alike(cassandra.paging_state, basalt.paging_state)


@compat("where a flush (an `ALTER TABLE` brings one) came between them it shows")
def cells_apart_from_their_insertion(case, cassandra, basalt):
    """Cassandra has rows more, whose place on Basalt's page those behind them take; rows that look alike differ in the place
    where their page ends."""
    alike = getattr(case, "flushed", False) and cassandra.kind == basalt.kind == "rows" and cassandra.columns == basalt.columns
    if not alike:
        return False
    rest, extra = list(basalt.rows), 0
    for row in cassandra.rows:
        if rest and rest[0] == row:
            rest.pop(0)
        else:
            extra += 1
    if not extra and not rest:
        return cassandra.paging_state is not None and cassandra.paging_state != basalt.paging_state
    return extra > 0 and (not rest or cassandra.paging_state is not None or len(cassandra.rows) == len(basalt.rows))
