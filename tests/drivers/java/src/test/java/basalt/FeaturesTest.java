package basalt;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverExecutionProfile;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.servererrors.CoordinatorException;
import com.datastax.oss.driver.api.core.type.DataType;
import com.datastax.oss.driver.api.core.type.codec.TypeCodec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Runs ../features.txt, whose first lines say what it is, through the Java driver. */
class FeaturesTest {
  private static final String KEYSPACE = "drv_features_java";

  @Test
  void everyFeature() throws Exception {
    List<Executable> checks = new ArrayList<>();
    try (CqlSession session = DriverTest.connect(null, null)) {
      session.execute("DROP KEYSPACE IF EXISTS " + KEYSPACE);
      session.execute(
          "CREATE KEYSPACE " + KEYSPACE
              + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
      session.execute("USE " + KEYSPACE);
      Map<String, String> options = new HashMap<>();
      String cql = null;
      List<String> recorded = new ArrayList<>();
      List<String> lines = new ArrayList<>(Files.readAllLines(Path.of("..", "features.txt")));
      lines.add("");
      for (String line : lines) {
        if (line.startsWith("row: ") || line.startsWith("warning: ") || line.startsWith("error: ")) {
          recorded.add(line.replace("drv_features.", KEYSPACE + "."));
          continue;
        }
        if (cql != null) {
          String asked = cql;
          List<String> expected = List.copyOf(recorded);
          List<String> answer = answer(session, asked.replace("'drv_features'", "'" + KEYSPACE + "'"), options);
          checks.add(() -> assertEquals(expected, answer, asked));
          cql = null;
          recorded.clear();
          options.clear();
        }
        if (line.startsWith("@")) {
          String[] parts = line.substring(1).split(" ", 2);
          options.put(parts[0], parts[1]);
        } else if (line.startsWith("cql: ")) {
          cql = line.substring(5);
        }
      }
      session.execute("DROP KEYSPACE " + KEYSPACE);
    }
    assertTrue(checks.size() > 100);
    assertAll(checks);
  }

  private static List<String> answer(CqlSession session, String cql, Map<String, String> options) {
    try {
      int pageSize = Integer.parseInt(options.getOrDefault("page_size", "5000"));
      Statement<?> statement =
          options.containsKey("values")
              ? bind(session.prepare(cql), options.get("values").split(" \\| "))
              : SimpleStatement.newInstance(cql);
      DriverExecutionProfile profile =
          session.getContext().getConfig().getDefaultProfile().withInt(DefaultDriverOption.REQUEST_PAGE_SIZE, pageSize);
      ResultSet rows = session.execute(statement.setExecutionProfile(profile));
      List<String> answer = new ArrayList<>();
      rows.getExecutionInfo().getWarnings().forEach(warning -> answer.add("warning: " + warning));
      for (Row row : rows) {
        answer.add(
            "row: "
                + IntStream.range(0, row.size())
                    .mapToObj(i -> show(row, i))
                    .collect(Collectors.joining(" | ")));
      }
      return answer;
    } catch (CoordinatorException | AllNodesFailedException e) {
      return List.of("error: " + e.getMessage());
    }
  }

  /** Binds CQL literals; {@code unset} leaves a variable out. */
  private static BoundStatement bind(PreparedStatement prepared, String[] literals) {
    BoundStatement bound = prepared.bind();
    for (int i = 0; i < literals.length; i++) {
      if (literals[i].equals("unset")) {
        continue;
      }
      DataType type = prepared.getVariableDefinitions().get(i).getType();
      TypeCodec<Object> codec = bound.codecRegistry().codecFor(type);
      bound = literals[i].equals("null") ? bound.setToNull(i) : bound.set(i, codec.parse(literals[i]), codec);
    }
    return bound;
  }

  private static String show(Row row, int i) {
    TypeCodec<Object> codec = row.codecRegistry().codecFor(row.getColumnDefinitions().get(i).getType());
    return row.isNull(i) ? "NULL" : codec.format(row.get(i, codec)).replaceAll("(?<=[,:]) ", "");
  }
}
