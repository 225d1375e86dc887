"""Where the records of turns are, and which of them there are: one JSON file a turn, written whole or not at all, so that a matrix that
was interrupted goes on where it stopped. A record made under other sizes or options is not the record that is asked for."""
import json
import os
import pathlib

FORMAT = 1


def path(out, cell, number):
    return pathlib.Path(out) / "cells" / str(cell) / f"turn-{number}.json"


def write(out, cell, number, made_by, record):
    """Writes a record. `made_by` says under which sizes and options."""
    target = path(out, cell, number)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_suffix(".draft")
    draft.write_text(json.dumps({"format": FORMAT, "made_by": made_by, **record}, indent=1))
    os.replace(draft, target)


def read(out, cell, number, made_by=None):
    """The record of a turn; None when there is none, or it was made under other sizes or options."""
    try:
        record = json.loads(path(out, cell, number).read_text())
    except FileNotFoundError:
        return None
    if record.get("format") != FORMAT or (made_by is not None and record["made_by"] != made_by):
        return None
    return record


def done(out, turns, made_by):
    """The turns of which there is a record."""
    return {(cell, number) for cell, number in turns if read(out, cell, number, made_by)}


def reference(out, cells_, reference_server, made_by):
    """By group: the maximum of the reference's first turn, which sets everybody's rates."""
    found = {}
    for cell in cells_:
        if cell.server == reference_server:
            record = read(out, cell, 1, made_by)
            if record:
                found[cell.group] = record["runs"]["maximum"]["rate"]
    return found
