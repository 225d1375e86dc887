import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import org.apache.cassandra.cql3.FieldIdentifier;
import org.apache.cassandra.db.marshal.*;
import org.apache.cassandra.serializers.CollectionSerializer;
import org.apache.cassandra.utils.ByteBufferUtil;

/** Types to try, and for each of them edge values and random values in their serialized form. */
final class Samples
{
    static final List<AbstractType<?>> SCALARS = List.of(
        AsciiType.instance, LongType.instance, BytesType.instance, BooleanType.instance, SimpleDateType.instance,
        DecimalType.instance, DoubleType.instance, FloatType.instance, InetAddressType.instance, Int32Type.instance,
        ShortType.instance, UTF8Type.instance, TimeType.instance, TimestampType.instance, TimeUUIDType.instance,
        ByteType.instance, UUIDType.instance, IntegerType.instance);

    /** Scalars that only old schemas or internals use. */
    static final List<AbstractType<?>> RARE = List.of(LexicalUUIDType.instance, DateType.instance, EmptyType.instance);

    static final UserType UDT = new UserType("ks", ByteBufferUtil.bytes("udt"),
        List.of(FieldIdentifier.forUnquoted("a"), FieldIdentifier.forUnquoted("b"), FieldIdentifier.forUnquoted("c")),
        List.of(Int32Type.instance, UTF8Type.instance, ListType.getInstance(LongType.instance, false)), false);

    static List<AbstractType<?>> composites()
    {
        return List.of(
            ListType.getInstance(Int32Type.instance, false),
            ListType.getInstance(UTF8Type.instance, false),
            ListType.getInstance(DecimalType.instance, false),
            SetType.getInstance(Int32Type.instance, false),
            SetType.getInstance(UTF8Type.instance, false),
            SetType.getInstance(TimeUUIDType.instance, false),
            MapType.getInstance(UTF8Type.instance, Int32Type.instance, false),
            MapType.getInstance(IntegerType.instance, ListType.getInstance(UTF8Type.instance, false), false),
            ListType.getInstance(SetType.getInstance(Int32Type.instance, false), false),
            new TupleType(List.of(Int32Type.instance, UTF8Type.instance)),
            new TupleType(List.of(UTF8Type.instance, ListType.getInstance(Int32Type.instance, false), DoubleType.instance)),
            new TupleType(List.of(new TupleType(List.of(ByteType.instance, BytesType.instance)), InetAddressType.instance)),
            UDT,
            VectorType.getInstance(FloatType.instance, 3),
            VectorType.getInstance(Int32Type.instance, 2),
            VectorType.getInstance(UTF8Type.instance, 2),
            VectorType.getInstance(IntegerType.instance, 3),
            ListType.getInstance(VectorType.getInstance(FloatType.instance, 2), false));
    }

    /** Values of a type: the edges first, then {@code count} random ones; no duplicates, order stable. */
    static List<ByteBuffer> of(AbstractType<?> type, Random r, int count)
    {
        Set<ByteBuffer> values = new LinkedHashSet<>(edges(type.unwrap(), r));
        for (int i = 0; i < count; i++)
            values.add(random(type.unwrap(), r));
        return new ArrayList<>(values);
    }

    /** A value of a type: most are random, some are at an edge. */
    static ByteBuffer one(AbstractType<?> type, Random r)
    {
        if (r.nextInt(4) != 0)
            return random(type, r);
        List<ByteBuffer> edges = EDGES.computeIfAbsent(type, t -> edges(t, r));
        return edges.isEmpty() ? random(type, r) : edges.get(r.nextInt(edges.size()));
    }

    private static final Map<AbstractType<?>, List<ByteBuffer>> EDGES = new HashMap<>();

