"""The servers of a run: a Basalt node per worker, in a temporary directory; Cassandra is started by differential.sh."""
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[2]


def binary():
    path = os.environ.get("BASALT_BIN") or str(ROOT / "target/release/basalt")
    if not os.access(path, os.X_OK):
        raise SystemExit("%s is not there: make build, or set BASALT_BIN" % path)
    return path


class Basalt:
    """A node of our own on a free port of the loopback address."""

    host = "127.0.0.1"

    def __init__(self, settings=""):
        """settings: what stands in its cassandra.yaml."""
        self.directory = tempfile.mkdtemp(prefix="basalt-differential-")
        self.options = []
        if settings:
            pathlib.Path(self.directory + "/cassandra.yaml").write_text(settings)
            self.options = ["--config", self.directory + "/cassandra.yaml"]
        with socket.socket() as s:
            s.bind((self.host, 0))
            self.port = s.getsockname()[1]
        self.process = None
        self.start()

    @property
    def address(self):
        return self.host, self.port

    def start(self):
        with open(self.directory + "/log", "ab") as log:
            command = [binary(), "run", "--data-dir", self.directory + "/data", "--listen", self.host, "--port", str(self.port),
                       "--admin-port", "-1", "--memory", "256MiB"] + self.options
            environment = {k: v for k, v in os.environ.items() if not k.startswith("CASSANDRA_")}
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        for _ in range(600):
            try:
                socket.create_connection(self.address, timeout=1).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.02)
        raise SystemExit("basalt does not start: " + self.log_end())

    def log_end(self):
        return pathlib.Path(self.directory + "/log").read_text(errors="replace")[-2000:]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def restart(self):
        self.kill()
        self.start()

    def remove(self):
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)
