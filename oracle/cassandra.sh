#!/bin/bash
# One stock Apache Cassandra 5.0.9 node to ask or to record from.
#   cassandra.sh start    on $ORACLE_ADDRESS:9042 (default 127.0.0.9), configured by cassandra.yaml; returns when CQL answers
#   cassandra.sh stop     SIGTERM (which drains), then wait
#   cassandra.sh status   pid, memory, processor seconds
#   cassandra.sh wipe     stop, remove its data
#   cassandra.sh dump FILE   while stopped: system_schema as the schema digest reads it (golden/SchemaDump.java)
# Node data: ${BASALT_CACHE:-~/.cache/basalt}/oracle/run, or run-ADDRESS for another address, so that several can run.
# The heap is ORACLE_HEAP (1G); further options of the JVM are ORACLE_JVM_OPTIONS.
set -euo pipefail
cd "$(dirname "$0")"
. ./jars.sh
ADDRESS=$ORACLE_ADDRESS
RUN=$ORACLE_RUN
PID=$RUN/pid

running() { [ -f "$PID" ] && kill -0 "$(cat "$PID")" 2>/dev/null; }

configure() {
  mkdir -p "$RUN/conf" "$RUN/tmp" "$RUN/data"
  sed -e "s|@DATA@|$RUN/data|g" -e "s|@ADDRESS@|$ADDRESS|g" cassandra.yaml >"$RUN/conf/cassandra.yaml"
  cat >"$RUN/conf/logback.xml" <<L
<configuration><appender name="F" class="ch.qos.logback.core.FileAppender"><file>$RUN/system.log</file>
<encoder><pattern>%-5level [%thread] %date{ISO8601} %F:%L - %msg%n</pattern></encoder></appender>
<root level="INFO"><appender-ref ref="F"/></root></configuration>
L
}

# Options of every JVM over this node's data, one a line.
jvm_options() {
  oracle_jvm_opens
  printf '%s\n' -ea '-da:net.openhft...' -Xss256k -XX:+UseG1GC -Djava.net.preferIPv4Stack=true -Duser.timezone=UTC -Dfile.encoding=UTF-8 \
    "-javaagent:$(ls "$ORACLE_LIB"/jamm-*.jar | head -1)" "-Dlogback.configurationFile=file://$RUN/conf/logback.xml" \
    "-Dcassandra.config=file://$RUN/conf/cassandra.yaml" "-Dcassandra.storagedir=$RUN/data" "-Dcassandra.logdir=$RUN" \
    "-Djava.io.tmpdir=$RUN/tmp" "-Djna.tmpdir=$RUN/tmp"
}

start() {
  running && { echo "already up, pid $(cat "$PID")"; return; }
  oracle_jars
  configure
  mapfile -t options < <(jvm_options)
  setsid "$ORACLE_JAVA_HOME/bin/java" "${options[@]}" "-Xms${ORACLE_HEAP:-1G}" "-Xmx${ORACLE_HEAP:-1G}" \
    -Dcassandra.skip_wait_for_gossip_to_settle=0 -Dcassandra.ring_delay_ms=3000 ${ORACLE_JVM_OPTIONS:-} \
    -cp "$RUN/conf:$ORACLE_LIB/*" org.apache.cassandra.service.CassandraDaemon >"$RUN/stdout.log" 2>&1 </dev/null &
  echo $! >"$PID"
  for _ in $(seq 600); do
    running || { echo "the node ended; see $RUN/system.log" >&2; exit 1; }
    if (exec 3<>"/dev/tcp/$ADDRESS/9042") 2>/dev/null; then echo "up on $ADDRESS:9042, pid $(cat "$PID")"; return; fi
    sleep 0.2
  done
  echo "no CQL after 120 s; see $RUN/system.log" >&2
  exit 1
}

stop() {
  if running; then
    local p
    p=$(cat "$PID")
    kill -CONT "$p"
    kill "$p"
    for _ in $(seq 300); do kill -0 "$p" 2>/dev/null || break; sleep 0.1; done
    if kill -0 "$p" 2>/dev/null; then echo "pid $p does not end" >&2; exit 1; fi
  fi
  rm -f "$PID"
}

status() {
  running || { echo down; return; }
  local p
  p=$(cat "$PID")
  echo "up on $ADDRESS:9042, pid $p, rss $(($(awk '/VmRSS/{print $2}' "/proc/$p/status") / 1024)) MB, cpu $(awk '{print ($14+$15)/100}' "/proc/$p/stat") s"
}

dump() {
  running && { echo "stop the node first" >&2; exit 1; }
  configure
  local classes
  classes=$(mktemp -d)
  "$ORACLE_JAVA_HOME/bin/javac" -nowarn -proc:none -d "$classes" -cp "$ORACLE_LIB/*" golden/Vectors.java golden/SchemaDump.java
  mapfile -t options < <(jvm_options)
  "$ORACLE_JAVA_HOME/bin/java" "${options[@]}" -XX:TieredStopAtLevel=1 -cp "$classes:$RUN/conf:$ORACLE_LIB/*" SchemaDump "$1"
  rm -rf "$classes"
}

case ${1:-} in
  start) start ;;
  stop) stop ;;
  status) status ;;
  wipe) stop; rm -rf "$RUN" ;;
  dump) dump "$(realpath -m "$2")" ;;
  *) sed -n '2,9p' "$0"; exit 2 ;;
esac
