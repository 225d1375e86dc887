#!/bin/bash
# Regenerates the golden vectors in tests/golden from Apache Cassandra's own classes.
#   golden.sh [family...]      all families, or those named (tokens, byte_comparable, compare, ...)
# Or compares this code with Cassandra on so many others, which are not kept:
#   golden.sh --count 1000000 [--seed 1] [family...]   of each kind, of what merging, keys, tokens and digests rest on
# Another seed gives other vectors. TMPDIR needs room for some gigabytes.
set -euo pipefail
cd "$(dirname "$0")"
count='' seed=1
while [ $# -gt 0 ]; do
  case $1 in
    --count) count=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    *) break ;;
  esac
done
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
golden() {
  "$ORACLE_JAVA_HOME/bin/java" "${opens[@]}" -ea -Xmx1g -Duser.timezone=UTC -Dfile.encoding=UTF-8 \
    -Dlogback.configurationFile="file://$classes/logback.xml" -Dcassandra.config="file://$classes/cassandra.yaml" \
    -Dcassandra.storagedir="$data" -cp "$classes:$ORACLE_LIB/*" "$@"
}
if [ -z "$count" ]; then
  golden -XX:TieredStopAtLevel=1 Golden ../tests/golden "$@"
  exit
fi
[ $# -gt 0 ] || set -- tokens byte_comparable reconcile counters partitions
mkdir "$classes/vectors"
for family; do
  echo "$family: $count of each kind, seed $seed"
  golden Golden "$classes/vectors" --count "$count" --seed "$seed" "$family"
  BASALT_GOLDEN=$classes/vectors cargo test -q --release --locked -p basalt-model -p basalt-storage --lib cassandra -- --nocapture |
    tee "$classes/report" | grep -oE 'compared with Cassandra: .*|.* panicked at .*|.* \| .*|test result: FAILED.*' || true
  ! grep -q 'test result: FAILED' "$classes/report" && grep -q 'test result: ok' "$classes/report" || { echo "$family: DIFFERENT" >&2; exit 1; }
  rm "$classes/vectors/$family.txt"
done
