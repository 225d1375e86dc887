import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.file.Path;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.ReadExecutionController;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.ColumnData;
import org.apache.cassandra.db.rows.ComplexColumnData;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.RowIterator;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.SchemaConstants;
import org.apache.cassandra.schema.SchemaKeyspace;
import org.apache.cassandra.schema.SchemaKeyspaceTables;

/** Over a stopped node's data: the schema tables' live rows as the schema digest reads them, cell for cell, and that digest. */
public final class SchemaDump
{
    public static void main(String[] args) throws Exception
    {
        DatabaseDescriptor.daemonInitialization();
        org.apache.cassandra.db.commitlog.CommitLog.instance.start();
        Keyspace.setInitialized();
        Path file = Path.of(args[0]);
        Method command = SchemaKeyspace.class.getDeclaredMethod("getReadCommandForTableSchema", String.class);
        command.setAccessible(true);
        try (Vectors v = new Vectors(file.getParent(), file.getFileName().toString(), 0,
            "digest | schema_version that these rows give (SchemaKeyspace.calculateSchemaDigest)",
            "table | name   tables in the order in which they are digested",
            "partition | partition key | digested or skipped (local system keyspaces are not digested, and their rows not listed)",
            "columns | regular column names in the order digested | static column names, or 'none'",
            "row | clustering components (hex), or 'static' | row liveness timestamp, or 'none' | deletion",
            "cell | column | path hex, or 'none' | timestamp | value hex"))
        {
            v.row("digest", SchemaKeyspace.calculateSchemaDigest());
            for (String table : SchemaKeyspaceTables.ALL)
            {
                v.row("table", table);
                ReadCommand read = (ReadCommand) command.invoke(null, table);
                try (ReadExecutionController controller = read.executionController(); PartitionIterator partitions = read.executeInternal(controller))
                {
                    while (partitions.hasNext())
                        try (RowIterator partition = partitions.next())
                        {
                            partition(v, partition);
                        }
                }
            }
        }
        System.exit(0);
    }

    private static void partition(Vectors v, RowIterator partition)
    {
        String key = UTF8Type.instance.compose(partition.partitionKey().getKey());
        boolean skipped = SchemaConstants.isLocalSystemKeyspace(key);
        v.row("partition", key, skipped ? "skipped" : "digested");
        if (skipped)
            return;
        v.row("columns", names(partition.columns().regulars), names(partition.columns().statics));
        if (!partition.staticRow().isEmpty())
            row(v, partition.staticRow(), "static");
        while (partition.hasNext())
        {
            Row row = partition.next();
            StringBuilder clustering = new StringBuilder();
            for (ByteBuffer component : row.clustering().getBufferArray())
                clustering.append(clustering.length() == 0 ? "" : ",").append(Vectors.hex(component));
            row(v, row, clustering.length() == 0 ? "none" : clustering.toString());
        }
    }

    private static String names(Iterable<ColumnMetadata> columns)
    {
        StringBuilder b = new StringBuilder();
        for (ColumnMetadata c : columns)
            b.append(b.length() == 0 ? "" : ",").append(c.name);
        return b.length() == 0 ? "none" : b.toString();
    }

    private static void row(Vectors v, Row row, String clustering)
    {
        v.row("row", clustering, row.primaryKeyLivenessInfo().isEmpty() ? "none" : String.valueOf(row.primaryKeyLivenessInfo().timestamp()),
              row.deletion().isLive() ? "live" : row.deletion().time());
        for (ColumnData data : row)
        {
            if (data instanceof Cell)
            {
                cell(v, (Cell<?>) data);
                continue;
            }
            if (!((ComplexColumnData) data).complexDeletion().isLive())
                v.row("complex_deletion", data.column().name, ((ComplexColumnData) data).complexDeletion());
            for (Cell<?> c : (ComplexColumnData) data)
                cell(v, c);
        }
    }

    private static void cell(Vectors v, Cell<?> c)
    {
        v.row("cell", c.column().name, c.path() == null ? "none" : Vectors.hex(c.path().get(0)), c.timestamp(), Vectors.hex(c.buffer()));
    }
}
