import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DeletionTime;
import org.apache.cassandra.db.context.CounterContext;
import org.apache.cassandra.db.context.CounterContext.ContextState;
import org.apache.cassandra.db.marshal.ByteBufferAccessor;
import org.apache.cassandra.db.marshal.CounterColumnType;
import org.apache.cassandra.db.rows.BTreeRow;
import org.apache.cassandra.db.rows.BufferCell;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.Cells;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.apache.cassandra.utils.CounterId;

/** What counter contexts are made of and merge to, and what counter cells and rows of them reconcile to. */
final class Counters
{
    private static final CounterContext CONTEXTS = CounterContext.instance();
    private static final ColumnMetadata C = ColumnMetadata.regularColumn("ks", "t", "c", CounterColumnType.instance);
    private static final ColumnMetadata D = ColumnMetadata.regularColumn("ks", "t", "d", CounterColumnType.instance);
    private static final long[] CLOCKS = { -7, -1, 0, 1, 2, 3, Long.MAX_VALUE };
    private static final long[] COUNTS = { 0, 1, -1, 40, Long.MAX_VALUE, Long.MIN_VALUE };
    private static final long[] TIMES = { -5, 0, 10, 11, 12 };
    private static final long NOW = 1000;

    private enum Kind { GLOBAL, LOCAL, REMOTE }

    static void write(Path directory) throws Exception
    {
        try (Vectors v = new Vectors(directory, "counters.txt", 9,
            "context = bytes of a counter cell's value, hex",
            "cell = timestamp:ttl:local deletion time:context   ttl 0 with a time = tombstone; deletion time 'none' = live",
            "row = parts separated by spaces: del=deletion  c=cell  d=cell; 'empty' = nothing",
            "update | increment | CounterContext.createUpdate",
            "global | counter id (CounterId.fromInt) | clock | count | CounterContext.createGlobal",
            "context | context | shards (kind:id:clock:count ...) | total | shard of the id c000000000000002: clock:count, 0:0 for none",
            "merge | context | context | CounterContext.merge | merged the other way round, 'same' if equal",
            "cells | cell | cell | Cells.reconcile",
            "rows | active deletion (partition or range) or 'live' | row ; row ; ... | merged row (Row.Merger), 'null' for none"))
        {
            for (long increment : COUNTS)
                v.row("update", increment, Vectors.hex(CONTEXTS.createUpdate(increment)));
            for (int i = 0; i < 12; i++)
            {
                int id = v.random.nextInt(5);
                long clock = CLOCKS[v.random.nextInt(CLOCKS.length)], count = COUNTS[v.random.nextInt(COUNTS.length)];
                v.row("global", id, clock, count, Vectors.hex(CONTEXTS.createGlobal(CounterId.fromInt(id), clock, count)));
            }
            for (int i = 0; i < Vectors.count(60); i++)
                context(v);
            for (int i = 0; i < Vectors.count(400); i++)
                merge(v);
            for (int i = 0; i < Vectors.count(150); i++)
                cells(v);
            for (int i = 0; i < Vectors.count(200); i++)
                rows(v);
        }
    }

    private static void context(Vectors v)
    {
        List<String> shards = new ArrayList<>();
        ByteBuffer context = context(v, Kind.values(), shards);
        v.row("context", Vectors.hex(context), String.join(" ", shards), CONTEXTS.total(context, ByteBufferAccessor.instance),
              CONTEXTS.getClockAndCountOf(context, CounterId.fromInt(2)).clock + ":" + CONTEXTS.getClockAndCountOf(context, CounterId.fromInt(2)).count);
    }

    private static void merge(Vectors v)
    {
        Kind[][] kinds = { { Kind.GLOBAL }, { Kind.GLOBAL, Kind.REMOTE }, Kind.values(), { Kind.REMOTE }, { Kind.LOCAL } };
        Kind[] chosen = kinds[v.random.nextInt(kinds.length)];
        ByteBuffer a = context(v, chosen, null), b = v.random.nextInt(12) == 0 ? a.duplicate() : context(v, chosen, null);
        String merged = Vectors.hex(CONTEXTS.merge(a.duplicate(), b.duplicate()));
        String other = Vectors.hex(CONTEXTS.merge(b.duplicate(), a.duplicate()));
        v.row("merge", Vectors.hex(a), Vectors.hex(b), merged, merged.equals(other) ? "same" : other);
    }

    private static void cells(Vectors v)
    {
        Cell<?> a = cell(v, C), b = v.random.nextInt(12) == 0 ? a : cell(v, C);
        v.row("cells", text(a), text(b), text(Cells.reconcile(a, b)));
    }