    static List<ByteBuffer> edges(AbstractType<?> type, Random r)
    {
        List<ByteBuffer> l = new ArrayList<>();
        if (type == EmptyType.instance)
            l.add(bytes(""));
        else if (type == AsciiType.instance)
            for (String s : new String[]{ "", "00", "0000", "61", "6100", "610000", "6101", "61ff".substring(0, 2), "4141", "7f", "7f7f", "20" })
                l.add(bytes(s));
        else if (type == UTF8Type.instance)
            for (String s : new String[]{ "", "\0", "\0\0", "a", "a\0", "a\0\0b", "a\1", "A", "ab", "\u007f", "\u0080", "\u07ff", "\u0800",
                                          "\uffff", "\ud800\udc00", "\udbff\udfff", "\u00e9t\u00e9", "\u6f22\u5b57" })
                l.add(ByteBuffer.wrap(s.getBytes(StandardCharsets.UTF_8)));
        else if (type == BytesType.instance)
            for (String s : new String[]{ "", "00", "0000", "000000", "0001", "00ff", "00fe", "00fd", "01", "0100", "010000", "010001", "7f", "80", "ff",
                                          "ff00", "ff0000", "fffe", "ffff", "ff00ff", "fe", "feff", "00ff00", "000100" })
                l.add(bytes(s));
        else if (type == BooleanType.instance)
            for (String s : new String[]{ "", "00", "01", "02", "ff" })
                l.add(bytes(s));
        else if (type == ByteType.instance)
            integers(l, 1);
        else if (type == ShortType.instance)
            integers(l, 2);
        else if (type == Int32Type.instance)
        {
            l.add(bytes(""));
            integers(l, 4);
        }
        else if (type == SimpleDateType.instance)
            integers(l, 4);
        else if (type == LongType.instance || type == TimestampType.instance || type == DateType.instance)
        {
            l.add(bytes(""));
            integers(l, 8);
        }
        else if (type == TimeType.instance)
            for (long t : new long[]{ 0, 1, 999_999_999L, 1_000_000_000L, 43_200_000_000_000L, 86_399_999_999_999L })
                l.add(ByteBuffer.allocate(8).putLong(0, t));
        else if (type == DoubleType.instance)
        {
            l.add(bytes(""));
            for (double d : new double[]{ 0.0, -0.0, 1, -1, Double.MIN_VALUE, -Double.MIN_VALUE, Double.MIN_NORMAL, Double.MAX_VALUE, -Double.MAX_VALUE,
                                          Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 1.5, -1.5, 1e100, -1e100 })
                l.add(ByteBuffer.allocate(8).putDouble(0, d));
            for (long nan : new long[]{ 0x7ff8000000000000L, 0x7ff0000000000001L, 0xfff8000000000000L, 0xffffffffffffffffL })
                l.add(ByteBuffer.allocate(8).putLong(0, nan));
        }
        else if (type == FloatType.instance)
        {
            l.add(bytes(""));
            for (float d : new float[]{ 0.0f, -0.0f, 1, -1, Float.MIN_VALUE, -Float.MIN_VALUE, Float.MAX_VALUE, -Float.MAX_VALUE,
                                        Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, 1.5f, -1.5f })
                l.add(ByteBuffer.allocate(4).putFloat(0, d));
            for (int nan : new int[]{ 0x7fc00000, 0x7f800001, 0xffc00000, 0xffffffff })
                l.add(ByteBuffer.allocate(4).putInt(0, nan));
        }
        else if (type == InetAddressType.instance)
            for (String s : new String[]{ "", "00000000", "7f000001", "80000000", "ffffffff", "0a000001",
                                          "00000000000000000000000000000000", "00000000000000000000000000000001",
                                          "00000000000000000000ffff7f000001", "20010db8000000000000000000000001",
                                          "ffffffffffffffffffffffffffffffff" })
                l.add(bytes(s));
        else if (type == UUIDType.instance || type == LexicalUUIDType.instance || type == TimeUUIDType.instance)
            uuids(l, type == TimeUUIDType.instance);
        else if (type == IntegerType.instance)
        {
            for (String s : new String[]{ "", "00", "0000", "0001", "ff", "ffff", "ff80", "80", "0080", "7f", "007f", "00000000000000000001", "ffffffffffffffffffff" })
                l.add(bytes(s));
            for (int bits : new int[]{ 5, 6, 7, 8, 13, 14, 15, 16, 31, 32, 47, 48, 55, 56, 62, 63, 64, 65, 127, 128, 504, 512, 1016, 1024, 2040 })
                for (int d = -1; d <= 1; d++)
                {
                    BigInteger b = BigInteger.ONE.shiftLeft(bits).add(BigInteger.valueOf(d));
                    l.add(ByteBuffer.wrap(b.toByteArray()));
                    l.add(ByteBuffer.wrap(b.negate().toByteArray()));
                }
        }
        else if (type == DecimalType.instance)
        {
            l.add(bytes(""));
            for (String s : new String[]{ "0", "0.0", "0.00", "0E+5", "1", "1.0", "1.00", "-1", "-1.0", "10", "1E+1", "100", "1E+2", "0.1", "0.01", "0.10", "-0.1", "-0.01",
                                          "99", "99.9", "99.99", "100.01", "123.456", "-123.456", "12345678901234567890", "0.00000000012345", "1E+100", "1E-100", "-1E+100", "-1E-100",
                                          "9.99E+300", "1E+2147483647", "1E-2147483647", "-1E+2147483647", "-1E-2147483647", "1E+127", "1E+128", "1E+255", "1E+256", "1E-127", "1E-128", "1E-129", "1E+32767", "1E+65536" })
                l.add(DecimalType.instance.decompose(new BigDecimal(s)));
            for (String s : new String[]{ "00000000", "0000000000", "000000020000", "800000007f", "7fffffff01", "80000000ff", "7fffffffff" })
                l.add(bytes(s));
        }
        else if (type instanceof CollectionType)
        {
            CollectionType<?> c = (CollectionType<?>) type;
            l.add(bytes("00000000"));
            for (int n = 1; n <= 3; n++)
                l.add(collection(c, r, n));
            if (c instanceof ListType)
            {
                AbstractType<?> e = ((ListType<?>) c).getElementsType();
                ByteBuffer x = random(e, r);
                l.add(CollectionSerializer.pack(List.of(x, x), 2));
                if (edges(e, r).stream().anyMatch(b -> !b.hasRemaining()))
                {
                    l.add(CollectionSerializer.pack(List.of(bytes("")), 1));
                    l.add(CollectionSerializer.pack(List.of(bytes(""), x), 2));
                    l.add(CollectionSerializer.pack(List.of(x, bytes("")), 2));
                }
            }
        }
        else if (type instanceof TupleType)
        {
            TupleType t = (TupleType) type;
            l.add(bytes(""));
            for (int mask = 0; mask < 1 << t.size(); mask++)
            {
                ByteBuffer[] parts = new ByteBuffer[t.size()];
                for (int i = 0; i < parts.length; i++)
                    parts[i] = (mask & 1 << i) != 0 ? random(t.type(i).unwrap(), r) : null;
                l.add(TupleType.buildValue(parts));
            }
            for (int n = 1; n < t.size(); n++) // shorter values are legal: trailing components are missing
            {
                ByteBuffer[] parts = new ByteBuffer[n];
                for (int i = 0; i < n; i++)
                    parts[i] = random(t.type(i).unwrap(), r);
                l.add(TupleType.buildValue(parts));
            }
        }
        return l;
    }

