#!/bin/bash
# Regenerates the golden vectors in tests/golden from Apache Cassandra's own classes.
#   golden.sh [family...]      all families, or those named (tokens, byte_comparable, compare, ...)
set -euo pipefail
cd "$(dirname "$0")"
. ./jars.sh
oracle_jars
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
data=$classes/data
mkdir -p "$data"
sed -e "s|@DATA@|$data|g" -e 's|@ADDRESS@|127.0.0.1|g' cassandra.yaml >"$classes/cassandra.yaml"
echo '<configuration><root level="OFF"/></configuration>' >"$classes/logback.xml"
"$ORACLE_JAVA_HOME/bin/javac" -nowarn -proc:none -Xlint:none -d "$classes" -cp "$ORACLE_LIB/*" golden/*.java 2>&1 | { grep -v "^Note:" || true; } >&2
mapfile -t opens < <(oracle_jvm_opens)
"$ORACLE_JAVA_HOME/bin/java" "${opens[@]}" -ea -XX:TieredStopAtLevel=1 -Duser.timezone=UTC -Dfile.encoding=UTF-8 \
  -Dlogback.configurationFile="file://$classes/logback.xml" -Dcassandra.config="file://$classes/cassandra.yaml" \
  -Dcassandra.storagedir="$data" -cp "$classes:$ORACLE_LIB/*" Golden ../tests/golden "$@"
