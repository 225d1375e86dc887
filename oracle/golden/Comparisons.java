import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.marshal.DurationType;
import org.apache.cassandra.db.marshal.ReversedType;

/** The order of values: sorted sequences and pairs, by AbstractType.compare. */
final class Comparisons
{
    static void write(Path directory) throws Exception
    {
        try (Vectors v = new Vectors(directory, "compare.txt", 3,
            "sorted | type | values in ascending order, separated by ' < ' or, where they compare as equal, ' = '",
            "pair | type | a | b | sign of compare(a, b)",
            "types are class strings without the package org.apache.cassandra.db.marshal."))
        {
            List<AbstractType<?>> types = new ArrayList<>(Samples.SCALARS);
            types.addAll(Samples.RARE);
            types.addAll(Samples.composites());
            for (AbstractType<?> type : types)
            {
                List<ByteBuffer> values = Samples.of(type, v.random, 15);
                values.removeIf(b -> !comparable(type, b, b));
                sorted(v, type, values);
                for (int i = 0; i < 25; i++)
                    pair(v, type, any(v, values), any(v, values));
                AbstractType<?> reversed = ReversedType.getInstance(type);
                for (int i = 0; i < 5; i++)
                    pair(v, reversed, any(v, values), any(v, values));
            }
        }
    }

    private static ByteBuffer any(Vectors v, List<ByteBuffer> values)
    {
        return values.get(v.random.nextInt(values.size()));
    }

    private static boolean comparable(AbstractType<?> type, ByteBuffer a, ByteBuffer b)
    {
        try
        {
            type.compare(a, b);
            type.validate(a);
            return true;
        }
        catch (Throwable t)
        {
            return false;
        }
    }

    private static void sorted(Vectors v, AbstractType<?> type, List<ByteBuffer> values)
    {
        values.sort(type);
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < values.size(); i++)
        {
            if (i > 0)
                b.append(type.compare(values.get(i - 1), values.get(i)) == 0 ? " = " : " < ");
            b.append(Vectors.hex(values.get(i)));
        }
        v.row("sorted", Vectors.name(type), b);
    }

    private static void pair(Vectors v, AbstractType<?> type, ByteBuffer a, ByteBuffer b)
    {
        v.row("pair", Vectors.name(type), Vectors.hex(a), Vectors.hex(b), Integer.signum(type.compare(a, b)));
    }
}
