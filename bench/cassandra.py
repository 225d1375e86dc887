"""How stock Apache Cassandra is run: its jars and what they need opened (the oracle's), `cassandra_latest.yaml` beside this file, the
options of its own JVM files, and a garbage collector. Knows nothing of what is measured."""
import glob
import os
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ORACLE = HERE.parent / "oracle"

# What Cassandra's own jvm files say, for JDK 17 and without what is for old JDKs. G1's pause target is theirs, too.
STOCK = ["-ea", "-da:net.openhft...", "-XX:+UseThreadPriorities", "-Xss256k", "-XX:+AlwaysPreTouch", "-XX:+UseTLAB", "-XX:+ResizeTLAB",
         "-XX:+UseNUMA", "-XX:+PerfDisableSharedMem", "-Djava.net.preferIPv4Stack=true",
         "-Dio.netty.allocator.useCacheForAllThreads=true", "-Dio.netty.allocator.maxOrder=11"]
COLLECTORS = {
    "g1": ["-XX:+UseG1GC", "-XX:+ParallelRefProcEnabled", "-XX:MaxTenuringThreshold=2", "-XX:G1HeapRegionSize=16m",
           "-XX:+UnlockExperimentalVMOptions", "-XX:G1NewSizePercent=50", "-XX:G1RSetUpdatingPauseTimePercent=5",
           "-XX:MaxGCPauseMillis=300", "-XX:InitiatingHeapOccupancyPercent=70"],
    "zgc": ["-XX:+UseZGC", "-XX:+ZGenerational"],
}
# One node alone: it need not wait for a ring to settle. In Cassandra's favour, and for nothing but its start.
ALONE = ["-Dcassandra.skip_wait_for_gossip_to_settle=0", "-Dcassandra.ring_delay_ms=0"]
# What of the budget is heap; the rest is for buffers, off-heap memtables and the chunk cache.
HEAP_PART = 0.75


class Missing(Exception):
    """What Cassandra needs is not on this machine."""


def java_of(collector):
    """The JDK of a collector, or None. Generational ZGC came with 21; Cassandra 5.0 needs a security manager, which ended with 23."""
    if collector == "g1":
        return "oracle"
    for home in [os.environ.get("BENCH_JAVA_21", ""), *sorted(glob.glob("/usr/lib/jvm/*"))]:
        release = pathlib.Path(home, "release")
        if home and release.is_file() and re.search(r'JAVA_VERSION="2[123]\b', release.read_text(errors="replace")):
            return home
    return None


def durability(name):
    """When an acknowledged write is on the disk, in the words of a cassandra.yaml."""
    if name == "periodic":
        return "commitlog_sync: periodic\ncommitlog_sync_period: 10000ms\n"
    return "commitlog_sync: batch\n"


def oracle():
    """(version, folder of jars, JDK 17, options that open the JDK) as the oracle's script has them; fetches the jars when missing."""
    script = '. ./jars.sh && oracle_jars && printf "%s\\n" "$ORACLE_VERSION" "$ORACLE_LIB" "$ORACLE_JAVA_HOME" && oracle_jvm_opens'
    asked = subprocess.run(["bash", "-c", script], cwd=ORACLE, capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        raise Missing(f"no Cassandra: {asked.stderr.strip()[-300:]}")
    version, lib, java, *opens = asked.stdout.split("\n")
    return version, lib, java, [word for word in opens if word]


def command(directory, address, port, durable, memory, collector):
    """The command line of a node in `directory` with `memory` MiB in all, its configuration written there."""
    _, lib, java, opens = oracle()
    if collector != "g1":
        java = java_of(collector) or ""
        if not java:
            raise Missing("no JDK 21 for generational ZGC; BENCH_JAVA_21 names one")
    directory = pathlib.Path(directory)
    for folder in ("conf", "tmp"):
        (directory / folder).mkdir(exist_ok=True)
    template = (HERE / "cassandra_latest.yaml").read_text()
    for mark, word in (("@DIRECTORY@", str(directory)), ("@ADDRESS@", address), ("@PORT@", str(port))):
        template = template.replace(mark, word)
    (directory / "conf/cassandra.yaml").write_text(template + durability(durable))
    (directory / "conf/logback.xml").write_text(
        '<configuration><appender name="F" class="ch.qos.logback.core.FileAppender">'
        f"<file>{directory}/system.log</file><encoder><pattern>%-5level [%thread] %date{{ISO8601}} %F:%L - %msg%n</pattern></encoder>"
        '</appender><root level="INFO"><appender-ref ref="F"/></root></configuration>')
    heap = int(memory * HEAP_PART)
    jamm = sorted(glob.glob(f"{lib}/jamm-*.jar"))[0]
    return [f"{java}/bin/java", *opens, *STOCK, *COLLECTORS[collector], f"-Xms{heap}m", f"-Xmx{heap}m",
            f"-XX:MaxDirectMemorySize={memory - heap}m", f"-javaagent:{jamm}", *ALONE,
            f"-Xlog:gc:file={directory}/gc.log:time", f"-XX:ErrorFile={directory}/hs_err.log",
            f"-Dlogback.configurationFile=file://{directory}/conf/logback.xml",
            f"-Dcassandra.config=file://{directory}/conf/cassandra.yaml", f"-Dcassandra.storagedir={directory}",
            f"-Dcassandra.logdir={directory}", f"-Djava.io.tmpdir={directory}/tmp", f"-Djna.tmpdir={directory}/tmp",
            "-cp", f"{directory}/conf:{lib}/*", "org.apache.cassandra.service.CassandraDaemon"]
