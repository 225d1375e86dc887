import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.TreeSet;

import org.apache.cassandra.db.BufferClusteringBound;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.ClusteringBound;
import org.apache.cassandra.db.ClusteringComparator;
import org.apache.cassandra.db.ClusteringPrefix;
import org.apache.cassandra.db.DeletionPurger;
import org.apache.cassandra.db.DeletionTime;
import org.apache.cassandra.db.LivenessInfo;
import org.apache.cassandra.db.RangeTombstone;
import org.apache.cassandra.db.RangeTombstoneList;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.MapType;
import org.apache.cassandra.db.rows.BTreeRow;
import org.apache.cassandra.db.rows.BufferCell;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.CellPath;
import org.apache.cassandra.db.rows.Cells;
import org.apache.cassandra.db.rows.ColumnData;
import org.apache.cassandra.db.rows.ComplexColumnData;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;

/** Which cell wins, what rows merge to under deletions, what reads and purges leave of them, and how range tombstones normalise. */
final class Reconciles
{
    private static final ColumnMetadata V = ColumnMetadata.regularColumn("ks", "t", "v", Int32Type.instance);
    private static final ColumnMetadata W = ColumnMetadata.regularColumn("ks", "t", "w", Int32Type.instance);
    private static final ColumnMetadata M = ColumnMetadata.regularColumn("ks", "t", "m", MapType.getInstance(Int32Type.instance, Int32Type.instance, true));
    private static final long[] TIMES = { -5, 0, 10, 11, 12 };
    private static final long NOW = 1000;

    static void write(Path directory) throws Exception
    {
        try (Vectors v = new Vectors(directory, "reconcile.txt", 8,
            "cell = timestamp:ttl:local deletion time:value   ttl 0 = none; deletion time 'none' = live; ttl 0 with a time = tombstone; value hex, '-' empty",
            "deletion = marked for delete at:local deletion time, or 'live'",
            "row = parts separated by spaces: live=timestamp:ttl:expiration  del=deletion (sdel= if shadowable)  v=cell  w=cell  m!=deletion of the whole map  m[path]=cell; 'empty' = nothing",
            "cells | a | b | result of Cells.reconcile(a, b): left, right or same (when equal in every field)",
            "rows | active deletion (partition or range) | row ; row ; ... | merged row (Row.Merger), 'null' for none",
            "read | row | now in seconds | hasLiveData(now) | row without what is deleted or expired at now (purge everything purgeable)",
            "purge | row | now in seconds | local deletion time below which tombstones go | row after purge",
            "ranges | int clustering, added in this order: kind component kind component deletion ; ... | RangeTombstoneList after: the same, in order",
            "covered | list as in the last 'ranges' line | clustering int | deletion that covers it (searchDeletionTime), 'live' for none",
            "purgeable tombstones here: DeletionPurger of (timestamp, localDeletionTime) -> localDeletionTime < bound; expired cells first turn to tombstones"))
        {
            for (int i = 0; i < Vectors.count(380); i++)
                cells(v);
            for (int i = 0; i < Vectors.count(380); )
                if (rows(v) || Vectors.count == 0)
                    i++;
            for (int i = 0; i < Vectors.count(200); i++)
                ranges(v);
        }
    }

    private static void cells(Vectors v)
    {
        Cell<?> a = cell(v, V, null), b = v.random.nextInt(12) == 0 ? a : cell(v, V, null);
        Cell<?> winner = Cells.reconcile(a, b);
        String ta = text(a), tb = text(b);
        v.row("cells", ta, tb, ta.equals(tb) ? "same" : winner == a ? "left" : "right");
    }

    /** Whether anything is left of the row, to be read and purged. */
    private static boolean rows(Vectors v)
    {
        DeletionTime active = v.random.nextInt(2) == 0 ? DeletionTime.LIVE : deletion(v);
        List<Row> rows = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        Row.Merger merger = new Row.Merger(3, true);
        int n = Vectors.count > 0 ? 2 + v.random.nextInt(2) : 1 + v.random.nextInt(3);
        for (int i = 0; i < n; i++)
        {
            Row row = row(v);
            rows.add(row);
            merger.add(i, row);
            text.append(i == 0 ? "" : " ; ").append(text(row));
        }
        Row merged = merger.merge(active);
        v.row("rows", text(active), text, text(merged));
        if (merged == null)
            return false;
        v.row("read", text(merged), NOW, merged.hasLiveData(NOW, false), text(merged.purge(DeletionPurger.PURGE_ALL, NOW, false)));
        long bound = NOW - 60 + v.random.nextInt(90);
        v.row("purge", text(merged), NOW, bound, text(merged.purge((timestamp, time) -> time < bound, NOW, false)));
        return true;
    }

    private static Row row(Vectors v)
    {
        Row.Builder b = BTreeRow.unsortedBuilder();
        b.newRow(Clustering.make(ByteBufferUtil.bytes(1)));
        long time = TIMES[v.random.nextInt(TIMES.length)];
        LivenessInfo info = LivenessInfo.EMPTY;
        switch (v.random.nextInt(4))
        {
            case 0:
                info = LivenessInfo.create(time, NOW);
                break;
            case 1:
                info = LivenessInfo.withExpirationTime(time, 10 + v.random.nextInt(2), NOW - 2 + v.random.nextInt(5));
                break;
        }
        if (!info.isEmpty())
            b.addPrimaryKeyLivenessInfo(info);
        Row.Deletion deletion = Row.Deletion.LIVE;
        if (v.random.nextInt(3) == 0)
            deletion = Row.Deletion.regular(deletion(v));
        if (!deletion.isLive())
            b.addRowDeletion(deletion);
        if (v.random.nextInt(3) != 0)
            b.addCell(cell(v, V, null));
        if (v.random.nextInt(3) == 0)
            b.addCell(cell(v, W, null));
        if (v.random.nextInt(3) == 0)
            b.addComplexDeletion(M, deletion(v));
        if (v.random.nextInt(2) == 0)
            for (int path = 0; path < 3; path++)
                if (v.random.nextBoolean())
                    b.addCell(cell(v, M, CellPath.create(ByteBufferUtil.bytes(path))));
        return b.build();
    }

