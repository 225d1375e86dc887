import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongPredicate;

import org.apache.cassandra.db.BufferClusteringBound;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.ClusteringBound;
import org.apache.cassandra.db.ClusteringPrefix;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.DeletionTime;
import org.apache.cassandra.db.Digest;
import org.apache.cassandra.db.LivenessInfo;
import org.apache.cassandra.db.RangeTombstone;
import org.apache.cassandra.db.RegularAndStaticColumns;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.db.marshal.BytesType;
import org.apache.cassandra.db.marshal.CounterColumnType;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.ListType;
import org.apache.cassandra.db.marshal.MapType;
import org.apache.cassandra.db.marshal.ReversedType;
import org.apache.cassandra.db.marshal.SetType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.partitions.PurgeFunction;
import org.apache.cassandra.db.partitions.SingletonUnfilteredPartitionIterator;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterators;
import org.apache.cassandra.db.rows.BTreeRow;
import org.apache.cassandra.db.rows.BufferCell;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.CellPath;
import org.apache.cassandra.db.rows.ColumnData;
import org.apache.cassandra.db.rows.ComplexColumnData;
import org.apache.cassandra.db.rows.RangeTombstoneBoundaryMarker;
import org.apache.cassandra.db.rows.RangeTombstoneMarker;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.db.rows.UnfilteredRowIterators;
import org.apache.cassandra.db.transform.RTBoundCloser;
import org.apache.cassandra.db.transform.Transformation;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;

/** What a replica answers a read of a partition with after a few writes to it, item by item, and the digest of that. */
final class Partitions
{
    private static final TableMetadata ROWS = TableMetadata.builder("ks", "t").partitioner(Murmur3Partitioner.instance)
        .addPartitionKeyColumn("k", BytesType.instance)
        .addClusteringColumn("c", Int32Type.instance)
        .addClusteringColumn("d", ReversedType.getInstance(UTF8Type.instance))
        .addStaticColumn("s", Int32Type.instance)
        .addStaticColumn("sm", MapType.getInstance(Int32Type.instance, Int32Type.instance, true))
        .addRegularColumn("a", MapType.getInstance(Int32Type.instance, Int32Type.instance, true))
        .addRegularColumn("b", BytesType.instance)
        .addRegularColumn("l", ListType.getInstance(Int32Type.instance, true))
        .addRegularColumn("u", SetType.getInstance(UTF8Type.instance, true))
        .addRegularColumn("v", Int32Type.instance)
        .build();
    private static final TableMetadata COUNTERS = TableMetadata.builder("ks", "n").partitioner(Murmur3Partitioner.instance)
        .isCounter(true)
        .addPartitionKeyColumn("k", BytesType.instance)
        .addClusteringColumn("c", Int32Type.instance)
        .addClusteringColumn("d", ReversedType.getInstance(UTF8Type.instance))
        .addStaticColumn("s", CounterColumnType.instance)
        .addRegularColumn("x", CounterColumnType.instance)
        .addRegularColumn("y", CounterColumnType.instance)
        .build();
    private static final long[] TIMES = { -5, 0, 10, 11, 12 };
    private static final long NOW = 1000;

    /** Answers that depend on where the writes lay when they were read: Cassandra's own business, not recorded. */
    private static int unstable;

    static void write(Path directory) throws Exception
    {
        try (Vectors v = new Vectors(directory, "partitions.txt", 10,
            "cell and deletion as in reconcile.txt; parts of a row as there, with the columns' names: a a map, b a blob, l a list, u a set, v an int; static s an int, sm a map; counters x, y, static s",
            "items are separated by ' ; ': del deletion  static parts  row(c,d) parts  range BOUND(c,d) BOUND(c,d) deletion  marker BOUND(c,d) deletion [deletion: of a boundary, what ends and what starts in clustering order]",
            "bounds are ClusteringPrefix.Kind; clusterings: an int c, ascending, a text d, descending; bounds may have fewer components",
            "partition | table: rows or counters | key | written: items / items / ... | now | local deletion time below which tombstones go | reversed | slice BOUND(c,d) BOUND(c,d) ; ... or name (c,d) ; ... | columns: all, only (fetched and queried) or some (queried, others fetched) with a[path], a[from..to] for parts of a map | limit of rows, of rows of a partition, 'none' | answer: items, 'none' for no partition | Digest.forReadResponse of the answer"))
        {
            for (int i = 0; i < Vectors.count(220); )
                if (partition(v))
                    i++;
        }
        if (unstable > 0)
            System.err.println("partitions: " + unstable + " cases left out, for which Cassandra answers otherwise when its writes lie elsewhere");
    }

