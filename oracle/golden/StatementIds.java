import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.apache.cassandra.cql3.ColumnIdentifier;
import org.apache.cassandra.cql3.ColumnSpecification;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.ResultSet;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.marshal.*;
import org.apache.cassandra.db.rows.BTreeRow;
import org.apache.cassandra.db.rows.BufferCell;
import org.apache.cassandra.db.rows.CellPath;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.pager.PagingState;
import org.apache.cassandra.transport.ProtocolVersion;
import org.apache.cassandra.utils.ByteBufferUtil;

/** What drivers keep and send back: statement ids, result metadata ids, paging states. */
final class StatementIds
{
    static void write(Path directory) throws Exception
    {
        try (Vectors v = new Vectors(directory, "statement_ids.txt", 6,
            "statement | keyspace, or null | query (escaped) | MD5 id",
            "metadata | column name (escaped):class string;... | result metadata id   (of no columns: 'none')",
            "paging | 'static' or 'plain' table, then its clustering types | partition key | clustering components, or 'none' for no row mark, or 'empty' for a table without clustering (static rows are never marked) | cells of the marked row by name: name or name[path] | remaining | remaining in partition | state for v3 | state for v4 and v5"))
        {
            statements(v);
            metadata(v);
            for (int i = 0; i < 120; i++)
                paging(v, i);
        }
    }

    private static void statements(Vectors v) throws Exception
    {
        Method id = QueryProcessor.class.getDeclaredMethod("computeId", String.class, String.class);
        id.setAccessible(true);
        for (String query : new String[]{ "", "SELECT * FROM t", "SELECT * FROM ks.t WHERE k = ?", "  SELECT * FROM t ;", "select \u00e9 from \"\u6f22\" where a = '\ud83d\ude00'",
                                          "INSERT INTO t (k, v) VALUES (?, ?)\nUSING TTL 1", "BEGIN BATCH\tAPPLY BATCH" })
            for (String keyspace : new String[]{ null, "ks", "\"Mixed\"", "Mixed", "" })
                v.row("statement", keyspace == null ? "null" : keyspace.isEmpty() ? "-" : keyspace, Vectors.escape(query), id.invoke(null, query, keyspace));
    }

    private static void metadata(Vectors v)
    {
        List<AbstractType<?>> pool = new ArrayList<>(Samples.SCALARS);
        pool.addAll(Samples.composites());
        pool.add(DurationType.instance);
        pool.add(CounterColumnType.instance);
        pool.add(ListType.getInstance(Int32Type.instance, true));
        pool.add(MapType.getInstance(UTF8Type.instance, SetType.getInstance(Int32Type.instance, false), true));
        pool.add(ReversedType.getInstance(Int32Type.instance));
        String[] names = { "k", "c", "v", "a b", "Upper", "\u00e9", "system.count", "count", "writetime(v)", "ttl(v)", "x" };
        for (int n = 0; n < 45; n++)
        {
            List<ColumnSpecification> specs = new ArrayList<>();
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < (n == 0 ? 0 : 1 + v.random.nextInt(5)); i++)
            {
                String name = names[v.random.nextInt(names.length)];
                AbstractType<?> type = pool.get(v.random.nextInt(pool.size()));
                specs.add(new ColumnSpecification("ks", "t", new ColumnIdentifier(name, true), type));
                text.append(i == 0 ? "" : ";").append(Vectors.escape(name)).append(':').append(type);
            }
            v.row("metadata", specs.isEmpty() ? "none" : text, new ResultSet.ResultMetadata(specs).getResultMetadataId());
        }
    }

    private static void paging(Vectors v, int round)
    {
        List<AbstractType<?>> pool = new ArrayList<>(Samples.SCALARS);
        TableMetadata.Builder builder = TableMetadata.builder("ks", "t").addPartitionKeyColumn("k", BytesType.instance);
        int components = round % 4;
        StringBuilder types = new StringBuilder();
        AbstractType<?>[] clusteringTypes = new AbstractType<?>[components];
        for (int i = 0; i < components; i++)
        {
            AbstractType<?> type = pool.get(v.random.nextInt(pool.size()));
            clusteringTypes[i] = v.random.nextInt(3) == 0 ? ReversedType.getInstance(type) : type;
            builder.addClusteringColumn("c" + i, clusteringTypes[i]);
            types.append(i == 0 ? "" : ";").append(Vectors.name(clusteringTypes[i]));
        }
        AbstractType<?> map = MapType.getInstance(UTF8Type.instance, Int32Type.instance, true);
        builder.addRegularColumn("a", Int32Type.instance).addRegularColumn("m", map).addRegularColumn("z", UTF8Type.instance);
        boolean statics = components > 0 && round % 3 == 0;
        if (statics)
            builder.addStaticColumn("s", Int32Type.instance);
        TableMetadata table = builder.build();

        ByteBuffer key = round % 10 == 9 ? null : ByteBuffer.wrap(v.bytes(v.random.nextInt(40)));
        if (key != null && !key.hasRemaining())
            key = ByteBuffer.wrap(new byte[]{ 1 });
        int remaining = v.random.nextInt(4) == 0 ? Integer.MAX_VALUE : v.random.nextInt(v.random.nextBoolean() ? 200 : 3_000_000);
        int inPartition = v.random.nextInt(3) == 0 ? Integer.MAX_VALUE : v.random.nextInt(20_000);
        String marked, cells = "none";
        Row row = null;
        if (round % 8 == 7)
            marked = "none";
        else
        {
            ByteBuffer[] values = new ByteBuffer[components];
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < components; i++)
            {
                values[i] = Samples.random(clusteringTypes[i].unwrap(), v.random);
                text.append(i == 0 ? "" : ",").append(Vectors.hex(values[i]));
            }
            Row.Builder b = BTreeRow.unsortedBuilder();
            b.newRow(components == 0 ? Clustering.EMPTY : Clustering.make(values));
            StringBuilder names = new StringBuilder();
            if (v.random.nextBoolean())
                add(b, table, "a", null, names);
            if (v.random.nextInt(3) == 0)
                for (String path : new String[]{ "p", "q" })
                    add(b, table, "m", path, names);
            if (v.random.nextInt(3) == 0)
                add(b, table, "z", null, names);
            row = b.build();
            marked = components == 0 ? "empty" : text.toString();
            cells = names.length() == 0 ? "none" : names.toString();
        }
        String[] state = new String[2];
        for (int i = 0; i < 2; i++)
        {
            ProtocolVersion version = i == 0 ? ProtocolVersion.V3 : ProtocolVersion.V5;
            state[i] = Vectors.hex(new PagingState(key, row == null ? null : PagingState.RowMark.create(table, row, version), remaining, inPartition).serialize(version));
        }
        v.row("paging", (statics ? "static " : "plain ") + (components == 0 ? "none" : types), Vectors.hex(key), marked, cells, remaining, inPartition, state[0], state[1]);
    }

    private static void add(Row.Builder b, TableMetadata table, String column, String path, StringBuilder names)
    {
        b.addCell(cell(table.getColumn(ByteBufferUtil.bytes(column)), path));
        names.append(names.length() == 0 ? "" : ",").append(column).append(path == null ? "" : "[" + Vectors.hex(ByteBufferUtil.bytes(path)) + "]");
    }

    private static BufferCell cell(ColumnMetadata column, String path)
    {
        return BufferCell.live(column, 1, ByteBufferUtil.bytes(1), path == null ? null : CellPath.create(ByteBufferUtil.bytes(path)));
    }
}