    static ByteBuffer random(AbstractType<?> type, Random r)
    {
        if (type == EmptyType.instance)
            return bytes("");
        if (type == AsciiType.instance)
            return text(r, 128, r.nextInt(12));
        if (type == UTF8Type.instance)
        {
            StringBuilder b = new StringBuilder();
            for (int i = r.nextInt(10); i > 0; i--)
                b.appendCodePoint(r.nextInt(4) == 0 ? 0xe000 + r.nextInt(0x2000) : r.nextInt(6) == 0 ? 0x10000 + r.nextInt(0xfffff) : r.nextInt(0x800));
            return ByteBuffer.wrap(b.toString().getBytes(StandardCharsets.UTF_8));
        }
        if (type == BytesType.instance)
        {
            byte[] b = new byte[r.nextInt(12)];
            r.nextBytes(b);
            for (int i = 0; i < b.length; i++)
                if (r.nextInt(3) == 0)
                    b[i] = (byte) (r.nextInt(4) - 2);
            return ByteBuffer.wrap(b);
        }
        if (type == BooleanType.instance)
            return bytes(r.nextBoolean() ? "01" : "00");
        if (type == InetAddressType.instance)
            return fixed(r, r.nextBoolean() ? 4 : 16);
        if (type == TimeType.instance)
            return ByteBuffer.allocate(8).putLong(0, (r.nextLong() >>> 1) % 86_400_000_000_000L);
        if (type == IntegerType.instance)
            return ByteBuffer.wrap(new BigInteger(1 + r.nextInt(r.nextInt(5) == 0 ? 400 : 90), r).subtract(new BigInteger(40, r)).toByteArray());
        if (type == DecimalType.instance)
            return DecimalType.instance.decompose(new BigDecimal(new BigInteger(1 + r.nextInt(90), r).subtract(new BigInteger(40, r)), r.nextInt(60) - 30));
        if (type == TimeUUIDType.instance || type == UUIDType.instance || type == LexicalUUIDType.instance)
        {
            int version = type == TimeUUIDType.instance ? 1 : new int[]{ 1, 4, 4, 7 }[r.nextInt(4)];
            ByteBuffer b = fixed(r, 16);
            b.put(6, (byte) (b.get(6) & 0x0f | version << 4));
            b.put(8, (byte) (b.get(8) & 0x3f | 0x80));
            if (r.nextBoolean()) // near each other in time
                for (int i = 4; i < 8; i++)
                    b.put(i, new byte[]{ 0x12, 0x34, (byte) (version << 4 | 1), (byte) 0xee }[i - 4]);
            return b;
        }
        if (type instanceof CollectionType)
            return collection((CollectionType<?>) type, r, r.nextInt(4));
        if (type instanceof VectorType)
        {
            VectorType<?> v = (VectorType<?>) type;
            List<ByteBuffer> parts = new ArrayList<>();
            for (int i = 0; i < v.dimension; i++)
                parts.add(random(v.elementType.unwrap(), r));
            return v.decomposeRaw(parts);
        }
        if (type instanceof TupleType)
        {
            TupleType t = (TupleType) type;
            ByteBuffer[] parts = new ByteBuffer[r.nextInt(5) == 0 ? 1 + r.nextInt(t.size()) : t.size()];
            for (int i = 0; i < parts.length; i++)
                parts[i] = r.nextInt(6) == 0 ? null : random(t.type(i).unwrap(), r);
            return TupleType.buildValue(parts);
        }
        return fixed(r, type.valueLengthIfFixed() > 0 ? type.valueLengthIfFixed() : type instanceof ByteType ? 1 : type instanceof ShortType ? 2 : type instanceof SimpleDateType ? 4 : 8);
    }