    /** Whether there is a record. */
    private static boolean partition(Vectors v) throws Exception
    {
        TableMetadata table = v.random.nextInt(8) == 0 ? COUNTERS : ROWS;
        DecoratedKey key = Murmur3Partitioner.instance.decorateKey(ByteBuffer.wrap(v.bytes(1 + v.random.nextInt(3))));
        List<PartitionUpdate> updates = new ArrayList<>();
        StringBuilder written = new StringBuilder();
        int n = 1 + v.random.nextInt(4);
        for (int i = 0; i < n; i++)
        {
            List<String> items = new ArrayList<>();
            updates.add(update(v, table, key, items));
            written.append(i == 0 ? "" : " / ").append(items.isEmpty() ? "nothing" : String.join(" ; ", items));
        }
        Query query = new Query(v, table);
        String answer = String.join(" ; ", query.items(updates, false));
        String digest = query.digest(updates, false);
        if (query.isWhole() && !(answer.equals(String.join(" ; ", query.items(updates, true))) && digest.equals(query.digest(updates, true))))
        {
            unstable++;
            return false;
        }
        v.row("partition", table == ROWS ? "rows" : "counters", Vectors.hex(key.getKey()), written, NOW, query.gcBefore, query.reversed, query.rowsText, query.columnsText,
              query.limitsText, answer.isEmpty() ? "none" : answer, digest);
        return true;
    }

    /** One write: all its deletions have one local time, as those of a batch have. */
    private static PartitionUpdate update(Vectors v, TableMetadata table, DecoratedKey key, List<String> items)
    {
        PartitionUpdate.Builder update = new PartitionUpdate.Builder(table, key, table.regularAndStaticColumns(), 8);
        long local = NOW - 60 + v.random.nextInt(60);
        if (table == ROWS)
        {
            if (v.random.nextInt(6) == 0)
            {
                DeletionTime deletion = deletion(v, local);
                update.addPartitionDeletion(deletion);
                items.add("del " + text(deletion));
            }
            for (int i = v.random.nextInt(4); i > 0; i--)
            {
                Slice slice = slice(v, table);
                if (slice == null)
                    continue;
                DeletionTime deletion = deletion(v, local);
                update.add(new RangeTombstone(slice, deletion));
                items.add("range " + text(slice.start()) + " " + text(slice.end()) + " " + text(deletion));
            }
        }
        if (v.random.nextInt(3) == 0)
        {
            Row row = row(v, table, Clustering.STATIC_CLUSTERING, local);
            if (row != null)
            {
                update.add(row);
                items.add("static " + text(row));
            }
        }
        TreeMap<Clustering<?>, Row> rows = new TreeMap<>(table.comparator);
        for (int i = v.random.nextInt(5); i > 0; i--)
        {
            Clustering<?> clustering = clustering(v);
            Row row = row(v, table, clustering, local);
            if (row != null)
                rows.putIfAbsent(clustering, row);
        }
        for (Row row : rows.values())
        {
            update.add(row);
            items.add("row" + values(row.clustering()) + " " + text(row));
        }
        return update.build();
    }

    private static Clustering<?> clustering(Vectors v)
    {
        return Clustering.make(ByteBufferUtil.bytes(v.random.nextInt(4)), ByteBufferUtil.bytes("abcd".substring(0, v.random.nextInt(3))));
    }

    private static Slice slice(Vectors v, TableMetadata table)
    {
        ClusteringBound<?> start = bound(v, ClusteringPrefix.Kind.INCL_START_BOUND, ClusteringPrefix.Kind.EXCL_START_BOUND);
        ClusteringBound<?> end = bound(v, ClusteringPrefix.Kind.INCL_END_BOUND, ClusteringPrefix.Kind.EXCL_END_BOUND);
        return Slice.isEmpty(table.comparator, start, end) ? null : Slice.make(start, end);
    }

