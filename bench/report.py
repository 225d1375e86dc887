"""All records as one document: per group a table of figures with ratios. Prints nothing, runs nothing but `basalt stress compare`."""
import json
import pathlib
import subprocess

import cells
import figures
import page
import ratios
import servers
import store


def write(out, made_by, context):
    """Writes report.json and report.html into `out`; the page's path."""
    out = pathlib.Path(out)
    document = build(recorded(out, made_by), context)
    cross = out / "latte.json"
    document["cross_check"] = json.loads(cross.read_text()) if cross.exists() else None
    for group in document["groups"]:
        group["comparisons"] = comparisons(out, group)
    out.mkdir(parents=True, exist_ok=True)
    (out / "report.json").write_text(json.dumps(document, indent=1))
    (out / "report.html").write_text(page.html(document))
    print(page.text(document))
    return out / "report.html"


def recorded(out, made_by):
    """{cell: {turn: record}} of what is there."""
    found = {}
    for folder in sorted((out / "cells").glob("*")):
        cell = cells.parse(folder.name)
        for file in sorted(folder.glob("turn-*.json")):
            number = int(file.stem.removeprefix("turn-"))
            record = store.read(out, cell, number, made_by)
            if record:
                found.setdefault(cell, {})[number] = record
    return found


def build(records, context):
    """The document: context, then by group the servers and their figures."""
    groups = {}
    for cell, turns in records.items():
        groups.setdefault(cell.group, {})[cell.server] = turns
    order = [str(cell.group) for cell in cells.matrix()]
    notes = list(context["notes"])
    programs = {record["program"] for turns in records.values() for record in turns.values()}
    if len(programs) > 1:
        notes.append(f"the turns were made with several builds of this program: {', '.join(sorted(programs))}")
    document = {"format": store.FORMAT, **context, "notes": notes, "groups": []}
    for name in sorted(groups, key=order.index):
        document["groups"].append(group(name, groups[name], context["keep_void"]))
    return document


def group(name, by_server, keep_void=False):
    """One group: its figures, each server's by turn and in the mean, and ratios of Basalt over the others."""
    turns = {server: {number: figures.of_turn(record) for number, record in by_server[server].items()}
             for server in cells.SERVERS if server in by_server}
    names = list(dict.fromkeys(figure for found in turns.values() for number in found for figure in found[number]))
    rows = []
    for figure in names:
        row = {"figure": figure, "servers": {}, "ratios": {}, "notes": []}
        for server, found in turns.items():
            seen = {number: found[number][figure] for number in found if figure in found[number]}
            if not seen:
                continue
            first = next(iter(seen.values()))
            row.update(unit=first.unit, better=first.better)
            valid = values(seen, keep_void)
            row["servers"][server] = {"turns": {number: one.value for number, one in seen.items()}, "mean": ratios.mean(valid.values()),
                                      "void": [number for number, one in seen.items() if one.is_void],
                                      "folders": [one.folder for one in seen.values() if one.folder]}
            row["notes"] += [f"{server}, turn {number}: {note}" for number, one in seen.items() for note in one.notes]
        ours = {number: found[figure] for number, found in turns.get("basalt", {}).items() if figure in found}
        for server in turns:
            theirs = {number: found[figure] for number, found in turns[server].items() if figure in found}
            if server != "basalt" and ours and theirs:
                found = ratios.ratio(values(ours, keep_void), values(theirs, keep_void))
                row["ratios"][server] = found and {"value": found.value, "low": found.low, "high": found.high, "pairs": found.pairs,
                                                   "text": str(found)}
        rows.append(row)
    slices = ratio_of_work(rows)
    return {"name": name, "turns": {server: len(found) for server, found in turns.items()}, "rows": rows + slices}


def values(seen, keep_void):
    """The values that count."""
    return {number: one.value for number, one in seen.items() if one.value is not None and (keep_void or not one.is_void)}


def ratio_of_work(rows):
    """Operations a second of server CPU, Basalt over the others: how much more a server does with the same processor."""
    for row in rows:
        if row["figure"] == "maximum: server CPU an operation":
            return [{"figure": "maximum: operations a CPU second", "unit": "/s", "better": figures.HIGHER, "notes": row["notes"],
                     "servers": {server: {"turns": {number: value and 1e6 / value for number, value in found["turns"].items()},
                                          "mean": found["mean"] and 1e6 / found["mean"], "void": found["void"], "folders": []}
                                 for server, found in row["servers"].items()},
                     "ratios": {server: found and inverse(found) for server, found in row["ratios"].items()}}]
    return []


def inverse(found):
    """One over a ratio."""
    low, high = (found[end] and 1 / found[end] for end in ("high", "low"))
    turned = ratios.Ratio(1 / found["value"], low, high, found["pairs"])
    return {"value": turned.value, "low": low, "high": high, "pairs": turned.pairs, "text": str(turned)}


def comparisons(out, found):
    """What `basalt stress compare` says of the runs at each rate: Cassandra's before, Basalt's after."""
    said = []
    for row in found["rows"]:
        if not row["figure"].endswith(": response p99"):
            continue
        ours = row["servers"].get("basalt", {}).get("folders", [])
        for server, seen in row["servers"].items():
            if server != "basalt" and ours:
                ran = subprocess.run([servers.binary(), "stress", "compare", *seen["folders"], "vs", *ours], cwd=out, capture_output=True,
                                     text=True, check=False)
                said.append({"title": f"{row['figure'].partition(':')[0]}: {server} before, basalt after",
                             "text": ran.stdout if ran.returncode == 0 else ran.stderr})
    return said