    private static DeletionTime deletion(Vectors v)
    {
        return DeletionTime.build(TIMES[v.random.nextInt(TIMES.length)], NOW - 40 + v.random.nextInt(40));
    }

    private static Cell<?> cell(Vectors v, ColumnMetadata column, CellPath path)
    {
        long timestamp = TIMES[v.random.nextInt(TIMES.length)];
        ByteBuffer value = v.random.nextInt(6) == 0 ? ByteBufferUtil.EMPTY_BYTE_BUFFER : ByteBufferUtil.bytes(v.random.nextInt(3) - 1);
        switch (v.random.nextInt(3))
        {
            case 0:
                return new BufferCell(column, timestamp, Cell.NO_TTL, Cell.NO_DELETION_TIME, value, path);
            case 1:
                return new BufferCell(column, timestamp, 10 + v.random.nextInt(2), NOW - 2 + v.random.nextInt(5), value, path);
            default:
                return new BufferCell(column, timestamp, Cell.NO_TTL, NOW - 2 + v.random.nextInt(3), ByteBufferUtil.EMPTY_BYTE_BUFFER, path);
        }
    }

    private static void ranges(Vectors v)
    {
        ClusteringComparator comparator = new ClusteringComparator(Int32Type.instance);
        RangeTombstoneList list = new RangeTombstoneList(comparator, 2);
        StringBuilder added = new StringBuilder();
        int n = 1 + v.random.nextInt(6);
        for (int i = 0; i < n; i++)
        {
            int low = v.random.nextInt(10), high = low + v.random.nextInt(10 - low);
            ClusteringBound<?> start = v.random.nextInt(8) == 0 ? BufferClusteringBound.BOTTOM : bound(v.random.nextBoolean() ? ClusteringPrefix.Kind.INCL_START_BOUND : ClusteringPrefix.Kind.EXCL_START_BOUND, low);
            ClusteringBound<?> end = v.random.nextInt(8) == 0 ? BufferClusteringBound.TOP : bound(v.random.nextBoolean() ? ClusteringPrefix.Kind.INCL_END_BOUND : ClusteringPrefix.Kind.EXCL_END_BOUND, high);
            if (Slice.isEmpty(comparator, start, end))
            {
                start = bound(ClusteringPrefix.Kind.INCL_START_BOUND, low);
                end = bound(ClusteringPrefix.Kind.INCL_END_BOUND, high);
            }
            RangeTombstone tombstone = new RangeTombstone(Slice.make(start, end), deletion(v));
            added.append(i == 0 ? "" : " ; ").append(text(tombstone));
            list.add(tombstone);
        }
        StringBuilder after = new StringBuilder();
        for (Iterator<RangeTombstone> it = list.iterator(); it.hasNext(); )
            after.append(after.length() == 0 ? "" : " ; ").append(text(it.next()));
        v.row("ranges", added, after);
        for (int point : new TreeSet<>(java.util.Arrays.asList(v.random.nextInt(10), v.random.nextInt(10), v.random.nextInt(10))))
            v.row("covered", after, point, text(list.searchDeletionTime(Clustering.make(ByteBufferUtil.bytes(point)))));
    }

    private static ClusteringBound<?> bound(ClusteringPrefix.Kind kind, int value)
    {
        return BufferClusteringBound.create(kind, new ByteBuffer[]{ ByteBufferUtil.bytes(value) });
    }

    private static String text(RangeTombstone t)
    {
        return text(t.deletedSlice().start()) + " " + text(t.deletedSlice().end()) + " " + text(t.deletionTime());
    }

    private static String text(ClusteringBound<?> b)
    {
        return b.kind() + " " + (b.size() == 0 ? "none" : String.valueOf(Int32Type.instance.compose(b.bufferAt(0))));
    }

    private static String text(DeletionTime d)
    {
        return d == null || d.isLive() ? "live" : d.markedForDeleteAt() + ":" + d.localDeletionTime();
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
        LivenessInfo info = row.primaryKeyLivenessInfo();
        if (!info.isEmpty())
            parts.add("live=" + info.timestamp() + ":" + info.ttl() + ":" + (info.isExpiring() ? info.localExpirationTime() : "none"));
        if (!row.deletion().isLive())
            parts.add((row.deletion().isShadowable() ? "sdel=" : "del=") + text(row.deletion().time()));
        for (ColumnData data : row)
        {
            if (data instanceof Cell)
            {
                parts.add(data.column().name + "=" + text((Cell<?>) data));
                continue;
            }
            ComplexColumnData complex = (ComplexColumnData) data;
            if (!complex.complexDeletion().isLive())
                parts.add("m!=" + text(complex.complexDeletion()));
            for (Cell<?> c : complex)
                parts.add("m[" + Vectors.hex(c.path().get(0)) + "]=" + text(c));
        }
        return parts.isEmpty() ? "empty" : String.join(" ", parts);
    }
}
