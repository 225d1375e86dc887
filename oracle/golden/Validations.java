import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.apache.cassandra.db.marshal.*;
import org.apache.cassandra.serializers.MarshalException;

/** Which bytes a type accepts, and what it says about those it does not. */
final class Validations
{
    static void write(Path directory) throws Exception
    {
        try (Vectors v = new Vectors(directory, "validate.txt", 4,
            "type | bytes | ok, or the MarshalException's message (escaped), or 'throws CLASS' for any other exception",
            "types are class strings without the package org.apache.cassandra.db.marshal."))
        {
            List<AbstractType<?>> types = new ArrayList<>(Samples.SCALARS);
            types.addAll(Samples.RARE);
            types.add(DurationType.instance);
            types.add(CounterColumnType.instance);
            types.addAll(Samples.composites());
            types.add(ListType.getInstance(Int32Type.instance, true));
            types.add(MapType.getInstance(UTF8Type.instance, Int32Type.instance, true));
            for (AbstractType<?> type : types)
            {
                Set<ByteBuffer> values = new LinkedHashSet<>();
                for (int length : new int[]{ 0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17 })
                {
                    values.add(ByteBuffer.allocate(length));
                    values.add(ByteBuffer.wrap(v.bytes(length)));
                }
                for (String s : new String[]{ "80", "c0af", "c080", "eda080", "edbfbf", "f4908080", "f8888080", "e28082", "c3", "e282", "f09f98", "7f", "ff", "61ff",
                                              "00004e94914f0000", "00004e94914effff", "ffffffffffffffff", "0000000100000004", "ffffffff", "fffffffe", "00000001", "00000001ffffffff",
                                              "0000000100000005aabbccdd", "0000000200000004000000010000000400000002", "00000001000000040000000100", "7fffffff",
                                              "0202020202020202", "020202", "020201", "000002", "ffffffffffffffffffffffffffff" })
                    values.add(Samples.bytes(s));
                List<ByteBuffer> good = type instanceof DurationType || type instanceof CounterColumnType ? List.of() : Samples.of(type, v.random, 6);
                for (int i = 0; i < Math.min(8, good.size()); i++)
                {
                    ByteBuffer g = good.get(v.random.nextInt(good.size()));
                    values.add(g);
                    if (g.hasRemaining())
                        values.add(cut(g, g.remaining() - 1));
                    values.add(extended(g));
                }
                for (ByteBuffer b : values)
                    v.row(Vectors.name(type), Vectors.hex(b), verdict(type, b));
            }
        }
    }

    private static String verdict(AbstractType<?> type, ByteBuffer bytes)
    {
        try
        {
            type.validate(bytes.duplicate());
            return "ok";
        }
        catch (MarshalException e)
        {
            return Vectors.escape(e.getMessage());
        }
        catch (Throwable t)
        {
            return "throws " + t.getClass().getSimpleName();
        }
    }

    private static ByteBuffer cut(ByteBuffer b, int length)
    {
        ByteBuffer c = b.duplicate();
        c.limit(c.position() + length);
        return c.slice();
    }

    private static ByteBuffer extended(ByteBuffer b)
    {
        ByteBuffer c = ByteBuffer.allocate(b.remaining() + 1);
        c.put(b.duplicate());
        c.rewind();
        return c;
    }
}