    private static ByteBuffer collection(CollectionType<?> type, Random r, int n)
    {
        List<ByteBuffer> flat = new ArrayList<>();
        if (type instanceof ListType)
            for (int i = 0; i < n; i++)
                flat.add(random(((ListType<?>) type).getElementsType().unwrap(), r));
        else if (type instanceof SetType)
        {
            AbstractType<?> e = ((SetType<?>) type).getElementsType();
            TreeSet<ByteBuffer> sorted = new TreeSet<>(e);
            for (int i = 0; i < n; i++)
                sorted.add(random(e.unwrap(), r));
            flat.addAll(sorted);
        }
        else
        {
            MapType<?, ?> m = (MapType<?, ?>) type;
            TreeMap<ByteBuffer, ByteBuffer> sorted = new TreeMap<>(m.getKeysType());
            for (int i = 0; i < n; i++)
                sorted.put(random(m.getKeysType().unwrap(), r), random(m.getValuesType().unwrap(), r));
            sorted.forEach((k, v) -> { flat.add(k); flat.add(v); });
            return CollectionSerializer.pack(flat, sorted.size());
        }
        return CollectionSerializer.pack(flat, flat.size());
    }

    private static void integers(List<ByteBuffer> l, int width)
    {
        Set<Long> seen = new TreeSet<>();
        for (int bits = 0; bits < width * 8; bits++)
        {
            if (bits % 7 != 0 && bits % 7 != 6 && bits % 8 != 7) // where the variable-length and the plain form change length
                continue;
            for (int d = -1; d <= 1; d++)
            {
                seen.add((1L << bits) + d);
                seen.add(-(1L << bits) + d);
            }
        }
        Set<ByteBuffer> distinct = new LinkedHashSet<>();
        for (long v : seen)
        {
            ByteBuffer whole = ByteBuffer.allocate(8).putLong(0, v);
            whole.position(8 - width);
            distinct.add(whole.slice());
        }
        l.addAll(distinct);
    }

    private static void uuids(List<ByteBuffer> l, boolean timeOnly)
    {
        l.add(bytes(""));
        for (String s : new String[]{ "00000000000010008000000000000000", "ffffffffffff1fffbfffffffffffffff", "ffffffff000010008080808080808080",
                                      "00000001000010008080808080808080", "000000000001100080000000000000ff", "00000000000010018000000000000001",
                                      "137157a0c39511f0800000000000007f", "137157a0c39511f08000000000000080", "137157a0c39511f07f00000000000080",
                                      "137157a0c39511f08080808080808080", "137157a0c39511f07f7f7f7f7f7f7f7f", "137157a0c39511f000000000000000ff" })
            l.add(bytes(s));
        if (timeOnly)
            return;
        for (String s : new String[]{ "00000000000000000000000000000000", "ffffffffffffffffffffffffffffffff", "00112233445540008899aabbccddeeff",
                                      "f0112233445540008899aabbccddeeff", "00112233445570008899aabbccddeeff", "00112233445520008899aabbccddeeff",
                                      "00112233445530008899aabbccddeeff", "00112233445550008899aabbccddeeff", "00112233445560008899aabbccddeeff",
                                      "001122334455f0007899aabbccddeeff" })
            l.add(bytes(s));
    }

    private static ByteBuffer text(Random r, int bound, int length)
    {
        byte[] b = new byte[length];
        for (int i = 0; i < length; i++)
            b[i] = (byte) r.nextInt(bound);
        return ByteBuffer.wrap(b);
    }

    private static ByteBuffer fixed(Random r, int length)
    {
        byte[] b = new byte[length];
        r.nextBytes(b);
        return ByteBuffer.wrap(b);
    }

    static ByteBuffer bytes(String hex)
    {
        return ByteBufferUtil.hexToBytes(hex);
    }
}
