"""The report's document as a page that stands alone, and as text. Knows no file but the runs' own pages, which it links."""
import html as markup

from ratios import digits

STYLE = """:root{color-scheme:light dark;--ink:#1d2329;--dim:#5b6670;--paper:#fff;--rule:#d5dbe0;--good:#1a6b3c;--bad:#a3321f}
@media(prefers-color-scheme:dark){:root{--ink:#e6eaee;--dim:#a4afb9;--paper:#14181c;--rule:#384048;--good:#6fce97;--bad:#f0907e}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:62rem;margin:2rem auto;padding:0 1rem}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:.15rem .6rem;border-bottom:1px solid var(--rule);white-space:nowrap}
th:first-child,td:first-child{text-align:left;white-space:normal}th{color:var(--dim);font-weight:600}
.good{color:var(--good)}.bad{color:var(--bad)}.dim,.note{color:var(--dim)}.note{font-size:13px}
pre{overflow-x:auto;font-size:12.5px}a{color:inherit}"""


def html(document):
    """The page."""
    words = ["<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
             f"<title>Basalt and Apache Cassandra</title><style>{STYLE}</style>", "<h1>Basalt and Apache Cassandra</h1>",
             f"<p>{escape(head(document))}</p>"]
    words += [f"<p class=bad>{escape(note)}</p>" for note in document["notes"]]
    words.append("<p class=dim>A ratio is Basalt over Cassandra, over pairs of turns made one after the other; in brackets the interval "
                 "that holds 19 times of 20. A figure marked * is of runs some of which are void; void runs are in no mean and no "
                 "ratio.</p>")
    for group in document["groups"]:
        words.append(section(group))
    if document.get("cross_check"):
        words.append(f"<h2>Cross-check by latte</h2><pre>{escape(cross_check(document['cross_check']))}</pre>")
    return "\n".join(words)


def escape(text):
    return markup.escape(str(text))


def head(document):
    return f"{document['basalt']}; {document['processors']} processors, Linux {document['kernel']}."


def section(group):
    servers = list(group["turns"])
    others = [server for server in servers if server != "basalt"]
    head_cells = [f"{server} ({count})" for server, count in group["turns"].items()] + [f"basalt / {other}" for other in others]
    lines = [f"<h2>{escape(group['name'])}</h2><div class=wide><table><tr><th>figure (turns)" +
             "".join(f"<th>{escape(cell)}" for cell in head_cells)]
    for row in group["rows"]:
        lines.append(f"<tr><td>{escape(row['figure'])} <span class=dim>{escape(row['unit'])}</span>" +
                     "".join(f"<td>{shown(row['servers'].get(server))}" for server in servers) +
                     "".join(ratio_cell(row, other) for other in others))
    lines.append("</table></div>")
    notes = list(dict.fromkeys(note for row in group["rows"] for note in row["notes"]))
    if notes:
        lines.append("<details><summary class=dim>What to know of these runs</summary>" +
                     "".join(f"<p class=note>{escape(note)}</p>" for note in notes) + "</details>")
    for said in group.get("comparisons", ()):
        lines.append(f"<details><summary class=dim>{escape(said['title'])}</summary><pre>{escape(said['text'])}</pre></details>")
    folders = list(dict.fromkeys(folder for row in group["rows"] for seen in row["servers"].values() for folder in seen["folders"]))
    lines.append("<details><summary class=dim>Each run's own report</summary>" + " ".join(
        f"<p class=note><a href='{escape(folder)}/report.html'>{escape(folder)}</a></p>" for folder in folders) + "</details>")
    return "\n".join(lines)


def shown(seen):
    """The mean of a server, with a star when some of its turns are void."""
    if not seen:
        return ""
    return digits(seen["mean"]) + ("*" if seen["void"] else "")


def ratio_cell(row, other):
    found = row["ratios"].get(other)
    if not found:
        return "<td class=dim>-"
    sure = found["low"] is not None and (found["high"] < 1 or found["low"] > 1)
    is_good = (found["value"] < 1) == (row["better"] == "lower")
    name = ("good" if is_good else "bad") if sure else "dim"
    return f"<td class={name}>{escape(found['text'])}"


def text(document):
    """The same for a terminal."""
    lines = [head(document), *document["notes"]]
    for group in document["groups"]:
        servers = list(group["turns"])
        others = [server for server in servers if server != "basalt"]
        lines += ["", group["name"], " " * 62 + "".join(f"{server:>16}" for server in servers) +
                  "".join(f"{'basalt / ' + other:>28}" for other in others)]
        for row in group["rows"]:
            ratios = ((row["ratios"].get(other) or {"text": "-"})["text"] for other in others)
            lines.append(f"  {row['figure'] + ' ' + row['unit']:60}" +
                         "".join(f"{shown(row['servers'].get(server)):>16}" for server in servers) +
                         "".join(f"{ratio:>28}" for ratio in ratios))
    if document.get("cross_check"):
        lines += ["", "latte:", cross_check(document["cross_check"])]
    return "\n".join(lines)


def cross_check(found):
    return "\n".join(f"{name}: " + ", ".join(f"{server} {digits(rate)}/s" for server, rate in by_server.items())
                     for name, by_server in found.items())
