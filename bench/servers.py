"""The servers under test: each on a fresh directory, started, asked until it answers, stopped. `cassandra.py` knows Cassandra's own
options; nothing here knows what is measured."""
import hashlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

import cassandra

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "oracle"))
import client  # noqa: E402  the oracle's, which speaks the protocol and nothing else

ADDRESS = os.environ.get("BENCH_ADDRESS", "127.0.0.11")
PORT = 9042
START_SECONDS_MOST = 180
STOP_SECONDS_MOST = 120


class Failed(Exception):
    """A server or the client did not do what a turn needs."""


def binary():
    path = os.environ.get("BASALT_BIN") or str(ROOT / "target/release/basalt")
    if not os.access(path, os.X_OK):
        raise Failed(f"{path} is not there: make build, or set BASALT_BIN")
    return path


def digest():
    """Which build the program is: the beginning of its SHA-256."""
    with open(binary(), "rb") as program:
        return hashlib.file_digest(program, "sha256").hexdigest()[:12]


def pinned(layout):
    """The processors of (server, client) as taskset takes them; None where the kernel decides."""
    if layout == "free":
        return None, None
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Failed("there is one processor: client and server cannot be pinned apart")
    half = len(cpus) // 2
    return (",".join(map(str, part)) for part in (cpus[:half], cpus[half:]))


def on(cpus, command):
    return ["taskset", "-c", cpus, *command] if cpus else command


def answers():
    """Whether a query is answered."""
    try:
        asked = client.Client(ADDRESS, version=4, port=PORT)
    except (OSError, EOFError):
        return False
    try:
        return asked.query("SELECT release_version FROM system.local").kind == "rows"
    except (OSError, EOFError):
        return False
    finally:
        asked.socket.close()


class Server:
    """One of the servers in a directory of its own. `memory` is its budget in MiB."""

    def __init__(self, directory, durability, cpus, memory):
        self.directory, self.durability, self.cpus, self.memory = pathlib.Path(directory), durability, cpus, memory
        self.process = None

    @property
    def pid(self):
        return self.process.pid

    def wipe(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)

    def start(self):
        """Starts it and returns the seconds from exec to the first answered query."""
        if answers():
            raise Failed(f"something answers on {ADDRESS}:{PORT} already; BENCH_ADDRESS names another address")
        command, environment = on(self.cpus, self.command()), self.environment()
        with open(self.directory / "output", "ab") as output:
            began = time.monotonic()
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment)
        while not answers():
            if self.process.poll() is not None:
                raise Failed(f"{self.name} ended with {self.process.returncode}: {self.last_words()}")
            if time.monotonic() - began > START_SECONDS_MOST:
                self.process.kill()
                self.process.wait()
                raise Failed(f"{self.name} did not answer within {START_SECONDS_MOST} s: {self.last_words()}")
            time.sleep(0.001)
        return time.monotonic() - began

    def stop(self):
        """Ends it as an operator would: it drains. Nothing when it does not run."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS_MOST)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failed(f"{self.name} did not end within {STOP_SECONDS_MOST} s") from None

    def last_words(self):
        return (self.directory / "output").read_text(errors="replace")[-1000:].strip()

    def environment(self):
        return {name: value for name, value in os.environ.items() if not name.startswith(("CASSANDRA_", "ORACLE_"))}

    def disk(self):
        """Bytes on the disk: of data, and of the log."""
        data = log = 0
        for path in self.directory.rglob("*"):
            if path.is_file() and not path.is_symlink():
                size = path.stat().st_blocks * 512
                if self.is_log(path):
                    log += size
                elif self.is_data(path):
                    data += size
        return {"data": data, "log": log}


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Basalt(Server):
    name = "basalt"

    def command(self):
        self.admin_port = free_port()
        (self.directory / "basalt.yaml").write_text(cassandra.durability(self.durability))
        return [binary(), "run", "--config", str(self.directory / "basalt.yaml"), "--data-dir", str(self.directory / "data"),
                "--listen", ADDRESS, "--port", str(PORT), "--admin-port", str(self.admin_port), "--memory", f"{self.memory}MiB"]

    def sources(self):
        """What the client looks at while it runs."""
        return [f"pid:{self.pid}", f"prometheus:http://127.0.0.1:{self.admin_port}/metrics"]

    def is_log(self, path):
        return path.suffix == ".log" and self.is_data(path)

    def is_data(self, path):
        return (self.directory / "data") in path.parents


class Cassandra(Server):
    """Apache Cassandra with one of its garbage collectors."""

    def __init__(self, directory, durability, cpus, memory, collector):
        super().__init__(directory, durability, cpus, memory)
        self.name = f"cassandra-{collector}"
        self.collector = collector

    def command(self):
        try:
            return cassandra.command(self.directory, ADDRESS, PORT, self.durability, self.memory, self.collector)
        except cassandra.Missing as missing:
            raise Failed(str(missing)) from None

    def sources(self):
        return [f"pid:{self.pid}", f"gc:{self.directory / 'gc.log'}"]

    def is_log(self, path):
        return (self.directory / "commitlog") in path.parents

    def is_data(self, path):
        return (self.directory / "data") in path.parents


def make(cell, directory, memory):
    """The server of a cell."""
    cpus, _ = pinned(cell.layout)
    if cell.server == "basalt":
        return Basalt(directory, cell.durability, cpus, memory)
    return Cassandra(directory, cell.durability, cpus, memory, cell.server.removeprefix("cassandra-"))