    private static ClusteringBound<?> bound(Vectors v, ClusteringPrefix.Kind inclusive, ClusteringPrefix.Kind exclusive)
    {
        int size = v.random.nextInt(8) == 0 ? 0 : 1 + v.random.nextInt(2);
        ByteBuffer[] values = java.util.Arrays.copyOf(clustering(v).getBufferArray(), size);
        return BufferClusteringBound.create(size > 0 && v.random.nextBoolean() ? exclusive : inclusive, values);
    }

    private static DeletionTime deletion(Vectors v, long local)
    {
        return DeletionTime.build(TIMES[v.random.nextInt(TIMES.length)], local);
    }

    /** A row without what it deletes itself, as writes leave it; null if nothing is in it. */
    private static Row row(Vectors v, TableMetadata table, Clustering<?> clustering, long local)
    {
        Row.Builder b = BTreeRow.unsortedBuilder();
        b.newRow(clustering);
        boolean isStatic = clustering == Clustering.STATIC_CLUSTERING;
        if (table == COUNTERS)
        {
            for (String name : isStatic ? new String[]{ "s" } : new String[]{ "x", "y" })
                if (v.random.nextInt(3) != 0)
                    b.addCell(Counters.cell(v, table.getColumn(ByteBufferUtil.bytes(name))));
            Row row = b.build();
            return row.isEmpty() ? null : row;
        }
        if (!isStatic)
        {
            LivenessInfo info = LivenessInfo.EMPTY;
            long time = TIMES[v.random.nextInt(TIMES.length)];
            switch (v.random.nextInt(4))
            {
                case 0:
                    info = LivenessInfo.create(time, NOW);
                    break;
                case 1:
                    info = LivenessInfo.withExpirationTime(time, 10 + v.random.nextInt(30), NOW - 55 + v.random.nextInt(60));
                    break;
            }
            if (!info.isEmpty())
                b.addPrimaryKeyLivenessInfo(info);
            if (v.random.nextInt(4) == 0)
                b.addRowDeletion(Row.Deletion.regular(deletion(v, local)));
        }
        for (ColumnMetadata column : isStatic ? table.staticColumns() : table.regularColumns())
        {
            if (column.isSimple())
            {
                if (v.random.nextInt(3) == 0)
                    b.addCell(cell(v, column, null, local));
                continue;
            }
            if (v.random.nextInt(5) == 0)
                b.addComplexDeletion(column, deletion(v, local));
            if (v.random.nextInt(3) == 0)
                for (int path = 0; path < 3; path++)
                    if (v.random.nextBoolean())
                        b.addCell(cell(v, column, CellPath.create(path(column, path)), local));
        }
        Row row = b.build();
        Row.Merger merger = new Row.Merger(2, true);
        merger.add(0, row);
        merger.add(1, row);
        return merger.merge(DeletionTime.LIVE);
    }

    private static ByteBuffer path(ColumnMetadata column, int number)
    {
        if (column.type instanceof ListType)
            return ByteBufferUtil.hexToBytes("0000000" + number + "000010008080808080808080");
        return column.type instanceof SetType ? ByteBufferUtil.bytes("xyz".substring(number)) : ByteBufferUtil.bytes(number - 1);
    }

    private static Cell<?> cell(Vectors v, ColumnMetadata column, CellPath path, long local)
    {
        long timestamp = TIMES[v.random.nextInt(TIMES.length)];
        boolean isEmpty = column.type instanceof SetType || v.random.nextInt(6) == 0;
        ByteBuffer value = isEmpty ? ByteBufferUtil.EMPTY_BYTE_BUFFER : ByteBufferUtil.bytes(v.random.nextInt(3) - 1);
        switch (v.random.nextInt(4))
        {
            case 0:
                return new BufferCell(column, timestamp, 10 + v.random.nextInt(30), NOW - 55 + v.random.nextInt(60), value, path);
            case 1:
                return new BufferCell(column, timestamp, Cell.NO_TTL, local, ByteBufferUtil.EMPTY_BYTE_BUFFER, path);
            default:
                return new BufferCell(column, timestamp, Cell.NO_TTL, Cell.NO_DELETION_TIME, value, path);
        }
    }

    /** What is asked for, and how it is answered. */
    private static final class Query
    {
        final TableMetadata table;
        final long gcBefore;
        final boolean reversed;
        final Slices slices;
        final NavigableSet<Clustering<?>> names;
        final ColumnFilter columns;
        final DataLimits limits;
        final String rowsText, columnsText, limitsText;

