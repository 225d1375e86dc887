"""How late an idle thread wakes on each processor: what this machine did to everybody while a run was on.

    hiccup.py CPU...     measures until its input ends, then prints a JSON object

One process a processor sleeps a millisecond at a time. At real-time priority, where that is allowed, it does not wait behind the
server that is measured, which may well use all there is: what is left is what the host and the kernel took away. Otherwise a
server would void its own run by being busy, and the busier of two would be excused more often. `realtime` says which it was."""
import array
import gc
import json
import os
import select
import subprocess
import sys
import time

SLEEP_SECONDS = 0.001


def late(samples):
    """Percentiles of delays in ms; nearest rank."""
    ordered = sorted(samples)

    def at(quantile):
        return ordered[min(len(ordered) - 1, int(quantile * len(ordered)))] / 1000 if ordered else None
    return {"samples": len(ordered), "p50": at(0.5), "p99": at(0.99), "p99.9": at(0.999), "max": at(1.0)}


def realtime():
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        return True
    except (PermissionError, OSError):
        return False


def measure(cpu):
    """Prints the delays of this processor when the input ends."""
    os.sched_setaffinity(0, {cpu})
    is_realtime = realtime()
    gc.disable()
    samples = array.array("I")
    ended = select.poll()
    ended.register(sys.stdin, select.POLLHUP | select.POLLIN)
    while not ended.poll(0):
        for _ in range(50):
            before = time.monotonic()
            time.sleep(SLEEP_SECONDS)
            samples.append(max(0, int((time.monotonic() - before - SLEEP_SECONDS) * 1e6)))
    print(json.dumps({"cpu": cpu, "realtime": is_realtime, **late(samples)}))


class Meter:
    """Meters on all processors that this process may use, from entering to leaving; `found` holds one record a processor."""

    def __enter__(self):
        self.found = []
        self.processes = [subprocess.Popen([sys.executable, os.path.abspath(__file__), str(cpu)], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE) for cpu in sorted(os.sched_getaffinity(0))]
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.stdin.close()
        for process in self.processes:
            self.found.append(json.loads(process.stdout.read()))
            process.stdout.close()
            process.wait()


if __name__ == "__main__":
    measure(int(sys.argv[1]))
