"""Compares what was recorded with what Cassandra's sources hold; writes the list of what is missing, and why.

Usage: judge.py SOURCES JACOCO_XML REPOSITORY OUTPUT. Fails on a gap that gaps.txt does not explain, and on an explanation without a gap.
"""
import os
import re
import sys

import functions
import grammar
import jacoco
import recorded
import sources


class Gaps:
    """The hand-written reasons: patterns under the reason they share. In a pattern only * is special."""

    def __init__(self, path):
        self.reasons, self.used = [], set()
        with open(path, encoding="utf-8") as f:
            for line in f.read().split("\n"):
                if line.startswith("reason: "):
                    self.reasons.append((line[8:], []))
                elif line and not line.startswith("#"):
                    self.reasons[-1][1].append((line, re.compile(".*".join(map(re.escape, line.split("*"))) + r"\Z", re.S)))

    def reason(self, gap):
        for reason, patterns in self.reasons:
            for text, pattern in patterns:
                if pattern.match(gap):
                    self.used.add(text)
                    return reason
        return None

    def unused(self):
        return [text for _, patterns in self.reasons for text, _ in patterns if text not in self.used]


def missing_sites(sites, lines, said):
    """The places whose text was not recorded, or that throw and never did."""
    for site in sites:
        heard = not site.texts or any(re.search(text, s, re.S) for text in site.texts for s in said)
        thrown = lines.executed(site.source, site.first, site.last) or (heard and site.texts and site.kind.startswith("check"))
        if not (heard and thrown):
            yield str(site)


def main(root, report, repository, output):
    here = os.path.dirname(os.path.abspath(__file__))
    lines = jacoco.Lines(report)
    cases = recorded.Recorded(os.path.join(repository, "tests/cql"))
    gaps = Gaps(os.path.join(here, "gaps.txt"))

    alternatives = grammar.alternatives(root)
    words = [(rule, word) for rule, of_rule in grammar.words(root).items() for word in of_rule]
    sites = sources.Sources(root).sites()
    natives = functions.listed(os.path.join(repository, "tests/golden/functions.txt"))
    parts = [
        ("grammar alternatives", len(alternatives), [str(a) for a in alternatives if not a.taken(lines)]),
        ("words a rule takes by a set", len(words), ["word %s: %s" % w for w in words if not grammar.spoken(w, cases)]),
        ("places that make an error or a warning", len(sites), list(missing_sites(sites, lines, cases.errors + cases.warnings))),
        ("native functions, by name and type of result", len(natives), functions.missing(natives, cases)),
    ]

    out = ["# What the recorded cases cover of Apache Cassandra 5.0.9, and each gap with its reason.",
           "# Written by oracle/coverage.sh; the reasons are kept in oracle/coverage/gaps.txt.", "",
           "requests recorded: %d in %d files; of these differ in form or answer, not only in names and values: %d"
           % (cases.requests, cases.files, cases.different)]
    unexplained, by_reason = [], {}
    for title, total, gap_list in parts:
        out.append("%s: %d, recorded %d, listed below %d" % (title, total, total - len(gap_list), len(gap_list)))
        for gap in gap_list:
            reason = gaps.reason(gap)
            if reason is None:
                unexplained.append(gap)
            by_reason.setdefault(reason, []).append(gap)
    for reason in [r for r, _ in gaps.reasons if r in by_reason]:
        out += ["", "## " + reason, ""] + by_reason[reason]
    with open(output, "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")

    print("\n".join(line for line in out[3:8]))
    for gap in unexplained:
        print("neither recorded nor listed: " + gap)
    for pattern in gaps.unused():
        print("listed in gaps.txt, but no gap: " + pattern)
    return 1 if unexplained or gaps.unused() else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
