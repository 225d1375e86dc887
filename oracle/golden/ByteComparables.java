import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.apache.cassandra.db.BufferClusteringBound;
import org.apache.cassandra.db.BufferClusteringBoundary;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.ClusteringComparator;
import org.apache.cassandra.db.ClusteringPrefix;
import org.apache.cassandra.db.marshal.*;
import org.apache.cassandra.utils.bytecomparable.ByteComparable.Version;
import org.apache.cassandra.utils.bytecomparable.ByteSource;
import org.apache.cassandra.utils.bytecomparable.ByteSourceInverse;

/** Byte-comparable forms (OSS50) of single values, of whole clusterings and of clustering bounds. */
final class ByteComparables
{
    static void write(Path directory) throws Exception
    {
        try (Vectors v = new Vectors(directory, "byte_comparable.txt", 2,
            "value | type | serialized | byte-comparable OSS50 ('null': the type has no bytes for it; a clustering writes an empty-component mark) | serialized again from it ('error': Cassandra throws)",
            "clustering | kind | type;type;... | component,component,... ('-' empty, 'null' null) | byte-comparable OSS50",
            "types are class strings without the package org.apache.cassandra.db.marshal.",
            "kinds are ClusteringPrefix.Kind; bounds may have fewer components than types; 'none' when there are none"))
        {
            List<AbstractType<?>> types = new ArrayList<>(Samples.SCALARS);
            types.addAll(Samples.RARE);
            types.addAll(Samples.composites());
            for (AbstractType<?> type : types)
            {
                for (ByteBuffer value : Samples.of(type, v.random, 12))
                    value(v, type, value);
            }
            for (AbstractType<?> type : types)
                for (ByteBuffer value : few(v, type, 6))
                    value(v, ReversedType.getInstance(type), value);
            types.removeAll(Samples.RARE);
            for (int i = 0; i < Vectors.count; i++)
            {
                AbstractType<?> type = types.get(v.random.nextInt(types.size()));
                ByteBuffer value = Samples.one(type, v.random);
                value(v, type, value);
                value(v, ReversedType.getInstance(type), value);
            }
            for (int i = 0; i < Vectors.count(90); i++)
                clusterings(v, i);
        }
    }

    private static void value(Vectors v, AbstractType<?> type, ByteBuffer value)
    {
        String bytes, again;
        try
        {
            ByteSource source = type.asComparableBytes(value, Version.OSS50);
            bytes = source == null ? "null" : Vectors.hex(ByteSourceInverse.readBytes(source));
        }
        catch (Throwable t)
        {
            v.row("value", Vectors.name(type), Vectors.hex(value), "error " + t.getClass().getSimpleName(), "error");
            return;
        }
        try
        {
            again = bytes.equals("null") ? Vectors.hex(type.fromComparableBytes(null, Version.OSS50)) : Vectors.hex(type.fromComparableBytes(ByteSource.peekable(type.asComparableBytes(value, Version.OSS50)), Version.OSS50));
        }
        catch (Throwable t)
        {
            again = "error " + t.getClass().getSimpleName();
        }
        v.row("value", Vectors.name(type), Vectors.hex(value), bytes, again);
    }

    private static List<ByteBuffer> few(Vectors v, AbstractType<?> type, int count)
    {
        List<ByteBuffer> all = Samples.of(type, v.random, 4);
        List<ByteBuffer> few = new ArrayList<>(all.subList(0, Math.min(3, all.size())));
        while (few.size() < count && all.size() > 3)
            few.add(all.get(v.random.nextInt(all.size())));
        return few;
    }

    private static void clusterings(Vectors v, int round)
    {
        AbstractType<?>[] types = new AbstractType<?>[1 + v.random.nextInt(4)];
        List<AbstractType<?>> pool = new ArrayList<>(Samples.SCALARS);
        pool.addAll(Samples.composites());
        for (int i = 0; i < types.length; i++)
        {
            AbstractType<?> type = pool.get(v.random.nextInt(pool.size()));
            types[i] = v.random.nextInt(3) == 0 ? ReversedType.getInstance(type) : type;
        }
        ClusteringComparator comparator = new ClusteringComparator(types);
        ByteBuffer[] values = new ByteBuffer[types.length];
        for (int i = 0; i < types.length; i++)
        {
            if (Vectors.count > 0)
            {
                values[i] = Samples.one(types[i].unwrap(), v.random);
                continue;
            }
            List<ByteBuffer> of = Samples.of(types[i], v.random, 4);
            values[i] = of.get(v.random.nextInt(of.size()));
        }
        row(v, comparator, types, Clustering.make(values), values);
        if (round % 5 == 0) // a null component: only old compact tables and index tables have it
        {
            ByteBuffer[] nulls = values.clone();
            nulls[v.random.nextInt(nulls.length)] = null;
            row(v, comparator, types, Clustering.make(nulls), nulls);
        }
        if (round % 10 == 1)
            row(v, comparator, types, Clustering.STATIC_CLUSTERING, new ByteBuffer[0]);
        int length = v.random.nextInt(types.length + 1);
        ByteBuffer[] prefix = Arrays.copyOf(values, length);
        for (ClusteringPrefix.Kind kind : new ClusteringPrefix.Kind[]{ ClusteringPrefix.Kind.INCL_START_BOUND, ClusteringPrefix.Kind.EXCL_START_BOUND,
                                                                       ClusteringPrefix.Kind.INCL_END_BOUND, ClusteringPrefix.Kind.EXCL_END_BOUND })
            if (length > 0 || kind == ClusteringPrefix.Kind.INCL_START_BOUND || kind == ClusteringPrefix.Kind.INCL_END_BOUND)
                row(v, comparator, types, BufferClusteringBound.create(kind, prefix), prefix);
        if (length > 0)
            for (ClusteringPrefix.Kind kind : new ClusteringPrefix.Kind[]{ ClusteringPrefix.Kind.EXCL_END_INCL_START_BOUNDARY, ClusteringPrefix.Kind.INCL_END_EXCL_START_BOUNDARY })
                row(v, comparator, types, BufferClusteringBoundary.create(kind, prefix), prefix);
    }

    private static void row(Vectors v, ClusteringComparator comparator, AbstractType<?>[] types, ClusteringPrefix<?> prefix, ByteBuffer[] values)
    {
        StringBuilder t = new StringBuilder(), c = new StringBuilder();
        for (AbstractType<?> type : types)
            t.append(t.length() == 0 ? "" : ";").append(Vectors.name(type));
        for (int i = 0; i < values.length; i++)
            c.append(i == 0 ? "" : ",").append(Vectors.hex(values[i]));
        String bytes;
        try
        {
            bytes = Vectors.hex(ByteSourceInverse.readBytes(comparator.asByteComparable(prefix).asComparableBytes(Version.OSS50)));
        }
        catch (Throwable e)
        {
            bytes = "error " + e.getClass().getSimpleName();
        }
        v.row("clustering", prefix.kind(), t, values.length == 0 ? "none" : c, bytes);
    }
}