    private static void rows(Vectors v)
    {
        DeletionTime active = Vectors.count > 0 || v.random.nextInt(2) == 0 ? DeletionTime.LIVE : deletion(v);
        StringBuilder text = new StringBuilder();
        Row.Merger merger = new Row.Merger(3, false);
        int n = 2 + v.random.nextInt(2);
        for (int i = 0; i < n; i++)
        {
            Row row = row(v);
            merger.add(i, row);
            text.append(i == 0 ? "" : " ; ").append(text(row));
        }
        v.row("rows", active.isLive() ? "live" : text(active), text, text(merger.merge(active)));
    }

    private static Row row(Vectors v)
    {
        Row.Builder b = BTreeRow.unsortedBuilder();
        b.newRow(Clustering.make(ByteBufferUtil.bytes(1)));
        if (v.random.nextInt(3) == 0)
            b.addRowDeletion(Row.Deletion.regular(deletion(v)));
        if (v.random.nextInt(4) != 0)
            b.addCell(cell(v, C));
        if (v.random.nextInt(3) == 0)
            b.addCell(cell(v, D));
        return b.build();
    }

    private static DeletionTime deletion(Vectors v)
    {
        return DeletionTime.build(TIMES[v.random.nextInt(TIMES.length)], NOW - 40 + v.random.nextInt(40));
    }

    /** As nodes store them: global shards, and some of others that come from long ago. */
    static Cell<?> cell(Vectors v, ColumnMetadata column)
    {
        long timestamp = TIMES[v.random.nextInt(TIMES.length)];
        if (v.random.nextInt(5) == 0)
            return BufferCell.tombstone(column, timestamp, NOW - 2 + v.random.nextInt(3), null);
        Kind[] kinds = v.random.nextInt(4) == 0 ? new Kind[]{ Kind.GLOBAL, Kind.REMOTE } : new Kind[]{ Kind.GLOBAL };
        return BufferCell.live(column, timestamp, context(v, kinds, null), null);
    }

    /** A context of up to four shards, ids ascending; their text is added to {@code texts}. */
    private static ByteBuffer context(Vectors v, Kind[] kinds, List<String> texts)
    {
        TreeSet<Integer> ids = new TreeSet<>();
        int n = 1 + v.random.nextInt(4);
        while (ids.size() < n)
            ids.add(1 + v.random.nextInt(5));
        Kind[] chosen = new Kind[n];
        int[] numbers = new int[3];
        for (int i = 0; i < n; i++)
        {
            chosen[i] = kinds[v.random.nextInt(kinds.length)];
            numbers[chosen[i].ordinal()]++;
        }
        ContextState state = ContextState.allocate(numbers[0], numbers[1], numbers[2]);
        int i = 0;
        for (int id : ids)
        {
            Kind kind = chosen[i++];
            // A remote shard's clock is never zero: which of zero and another wins depends on the order.
            long clock = CLOCKS[v.random.nextInt(CLOCKS.length)], count = COUNTS[v.random.nextInt(COUNTS.length)];
            if (kind == Kind.REMOTE && clock == 0)
                clock = 5;
            switch (kind)
            {
                case GLOBAL:
                    state.writeGlobal(CounterId.fromInt(id), clock, count);
                    break;
                case LOCAL:
                    state.writeLocal(CounterId.fromInt(id), clock, count);
                    break;
                default:
                    state.writeRemote(CounterId.fromInt(id), clock, count);
            }
            if (texts != null)
                texts.add(kind.name().toLowerCase() + ":" + Vectors.hex(CounterId.fromInt(id).bytes()) + ":" + clock + ":" + count);
        }
        return state.context;
    }

    private static String text(DeletionTime d)
    {
        return d.markedForDeleteAt() + ":" + d.localDeletionTime();
    }

    private static String text(Cell<?> c)
    {
        return c.timestamp() + ":" + c.ttl() + ":" + (c.localDeletionTime() == Cell.NO_DELETION_TIME ? "none" : c.localDeletionTime()) + ":" + Vectors.hex(c.buffer());
    }

    private static String text(Row row)
    {
        if (row == null)
            return "null";
        List<String> parts = new ArrayList<>();
        if (!row.deletion().isLive())
            parts.add("del=" + text(row.deletion().time()));
        for (Cell<?> cell : row.cells())
            parts.add(cell.column().name + "=" + text(cell));
        return parts.isEmpty() ? "empty" : String.join(" ", parts);
    }
}
