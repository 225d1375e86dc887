"""Finds the alternatives of Cassandra's grammar in the parser and lexer that ANTLR generated from it, which keep its rules as comments."""
import os
import re

PLACE = re.compile(r"// (Parser|Lexer)\.g:(\d+):\d+: (.*)")
SET = re.compile(r"^\w*\s*=?\s*\(\s*(\S+(?: \| \S+)+) \)(?: .*)?$")


class Alternative:
    """One alternative of a rule: its name, and its own lines, without those of alternatives inside it."""

    def __init__(self, source, name, lines):
        self.source, self.name, self.lines = source, name, lines

    def __str__(self):
        return self.name

    def taken(self, executed):
        """Whether it was taken to its end: its last line that has code was executed. An empty one has none."""
        known = [n for n in self.lines if executed.known(self.source, n)]
        return not known or executed.executed(self.source, known[-1])


def alternatives(root):
    """All alternatives of both grammars. A rule with one alternative counts as one."""
    found = []
    for source in ("cql3/Cql_Parser.java", "cql3/Cql_Lexer.java"):
        with open(os.path.join(root, source), encoding="utf-8") as f:
            lines = f.read().split("\n")
        rule, fresh = "", False
        for i, line in enumerate(lines):
            start = re.search(r'\$ANTLR start "?(\w+)', line)
            if start:
                rule, fresh = start.group(1), True
                continue
            place = PLACE.search(line)
            if not place or rule.startswith("synpred") or place.group(2) == "1":
                continue
            case = re.match(r"\t*case (\d+) :", lines[i - 1])
            if case or fresh and lines[i + 1].strip() == "{":
                tabs = re.match(r"\t*", line).group(0)
                end = next(n for n in range(i + 1, len(lines)) if lines[n] == tabs + "}")
                found.append(Alternative(source, name(place, rule),
                                         [n + 1 for n in range(i, end) if re.match(tabs + r"[^\t]", lines[n])]))
            fresh = fresh and not case
    return found


def words(root):
    """The words that a rule takes by a set, by rule: an alternative each, which leaves no trace in lines."""
    sets = {}
    with open(os.path.join(root, "cql3/Cql_Parser.java"), encoding="utf-8") as f:
        rule = ""
        for line in f:
            start = re.search(r'\$ANTLR start "(\w+)', line)
            rule = start.group(1) if start else rule
            place = PLACE.search(line)
            taken = place and SET.match(place.group(3))
            if taken and all(word.startswith("K_") for word in taken.group(1).split(" | ")):
                sets[rule] = [word[2:].lower() for word in taken.group(1).split(" | ")]
    return sets


def name(place, rule):
    text = re.sub(r"\s+", " ", place.group(3))
    return "%s.g:%s %s: %s" % (place.group(1), place.group(2), rule, text if len(text) <= 100 else text[:97] + "...")


def spoken(rule_and_word, cases):
    """Whether the word was recorded where the rule takes it: as the name of a column where the rule is one of names."""
    rule, word = rule_and_word
    word = {"positive_nan": "nan", "negative_nan": "-nan"}.get(word, word)
    if rule in ("basic_unreserved_keyword", "unreserved_keyword"):
        return word in cases.columns
    return any(re.search(r"(?<!\w)%s\b" % word, statement, re.I) for statement in cases.statements)
