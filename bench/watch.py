"""What the machine and the server's process did while something ran: processor time, resident memory, delays of idle threads; and
whether that makes the run void. Reads /proc; knows no server and no workload."""
import os
import time

import hiccup

TICKS = os.sysconf("SC_CLK_TCK")
HICCUP_MS_MOST = 2.0
# Processor time of others, in processors, beyond which a run says more of them.
FOREIGN_MOST = 0.2


def process_seconds(pid):
    """Processor time of a process, user and system, all its threads."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident(pid):
    """Resident memory of a process now and at its highest, bytes."""
    with open(f"/proc/{pid}/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    return {name: int(lines[key].split()[0]) * 1024 for name, key in (("now", "VmRSS"), ("peak", "VmHWM"))}


def machine_seconds():
    """Busy (user, nice, system) and stolen seconds of all processors."""
    with open("/proc/stat") as stat:
        ticks = [int(field) for field in stat.readline().split()[1:]]
    return (ticks[0] + ticks[1] + ticks[2]) / TICKS, ticks[7] / TICKS


class Watch:
    """From entering to leaving. `pid` is the server's; what our own children used in between is known from their ends."""

    def __init__(self, pid):
        self.pid = pid

    def __enter__(self):
        self.meter = hiccup.Meter().__enter__()
        self.began, self.machine, self.server, self.own = time.monotonic(), machine_seconds(), process_seconds(self.pid), own_seconds()
        return self

    def __exit__(self, *_):
        busy, stolen = machine_seconds()
        self.seconds = time.monotonic() - self.began
        self.server_seconds = process_seconds(self.pid) - self.server
        self.meter.__exit__()
        used = own_seconds() - self.own
        self.foreign = max(0.0, busy - self.machine[0] - self.server_seconds - used) / self.seconds
        self.stolen = (stolen - self.machine[1]) / self.seconds
        self.hiccups = self.meter.found

    def record(self):
        return {"seconds": self.seconds, "server_cpu_seconds": self.server_seconds, "foreign_cores": self.foreign,
                "stolen_cores": self.stolen, "hiccups": self.hiccups}


def own_seconds():
    """Processor time of this process and of its children that ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def void(record):
    """Why a run does not count; nothing when it does."""
    reasons = [f"an idle thread on processor {seen['cpu']} woke {seen['p99.9']:.1f} ms late once in 1,000 times"
               for seen in record["hiccups"] if seen["samples"] and seen["p99.9"] > HICCUP_MS_MOST]
    reasons += [f"nothing is known of processor {seen['cpu']}" for seen in record["hiccups"] if not seen["samples"]]
    if record["foreign_cores"] > FOREIGN_MOST:
        reasons.append(f"other processes used {record['foreign_cores']:.2f} processors")
    return reasons


def settle(pid, most, quiet=0.1, look=1.0, sleep=time.sleep, clock=time.monotonic, cpu=process_seconds):
    """Waits until a process uses less than `quiet` processors, `most` seconds at most. Returns the seconds waited."""
    began, before = clock(), cpu(pid)
    while clock() - began < most:
        sleep(look)
        now = cpu(pid)
        if now - before < quiet * look:
            break
        before = now
    return clock() - began
