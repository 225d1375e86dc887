package basalt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.config.ProgrammaticDriverConfigLoaderBuilder;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.data.CqlDuration;
import com.datastax.oss.driver.api.core.data.CqlVector;
import com.datastax.oss.driver.api.core.data.TupleValue;
import com.datastax.oss.driver.api.core.data.UdtValue;
import com.datastax.oss.driver.api.core.metadata.schema.TableMetadata;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import com.datastax.oss.driver.api.core.type.UserDefinedType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The Java driver 4.x against a node: protocol versions 3, 4 and 5.
 *
 * <p>The node's address comes from BASALT_HOST and BASALT_PORT, and BASALT_RESTART is the command
 * that restarts it. Run against Apache Cassandra, everything but the restart passes as well.
 */
class DriverTest {
  private static final InetSocketAddress NODE =
      new InetSocketAddress(System.getenv("BASALT_HOST"), Integer.parseInt(System.getenv("BASALT_PORT")));

  static CqlSession connect(String version, String compression) {
    ProgrammaticDriverConfigLoaderBuilder config =
        DriverConfigLoader.programmaticBuilder()
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(60))
            .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, Duration.ofSeconds(30))
            .withDuration(DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofMillis(200));
    if (version != null) {
      config.withString(DefaultDriverOption.PROTOCOL_VERSION, version);
    }
    if (compression != null) {
      config.withString(DefaultDriverOption.PROTOCOL_COMPRESSION, compression);
    }
    return CqlSession.builder()
        .addContactPoint(NODE)
        .withLocalDatacenter("datacenter1")
        .withConfigLoader(config.build())
        .build();
  }

  /** Runs a test in a keyspace of its own. */
  private static void inKeyspace(String version, String name, Body body) throws Exception {
    try (CqlSession session = connect(version, null)) {
      String keyspace = "drv_java_" + name + "_" + version.toLowerCase();
      session.execute("DROP KEYSPACE IF EXISTS " + keyspace);
      session.execute(
          "CREATE KEYSPACE " + keyspace
              + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
      session.execute("USE " + keyspace);
      body.run(session, keyspace);
      session.execute("DROP KEYSPACE " + keyspace);
    }
  }

  private interface Body {
    void run(CqlSession session, String keyspace) throws Exception;
  }

  @Test
  void stepsDownToVersion5() {
    try (CqlSession session = connect(null, null)) {
      assertEquals("V5", session.getContext().getProtocolVersion().name());
      Row local = session.execute("SELECT release_version, bootstrapped FROM system.local").one();
      assertTrue(local.getString(0).startsWith("5.0."));
      assertEquals("COMPLETED", local.getString(1));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"V3", "V4", "V5"})
  void everyTypeRoundTrips(String version) throws Exception {
    Map<String, Object> columns = new LinkedHashMap<>();
    columns.put("ascii", "plain");
    columns.put("bigint", Long.MIN_VALUE);
    columns.put("blob", ByteBuffer.wrap(new byte[] {0, 1, -1}));
    columns.put("boolean", true);
    columns.put("date", LocalDate.of(2017, 3, 11));
    columns.put("decimal", new BigDecimal("-12345678901234567890.0987654321"));
    columns.put("double", 0.1);
    columns.put("duration", CqlDuration.newInstance(14, 3, 5));
    columns.put("float", 1.5f);
    columns.put("inet", InetAddress.getByName("2001:db8::1"));
    columns.put("int", Integer.MAX_VALUE);
    columns.put("smallint", Short.MIN_VALUE);
    columns.put("text", "é漢😀");
    columns.put("time", LocalTime.parse("08:12:54.123456789"));
    columns.put("timestamp", Instant.ofEpochMilli(1296705906789L));
    columns.put("timeuuid", UUID.fromString("137157a0-c395-11f0-8000-000000000000"));
    columns.put("tinyint", Byte.MIN_VALUE);
    columns.put("uuid", UUID.fromString("550e8400-e29b-41d4-a716-446655440000"));
    columns.put("varint", BigInteger.TWO.pow(200).add(BigInteger.ONE));
    columns.put("list<int>", List.of(3, 1, 3));
    columns.put("set<text>", Set.of("a", "b"));
    columns.put("map<text, int>", Map.of("a", 1, "b", 2));
    columns.put("frozen<map<int, frozen<list<int>>>>", Map.of(1, List.of(1, 2)));
    if (version.equals("V3")) {
      // Types younger than the protocol travel by class name, and the driver has no codec for that.
      columns.keySet().removeAll(Set.of("date", "time", "smallint", "tinyint"));
    }
    inKeyspace(
        version,
        "types",
        (session, keyspace) -> {
          List<String> names = new ArrayList<>();
          List<String> definitions = new ArrayList<>();
          for (String type : columns.keySet()) {
            names.add("c" + names.size());
            definitions.add("c" + definitions.size() + " " + type);
          }
          String list = String.join(", ", names);
          session.execute("CREATE TABLE all_types (k int PRIMARY KEY, " + String.join(", ", definitions) + ")");
          PreparedStatement insert =
              session.prepare(
                  "INSERT INTO all_types (k, " + list + ") VALUES (1" + ", ?".repeat(names.size()) + ")");
          session.execute(insert.bind(columns.values().toArray()));
          Row row = session.execute("SELECT " + list + " FROM all_types WHERE k = 1").one();
          int index = 0;
          for (Map.Entry<String, Object> column : columns.entrySet()) {
            assertEquals(column.getValue(), row.getObject(index++), column.getKey());
          }
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"V3", "V4", "V5"})
  void udtTupleAndVector(String version) throws Exception {
    inKeyspace(
        version,
        "udt",
        (session, keyspace) -> {
          session.execute("CREATE TYPE address (street text, zip int)");
          session.execute(
              "CREATE TABLE people (k int PRIMARY KEY, home address, pair tuple<int, text>, v vector<float, 3>)");
          PreparedStatement insert =
              session.prepare("INSERT INTO people (k, home, pair, v) VALUES (1, ?, ?, ?)");
          UserDefinedType type = (UserDefinedType) insert.getVariableDefinitions().get(0).getType();
          UdtValue home = type.newValue("Main", 7);
          TupleValue pair =
              ((com.datastax.oss.driver.api.core.type.TupleType) insert.getVariableDefinitions().get(1).getType())
                  .newValue(5, "x");
          CqlVector<Float> vector = CqlVector.newInstance(1f, 2.5f, -3f);
          session.execute(insert.bind(home, pair, vector));
          Row row = session.execute("SELECT home, pair, v FROM people WHERE k = 1").one();
          assertEquals("Main", row.getUdtValue(0).getString("street"));
          assertEquals(7, row.getUdtValue(0).getInt("zip"));
          assertEquals(pair, row.getTupleValue(1));
          assertEquals(vector, row.getVector(2, Float.class));
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"V3", "V4", "V5"})
  void batchesAndPaging(String version) throws Exception {
    inKeyspace(
        version,
        "pages",
        (session, keyspace) -> {
          session.execute(
              "CREATE TABLE pages (k int, c int, PRIMARY KEY (k, c)) WITH CLUSTERING ORDER BY (c DESC)");
          PreparedStatement insert = session.prepare("INSERT INTO pages (k, c) VALUES (?, ?)");
          for (int k = 0; k < 5; k++) {
            List<BoundStatement> statements = new ArrayList<>();
            for (int c = 0; c < 50; c++) {
              statements.add(insert.bind(k, c));
            }
            BatchType type = k % 2 == 0 ? BatchType.LOGGED : BatchType.UNLOGGED;
            session.execute(BatchStatement.newInstance(type).addAll(statements));
          }
          for (int size : new int[] {1, 7, 249, 250, 1000}) {
            Set<List<Integer>> seen = new HashSet<>();
            int rows = 0;
            for (Row row : session.execute(SimpleStatement.newInstance("SELECT k, c FROM pages").setPageSize(size))) {
              seen.add(List.of(row.getInt(0), row.getInt(1)));
              rows++;
            }
            assertEquals(List.of(250, 250), List.of(rows, seen.size()), "pages of " + size);
          }
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"V3", "V4", "V5"})
  void conditionsUnsetValuesAndErrors(String version) throws Exception {
    inKeyspace(
        version,
        "misc",
        (session, keyspace) -> {
          session.execute("CREATE TABLE t (k int PRIMARY KEY, a int, b int)");
          assertTrue(session.execute("INSERT INTO t (k, a) VALUES (1, 1) IF NOT EXISTS").wasApplied());
          assertFalse(session.execute("INSERT INTO t (k, a) VALUES (1, 2) IF NOT EXISTS").wasApplied());
          if (!version.equals("V3")) {
            PreparedStatement insert = session.prepare("INSERT INTO t (k, a, b) VALUES (?, ?, ?)");
            session.execute(insert.boundStatementBuilder().setInt(0, 1).setInt(2, 5).build());
            Row row = session.execute("SELECT a, b FROM t WHERE k = 1").one();
            assertEquals(List.of(1, 5), List.of(row.getInt(0), row.getInt(1)));
          }
          assertThrows(InvalidQueryException.class, () -> session.execute("SELECT * FROM no_such_table"));
          assertThrows(SyntaxError.class, () -> session.execute("SELEC 1"));
          session.execute(
              "ALTER KEYSPACE " + keyspace
                  + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}");
          SimpleStatement quorum =
              SimpleStatement.newInstance("SELECT * FROM t").setConsistencyLevel(ConsistencyLevel.QUORUM);
          AllNodesFailedException failed = assertThrows(AllNodesFailedException.class, () -> session.execute(quorum));
          UnavailableException refused =
              (UnavailableException) failed.getAllErrors().values().iterator().next().get(0);
          assertEquals(List.of(2, 1), List.of(refused.getRequired(), refused.getAlive()));
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"V3 lz4", "V3 snappy", "V4 lz4", "V4 snappy", "V5 lz4"})
  void compression(String versionAndAlgorithm) {
    String[] words = versionAndAlgorithm.split(" ");
    try (CqlSession session = connect(words[0], words[1])) {
      String keyspace = "drv_java_" + words[1] + "_" + words[0].toLowerCase();
      session.execute("DROP KEYSPACE IF EXISTS " + keyspace);
      session.execute(
          "CREATE KEYSPACE " + keyspace
              + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
      session.execute("CREATE TABLE " + keyspace + ".t (k int PRIMARY KEY, v text)");
      String text = "compressible ".repeat(5000);
      session.execute("INSERT INTO " + keyspace + ".t (k, v) VALUES (1, ?)", text);
      assertEquals(text, session.execute("SELECT v FROM " + keyspace + ".t").one().getString(0));
      session.execute("DROP KEYSPACE " + keyspace);
    }
  }

  @Test
  void metadataFollowsSchemaChangesOfOthers() throws Exception {
    inKeyspace(
        "V5",
        "schema",
        (session, keyspace) -> {
          try (CqlSession other = connect("V5", null)) {
            other.execute(
                "CREATE TABLE " + keyspace + ".described (k int, c text, v map<text, int>, PRIMARY KEY (k, c))");
            other.execute("ALTER TABLE " + keyspace + ".described ADD w int");
          }
          TableMetadata table = null;
          for (int attempt = 0; attempt < 100; attempt++) {
            table = session.getMetadata().getKeyspace(keyspace).get().getTable("described").orElse(null);
            if (table != null && table.getColumn("w").isPresent()) {
              break;
            }
            TimeUnit.MILLISECONDS.sleep(100);
          }
          assertNotNull(table);
          assertTrue(table.getColumn("w").isPresent());
          assertTrue(table.getClusteringColumns().keySet().iterator().next().getName().equals(CqlIdentifier.fromCql("c")));
          assertTrue(session.checkSchemaAgreement());
        });
  }

  @Test
  void statementsArePreparedAgainAfterARestart() throws Exception {
    String command = System.getenv("BASALT_RESTART");
    Assumptions.assumeTrue(command != null, "no command to restart the node");
    inKeyspace(
        "V5",
        "restart",
        (session, keyspace) -> {
          session.execute("CREATE TABLE restarted (k int PRIMARY KEY, v text)");
          PreparedStatement insert = session.prepare("INSERT INTO " + keyspace + ".restarted (k, v) VALUES (?, ?)");
          session.execute(insert.bind(1, "before"));
          Process restart =
              new ProcessBuilder(command.split(" ")).redirectOutput(ProcessBuilder.Redirect.DISCARD)
                  .redirectError(ProcessBuilder.Redirect.DISCARD).start();
          assertEquals(0, restart.waitFor());
          RuntimeException last = null;
          for (int attempt = 0; attempt < 120; attempt++) {
            try {
              session.execute(insert.bind(2, "after"));
              last = null;
              break;
            } catch (RuntimeException lost) {
              last = lost;
              TimeUnit.MILLISECONDS.sleep(250);
            }
          }
          assertEquals(null, last);
          assertEquals(2, session.execute("SELECT count(*) FROM " + keyspace + ".restarted").one().getLong(0));
        });
  }
}