        Query(Vectors v, TableMetadata table)
        {
            this.table = table;
            gcBefore = NOW - 60 + v.random.nextInt(70);
            reversed = v.random.nextBoolean();
            int kind = v.random.nextInt(4);
            List<String> texts = new ArrayList<>();
            if (kind == 0)
            {
                slices = null;
                TreeSet<Clustering<?>> chosen = new TreeSet<>(table.comparator);
                for (int i = 1 + v.random.nextInt(3); i > 0; i--)
                    chosen.add(clustering(v));
                chosen.forEach(c -> texts.add("name " + values(c)));
                names = reversed ? chosen.descendingSet() : chosen;
            }
            else
            {
                names = null;
                Slices.Builder builder = new Slices.Builder(table.comparator);
                for (int i = kind == 1 ? 3 : 1; i > 0; i--)
                {
                    Slice slice = kind == 2 ? Slice.ALL : slice(v, table);
                    if (slice != null)
                        builder.add(slice);
                }
                Slices built = builder.build();
                slices = built.size() == 0 ? Slices.ALL : built;
                slices.forEach(s -> texts.add("slice " + text(s.start()) + " " + text(s.end())));
            }
            rowsText = String.join(" ; ", texts);
            boolean selectsAll = slices != null && slices.size() == 1 && slices.get(0).start().isBottom() && slices.get(0).end().isTop();
            StringBuilder text = new StringBuilder();
            columns = columns(v, selectsAll, text);
            columnsText = text.toString();
            int rows = v.random.nextInt(3) == 0 ? 1 + v.random.nextInt(4) : DataLimits.NO_LIMIT;
            int perPartition = v.random.nextInt(6) == 0 ? 1 + v.random.nextInt(3) : DataLimits.NO_LIMIT;
            limits = DataLimits.cqlLimits(rows, perPartition);
            limitsText = (rows == DataLimits.NO_LIMIT ? "none" : rows) + " " + (perPartition == DataLimits.NO_LIMIT ? "none" : perPartition);
            countsStatic = selectsAll;
        }

        private final boolean countsStatic;

        private ColumnFilter columns(Vectors v, boolean returnsStatic, StringBuilder text)
        {
            int kind = v.random.nextInt(4);
            List<ColumnMetadata> chosen = new ArrayList<>();
            for (ColumnMetadata column : table.regularAndStaticColumns())
                if (v.random.nextInt(3) == 0)
                    chosen.add(column);
            if (kind < 2 || chosen.isEmpty())
            {
                text.append("all");
                return ColumnFilter.all(table);
            }
            if (kind == 2)
            {
                text.append("only");
                RegularAndStaticColumns.Builder builder = RegularAndStaticColumns.builder();
                for (ColumnMetadata column : chosen)
                {
                    builder.add(column);
                    text.append(' ').append(column.name);
                }
                return ColumnFilter.selection(builder.build());
            }
            text.append("some");
            ColumnFilter.Builder builder = ColumnFilter.allRegularColumnsBuilder(table, returnsStatic);
            for (ColumnMetadata column : chosen)
            {
                text.append(' ').append(column.name);
                if (!(column.type instanceof MapType) || v.random.nextBoolean())
                {
                    builder.add(column);
                    continue;
                }
                int from = v.random.nextInt(3), to = from + v.random.nextInt(3 - from);
                ByteBuffer first = path(column, from), last = path(column, to);
                if (from == to)
                    builder.select(column, CellPath.create(first));
                else
                    builder.slice(column, CellPath.create(first), CellPath.create(last));
                text.append('[').append(Vectors.hex(first)).append(from == to ? "" : ".." + Vectors.hex(last)).append(']');
            }
            return builder.build();
        }

        /** Whether it does not matter to what the columns are cut before writes are merged. */
        boolean isWhole()
        {
            return columnsText.startsWith("all") || columnsText.startsWith("only");
        }

