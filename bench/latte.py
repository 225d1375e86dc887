"""latte, an independent load generator, asked once for its own view of the closed-loop maximum: does it see the ratio that our client
sees? Only when it is installed; its absence is said in the report."""
import json
import pathlib
import shutil
import subprocess
import tempfile

import cells
import servers

HERE = pathlib.Path(__file__).resolve().parent
# Reads in a thousand operations.
READS = {"apm-R": 950, "apm-RW": 500, "apm-W": 10}


def is_there():
    return shutil.which("latte") is not None


def cross_check(options, said):
    """Runs latte once against both servers for each of its workloads that is asked for; writes latte.json."""
    written = options.out / "latte.json"
    found = json.loads(written.read_text()) if written.exists() else {}
    chosen = ({cell.workload for cell in options.cells()} & set(READS)) - set(found)
    with tempfile.TemporaryDirectory(prefix="basalt-bench-latte-") as data:
        for workload in sorted(chosen):
            for server_name in cells.SERVERS[:2]:
                said(f"latte: {workload}, {server_name}")
                cell = cells.Cell(workload, "periodic", "free", server_name)
                server = servers.make(cell, pathlib.Path(data) / "server", options.memory)
                server.wipe()
                try:
                    server.start()
                    found.setdefault(workload, {})[server_name] = rate(options.size, READS[workload], data)
                except servers.Failed as error:
                    said(f"latte: FAILED: {error}")
                finally:
                    server.stop()
    if chosen:
        written.write_text(json.dumps(found, indent=1))


def rate(size, reads, folder):
    """Operations a second of latte's closed loop, after its own loading and as long a warm-up as Cassandra gets of the other client."""
    script, target, written = str(HERE / "latte/apm.rn"), servers.ADDRESS, pathlib.Path(folder) / "latte.json"
    shared = ["-P", f"rows={size.records}", "-P", f"reads={reads}"]
    latte("schema", *shared, script, target)
    latte("load", *shared, "--quiet", "--consistency", "LOCAL_ONE", script, target)
    latte("run", *shared, "--quiet", "--consistency", "LOCAL_ONE", "--warmup", f"{size.warm_cassandra}s", "--duration", f"{size.maximum}s",
          "--connections", str(size.connections), "--concurrency", str(size.users), "--output", str(written), script, target)
    return throughput(json.loads(written.read_text()))


def latte(*words):
    ran = subprocess.run(["latte", *words], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise servers.Failed(f"latte {' '.join(words)}: {(ran.stderr or ran.stdout)[-500:]}")


def throughput(found):
    """Operations a second, as latte's report has them."""
    try:
        return float(found["result"]["cycle_throughput"]["value"])
    except (KeyError, TypeError) as error:
        raise servers.Failed(f"latte's report has no throughput: {error}") from None
