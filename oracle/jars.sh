# Sourced by the oracle's scripts: where the judge's jars live, and how they get there.
# The release and its dependencies come from Maven Central through the ordinary Maven client.
ORACLE_VERSION=5.0.9
ORACLE_HOME=${BASALT_CACHE:-$HOME/.cache/basalt}/oracle
ORACLE_ADDRESS=${ORACLE_ADDRESS:-127.0.0.9} # of the node; one of another address has data of its own beside it
ORACLE_RUN=$ORACLE_HOME/run
[ "$ORACLE_ADDRESS" = 127.0.0.9 ] || ORACLE_RUN=$ORACLE_RUN-$ORACLE_ADDRESS
ORACLE_LIB=$ORACLE_HOME/$ORACLE_VERSION/lib
ORACLE_JAVA_HOME=${ORACLE_JAVA_HOME:-/usr/lib/jvm/java-17-openjdk-$(dpkg --print-architecture 2>/dev/null || echo amd64)}

oracle_jars() {
  [ -f "$ORACLE_LIB/.complete" ] && return
  [ -x "$ORACLE_JAVA_HOME/bin/javac" ] || { echo "no JDK 17 at $ORACLE_JAVA_HOME; set ORACLE_JAVA_HOME" >&2; return 1; }
  command -v mvn >/dev/null || { echo "mvn is needed to fetch Cassandra $ORACLE_VERSION" >&2; return 1; }
  mkdir -p "$ORACLE_LIB"
  cat >"$ORACLE_HOME/$ORACLE_VERSION/pom.xml" <<P
<project><modelVersion>4.0.0</modelVersion>
<groupId>basalt</groupId><artifactId>oracle</artifactId><version>1</version><packaging>pom</packaging>
<dependencies><dependency><groupId>org.apache.cassandra</groupId><artifactId>cassandra-all</artifactId>
<version>$ORACLE_VERSION</version></dependency></dependencies></project>
P
  (cd "$ORACLE_HOME/$ORACLE_VERSION" &&
    mvn -B -q -ntp dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=lib) >&2
  touch "$ORACLE_LIB/.complete"
}

# What the release's own jvm options open to it on JDK 17, one option a line.
oracle_jvm_opens() {
  local e
  printf '%s\n' -Djdk.attach.allowAttachSelf=true -Djava.security.manager=allow -Dio.netty.tryReflectionSetAccessible=true
  for e in java.base/jdk.internal.misc java.base/jdk.internal.ref java.base/sun.nio.ch java.base/java.lang.ref \
    java.base/java.lang.reflect java.management.rmi/com.sun.jmx.remote.internal.rmi java.rmi/sun.rmi.registry \
    java.rmi/sun.rmi.server java.sql/java.sql jdk.unsupported/sun.misc jdk.attach/sun.tools.attach \
    jdk.compiler/com.sun.tools.javac.file; do printf '%s\n' --add-exports "$e=ALL-UNNAMED"; done
  for e in java.lang.module jdk.internal.loader jdk.internal.ref jdk.internal.reflect jdk.internal.math \
    jdk.internal.module jdk.internal.util.jar sun.nio.ch java.io java.nio java.lang.reflect java.lang java.util \
    java.util.concurrent java.util.concurrent.atomic java.math java.net; do
    printf '%s\n' --add-opens "java.base/$e=ALL-UNNAMED"; done
  printf '%s\n' --add-opens jdk.management/com.sun.management.internal=ALL-UNNAMED \
    --add-opens java.rmi/sun.rmi.transport.tcp=ALL-UNNAMED --add-opens jdk.compiler/com.sun.tools.javac=ALL-UNNAMED
}
