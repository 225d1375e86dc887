"""Judges the exchanges of one case: alike, alike by a known rule, or different."""
import re

import client
import record

from . import known

SYNTAX = 0x2000
PARSERS_OWN = ("line ", "Failed parsing statement: ")
ADDRESS = re.compile(r"/127\.0\.0\.\d+:7000")


class Verdict:
    """`kind` is 'same', 'syntax text', the name of a known rule, or 'different'; `answers` are both as .cqltest lines."""

    def __init__(self, kind, answers=None, signature=""):
        self.kind, self.answers, self.signature = kind, answers, signature

    @property
    def different(self):
        return self.kind == "different"


def parsed(raw, version):
    return [client.Answer(*answer, version) for answer in raw]


def judge(case, exchanges):
    version = int(case.options.get("protocol", "5"))
    for number, raw in enumerate(exchanges):
        if raw[0] == raw[1]:
            continue
        both = parsed(raw, version)
        lines = [nowhere(record.Runner.lines(None, a)) for a in both]
        if lines[0] == lines[1]:
            if bytes_differ(*both):
                return Verdict("different", lines, "bytes")
            continue
        if all(a.kind == "error" and a.code == SYNTAX for a in both) and both[0].message.startswith(PARSERS_OWN):
            return Verdict("syntax text", lines)
        rule = known.rule(case, both)
        if rule:
            return Verdict(rule, lines)
        return Verdict("different", lines, signature(both))
    return Verdict("same")


def nowhere(lines):
    """Errors without the address of the node that failed: each server names its own."""
    return [ADDRESS.sub("/ADDRESS:7000", line) if line.startswith("error: ") else line for line in lines]


def bytes_differ(one, other):
    """Whether answers that read alike differ in bytes for another reason than text without fixed order, or an address."""
    if one.kind != "error" or other.kind != "error":
        return True
    return len(one.raw) != len(other.raw) and not ADDRESS.search(one.message)


def failed(exchanges, version):
    """Whether Cassandra answered with an error, so that nothing can have changed."""
    return exchanges[-1][0][0] == client.OPCODES["ERROR"]


def signature(both):
    """What kind of difference it is, without the names and values of the seed."""
    def one(a):
        if a.kind != "error":
            return a.kind
        return "0x%04x %s" % (a.code, " ".join(w for w in a.message.split() if w.isalpha()))
    what = " / ".join(map(one, both))
    if all(a.kind == "rows" for a in both):
        what += " columns" if both[0].columns != both[1].columns else " count" if len(both[0].rows) != len(both[1].rows) else \
            " order" if sorted(map(repr, both[0].rows)) == sorted(map(repr, both[1].rows)) else " values" if both[0].rows != both[1].rows else " paging"
    if both[0].warnings != both[1].warnings:
        what += " warnings"
    return what