        /** The writes in one memtable, or each in its own place, merged when they are read. */
        private UnfilteredPartitionIterator read(List<PartitionUpdate> updates, boolean apart)
        {
            List<PartitionUpdate> sources = new ArrayList<>(updates);
            sources.add(PartitionUpdate.emptyUpdate(table, updates.get(0).partitionKey()));
            List<UnfilteredRowIterator> iterators = new ArrayList<>();
            for (PartitionUpdate source : apart ? sources : List.of(PartitionUpdate.merge(sources)))
                iterators.add(names != null ? source.unfilteredIterator(columns, names, reversed) : source.unfilteredIterator(columns, slices, reversed));
            UnfilteredPartitionIterator partitions = new SingletonUnfilteredPartitionIterator(UnfilteredRowIterators.merge(iterators));
            partitions = Transformation.apply(partitions, new PurgeFunction(NOW, gcBefore, Long.MAX_VALUE, false, false)
            {
                @Override
                protected LongPredicate getPurgeEvaluator()
                {
                    return time -> true;
                }
            });
            return RTBoundCloser.close(limits.filter(partitions, NOW, countsStatic));
        }

        String digest(List<PartitionUpdate> updates, boolean apart)
        {
            Digest digest = Digest.forReadResponse();
            try (UnfilteredPartitionIterator partitions = read(updates, apart))
            {
                UnfilteredPartitionIterators.digest(partitions, digest, 0);
            }
            return Vectors.hex(digest.digest());
        }

        List<String> items(List<PartitionUpdate> updates, boolean apart)
        {
            List<String> items = new ArrayList<>();
            try (UnfilteredPartitionIterator partitions = read(updates, apart))
            {
                while (partitions.hasNext())
                {
                    try (UnfilteredRowIterator partition = partitions.next())
                    {
                        items.add("del " + text(partition.partitionLevelDeletion()));
                        if (!partition.staticRow().isEmpty())
                            items.add("static " + text(partition.staticRow()));
                        while (partition.hasNext())
                            items.add(text(partition.next()));
                    }
                }
            }
            return items;
        }
    }

    private static String text(Unfiltered unfiltered)
    {
        if (unfiltered.isRow())
            return "row" + values(unfiltered.clustering()) + " " + text((Row) unfiltered);
        RangeTombstoneMarker marker = (RangeTombstoneMarker) unfiltered;
        String place = "marker " + text(marker.clustering()) + " ";
        if (!marker.isBoundary())
            return place + text(marker.isOpen(false) ? marker.openDeletionTime(false) : marker.closeDeletionTime(false));
        RangeTombstoneBoundaryMarker boundary = (RangeTombstoneBoundaryMarker) marker;
        return place + text(boundary.endDeletionTime()) + " " + text(boundary.startDeletionTime());
    }

    private static String text(ClusteringPrefix<?> bound)
    {
        return bound.kind() + values(bound);
    }

    private static String values(ClusteringPrefix<?> prefix)
    {
        StringBuilder text = new StringBuilder("(");
        for (int i = 0; i < prefix.size(); i++)
            text.append(i == 0 ? "" : ",").append(Vectors.hex(prefix.bufferAt(i)));
        return text.append(')').toString();
    }

    private static String text(DeletionTime d)
    {
        return d.isLive() ? "live" : d.markedForDeleteAt() + ":" + d.localDeletionTime();
    }

    private static String text(Cell<?> c)
    {
        return c.timestamp() + ":" + c.ttl() + ":" + (c.localDeletionTime() == Cell.NO_DELETION_TIME ? "none" : c.localDeletionTime()) + ":" + Vectors.hex(c.buffer());
    }

    private static String text(Row row)
    {
        List<String> parts = new ArrayList<>();
        LivenessInfo info = row.primaryKeyLivenessInfo();
        if (!info.isEmpty())
            parts.add("live=" + info.timestamp() + ":" + info.ttl() + ":" + (info.isExpiring() ? info.localExpirationTime() : "none"));
        if (!row.deletion().isLive())
            parts.add("del=" + text(row.deletion().time()));
        for (ColumnData data : row)
        {
            String name = data.column().name.toString();
            if (data instanceof Cell)
            {
                parts.add(name + "=" + text((Cell<?>) data));
                continue;
            }
            ComplexColumnData complex = (ComplexColumnData) data;
            if (!complex.complexDeletion().isLive())
                parts.add(name + "!=" + text(complex.complexDeletion()));
            for (Cell<?> c : complex)
                parts.add(name + "[" + Vectors.hex(c.path().get(0)) + "]=" + text(c));
        }
        return String.join(" ", parts);
    }
}
