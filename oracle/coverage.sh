#!/bin/bash
# Judges the recordings: which grammar alternatives, functions, errors and warnings of Cassandra's CQL appear in tests/cql.
#   coverage.sh          measures on a stock node of its own, judges, writes tests/cql/COVERAGE.txt; fails on a gap without a reason
#   coverage.sh judge    judges again by the last measurement
# The node answers every recorded case once more, under JaCoCo; an answer that differs from the recording is named.
# Needed besides what cassandra.sh needs: Maven, for JaCoCo and Cassandra's sources. All of it goes to $ORACLE_HOME/coverage.
set -euo pipefail
cd "$(dirname "$0")"
. ./jars.sh
export ORACLE_ADDRESS=${ORACLE_ADDRESS:-127.0.0.9}
WORK=$ORACLE_HOME/coverage
PACKAGES=(cql3 schema db serializers service locator exceptions auth index triggers io/compress utils)

fetch() {
  [ -f "$WORK/.complete" ] && return
  oracle_jars
  mkdir -p "$WORK"
  cat >"$WORK/pom.xml" <<P
<project><modelVersion>4.0.0</modelVersion>
<groupId>basalt</groupId><artifactId>coverage</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>
<dependency><groupId>org.jacoco</groupId><artifactId>org.jacoco.agent</artifactId><version>0.8.12</version><classifier>runtime</classifier></dependency>
<dependency><groupId>org.jacoco</groupId><artifactId>org.jacoco.cli</artifactId><version>0.8.12</version><classifier>nodeps</classifier></dependency>
<dependency><groupId>org.apache.cassandra</groupId><artifactId>cassandra-all</artifactId><version>$ORACLE_VERSION</version>
<classifier>sources</classifier><exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>
</dependencies></project>
P
  (cd "$WORK" && mvn -B -q -ntp dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=lib) >&2
  local p
  for p in "${PACKAGES[@]}"; do
    unzip -qo "$WORK"/lib/cassandra-all-*-sources.jar "org/apache/cassandra/$p/*" -d "$WORK/sources"
    unzip -qo "$ORACLE_LIB"/cassandra-all-*.jar "org/apache/cassandra/$p/*" -d "$WORK/classes"
  done
  touch "$WORK/.complete"
}

cli() { "$ORACLE_JAVA_HOME/bin/java" -jar "$WORK"/lib/org.jacoco.cli-*-nodeps.jar "$@" --quiet; }

# measure_on SETTINGS FILE...: lets a new node with these settings of its JVM answer the files. New: what a node
# wrote under one setting, another may be unable to read.
measure_on() {
  local settings=$1
  shift
  ./cassandra.sh wipe
  ORACLE_JVM_OPTIONS="$AGENT $settings" ./cassandra.sh start
  # What starting executed, system tables and all, does not count.
  cli dump --address "$ORACLE_ADDRESS" --port 6300 --reset --destfile "$WORK/start.exec"
  python3 record.py "$ORACLE_ADDRESS" "$@" >>"$WORK/record.log"
  cli dump --address "$ORACLE_ADDRESS" --port 6300 --destfile "$WORK/jacoco.exec"
  ./cassandra.sh stop
}

measure() {
  local includes file settings plain=()
  includes=$(printf 'org.apache.cassandra.%s.*:' "${PACKAGES[@]//\//.}")
  AGENT="-javaagent:$(ls "$WORK"/lib/org.jacoco.agent-*-runtime.jar)=output=tcpserver,address=$ORACLE_ADDRESS,port=6300,includes=${includes%:}"
  trap './cassandra.sh stop' EXIT
  rm -rf "$WORK/asked" "$WORK/answered" "$WORK/jacoco.exec" "$WORK/record.log"
  cp -r ../tests/cql "$WORK/asked"
  cp -r ../tests/cql "$WORK/answered"
  for file in "$WORK"/answered/*.cqltest; do
    settings=$(sed -n 's/^@setting \([^ ]*\) \(.*\)/-Dcassandra.settings.\1=\2/p' "$file" | tr '\n' ' ')
    if [ -z "$settings" ]; then plain+=("$file"); continue; fi
    measure_on "-Dcassandra.config.allow_system_properties=true $settings" "$file"
  done
  measure_on "" "${plain[@]}"
  diff -r -U2 -I '^error: 0x0000' "$WORK/asked" "$WORK/answered" >"$WORK/again.diff" ||
    echo "answers that differ from the recordings: $WORK/again.diff" >&2
  cli report "$WORK/jacoco.exec" --classfiles "$WORK/classes" --xml "$WORK/jacoco.xml"
}

fetch
[ "${1:-}" = judge ] || measure
python3 coverage/judge.py "$WORK/sources/org/apache/cassandra" "$WORK/jacoco.xml" .. ../tests/cql/COVERAGE.txt
