"""latte, an independent load generator, asked once for its own view of the closed-loop maximum: does it see the ratio that our client
sees? Only when it is installed; its absence is said in the report."""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

import cells
import servers

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = {"apm-R": "0.95", "apm-RW": "0.5", "apm-W": "0.01"}


def is_there():
    return shutil.which("latte") is not None


def cross_check(options, said):
    """Runs latte against both servers for each of its workloads that is in the size; writes latte.json."""
    chosen = {cell.workload for cell in options.cells()} & set(SCRIPTS)
    found = {}
    with tempfile.TemporaryDirectory(prefix="basalt-bench-latte-") as data:
        for workload in sorted(chosen):
            for server_name in cells.SERVERS[:2]:
                said(f"latte: {workload}, {server_name}")
                cell = cells.Cell(workload, "periodic", "free", server_name)
                server = servers.make(cell, pathlib.Path(data) / "server", options.memory)
                server.wipe()
                try:
                    server.start()
                    found.setdefault(workload, {})[server_name] = rate(options.size, SCRIPTS[workload])
                except servers.Failed as error:
                    said(f"latte: FAILED: {error}")
                finally:
                    server.stop()
    (options.out / "latte.json").write_text(json.dumps(found, indent=1))


def rate(size, reads):
    """Operations a second of latte's closed loop, after its own loading and as long a warm-up as the other client's."""
    script, target = str(HERE / "latte/apm.rn"), servers.ADDRESS
    shared = ["-P", f"rows={size.records}", "-P", f"reads={reads}"]
    latte("schema", script, target, *shared)
    latte("load", script, *shared, target)
    printed = latte("run", script, *shared, "--warmup", f"{size.warm_cassandra}s", "--duration", f"{size.maximum}s", "--connections", "16",
                    "--concurrency", "128", "--quiet", target)
    return parse(printed)


def latte(*words):
    ran = subprocess.run(["latte", *words], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise servers.Failed(f"latte {' '.join(words)}: {ran.stderr[-500:]}")
    return ran.stdout


def parse(printed):
    """The throughput line of latte's report."""
    found = re.search(r"Throughput[^\n]*\[op/s\]\s+([\d.,]+)", printed)
    if not found:
        raise servers.Failed(f"latte's report is not understood: {printed[-500:]}")
    return float(found[1].replace(",", ""))
