import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.apache.cassandra.cql3.CQLFragmentParser;
import org.apache.cassandra.cql3.ColumnIdentifier;
import org.apache.cassandra.cql3.ColumnSpecification;
import org.apache.cassandra.cql3.CqlParser;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.Term;
import org.apache.cassandra.cql3.VariableSpecifications;
import org.apache.cassandra.db.marshal.*;

/** CQL constants to bytes (and the errors of those that do not fit), and bytes to CQL text. */
final class Literals
{
    private static final String[] NUMBERS = {
        "0", "1", "-1", "-0", "007", "127", "128", "-128", "-129", "255", "32767", "32768", "-32768", "-32769", "2147483647", "2147483648", "-2147483648", "-2147483649",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "123456789012345678901234567890",
        "1.5", "-1.5", "1.", "1.0", "1e10", "1E10", "1e-10", "-1.5e+3", "1.50", "0.00", "1e400", "1e-400", "3.4028236e38", "1e1000000", "NaN", "-NaN", "nan", "Infinity", "-Infinity", "infinity", "0.1" };
    private static final String[] STRINGS = {
        "''", "'a'", "'it''s'", "$$it's$$", "$$$$", "'\u00e9\u6f22\ud83d\ude00'", "'0'", "'1'", "' 1'", "'abc'", "'\n'", "'|'" };
    private static final String[] TIMES_OF_DAY = {
        "'00:00:00'", "'23:59:59'", "'23:59:59.999999999'", "'08:12:54'", "'08:12:54.1'", "'08:12:54.123'", "'08:12:54.123456'", "'08:12:54.1234567890'", "'24:00:00'", "'08:12'", "'8:1:2'", "'08:60:00'",
        "'08:12:60'", "'-01:00:00'", "0", "86399999999999", "86400000000000", "-1" };
    private static final String[] DATES = {
        "'1970-01-01'", "'2017-03-11'", "'2000-02-29'", "'1900-02-29'", "'1999-13-01'", "'1999-12-32'", "'0001-01-01'", "'0000-01-01'", "'-0001-01-01'", "'9999-12-31'", "'10000-01-01'", "'+10000-01-01'",
        "'5881580-07-11'", "'5881580-07-12'", "'-5877641-06-23'", "'-5877641-06-22'", "'2017-3-1'", "'20170311'", "'2017-03-11 '", "0", "2147483648", "4294967295", "4294967296", "-1", "'2147483648'", "'-1'", "1.5" };
    private static final String[] TIMESTAMPS = {
        "'2011-02-03'", "'2011-02-03+0000'", "'2011-02-03-05:00'", "'2011-02-03 04:05'", "'2011-02-03 04:05:06'", "'2011-02-03 04:05:06.7'", "'2011-02-03 04:05:06.78'", "'2011-02-03 04:05:06.789'",
        "'2011-02-03T04:05'", "'2011-02-03T04:05:06'", "'2011-02-03T04:05:06.789'", "'2011-02-03T04:05:06.789Z'", "'2011-02-03T04:05:06.789+01:30'", "'2011-02-03T04:05:06.789+0130'", "'2011-02-03T04:05:06.789+01'",
        "'2011-02-03 04:05+0000'", "'2011-02-03 04:05:06+0000'", "'2011-02-03 04:05:06.789+0000'", "'2011-02-03 04:05Z'", "'2011-02-03 04:05:06 UTC'", "'2011-02-03 04:05:06 GMT'", "'2011-02-03 04:05:06.789 EST'",
        "'2011-02-03T04:05:06.1234'", "'2011-02-03T04:05:06.123456Z'", "'2011-02-03T04:05:06.123456789Z'", "'0001-01-01T00:00:00Z'", "'9999-12-31T23:59:59.999Z'", "'10000-01-01T00:00:00Z'",
        "'2011-2-3'", "'2011-02-30'", "'2011-13-03'", "'2011-02-03 24:00'", "'1970-01-01 00:00:00.000+0000'", "'0'", "'-1'", "'1234567890123'", "'20110203'", "0", "-1", "1234567890123", "9223372036854775807", "9223372036854775808", "1.5", "''", "'x'" };
    private static final String[] DURATIONS = {
        "1y", "1mo", "1w", "1d", "1h", "1m", "1s", "1ms", "1us", "1\u00b5s", "1ns", "1y2mo3w4d5h6m7s8ms9us10ns", "-1y2mo", "89h4m48s", "1Y2MO", "12h30m", "0m", "0", "1", "PT0S", "P1Y", "P1Y2M3D", "P1Y2M3DT4H5M6S", "PT4H", "-P1Y2M", "P2W", "-P3W",
        "P0001-02-03T04:05:06", "-P0001-02-03T04:05:06", "P1Y2M3W", "1s1h", "1h1h", "1x", "P", "PT", "1.5h", "2147483647mo", "2147483648mo", "178956970y", "178956971y", "2147483647d", "2147483648d", "9223372036854775807ns", "9223372036854775808ns", "2562047h", "2562048h",
        "'1y'", "-1d", "P1DT-1S", "p1y", "1y1m", "1m1mo" };
    private static final String[] UUIDS = {
        "00000000-0000-0000-0000-000000000000", "550e8400-e29b-41d4-a716-446655440000", "550E8400-E29B-41D4-A716-446655440000", "137157a0-c395-11f0-8000-000000000000", "018f3c3c-0000-7000-8000-000000000000",
        "'550e8400-e29b-41d4-a716-446655440000'", "'137157a0-c395-11f0-8000-000000000000'", "550e8400-e29b-41d4-a716-44665544000", "'550e8400e29b41d4a716446655440000'", "'x'" };
    private static final String[] INETS = {
        "'127.0.0.1'", "'0.0.0.0'", "'255.255.255.255'", "'::'", "'::1'", "'2001:db8::1'", "'2001:0db8:0000:0000:0000:0000:0000:0001'", "'::ffff:127.0.0.1'", "'1.2.3'", "'256.0.0.1'", "'1.2.3.4.5'", "'fe80::1%0'", "'[::1]'", "''", "'1'", "'::g'" };
    private static final String[] BLOBS = { "0x", "0x00", "0xdeadBEEF", "0XFF", "0xf", "0xg", "'deadbeef'", "'0xdeadbeef'", "'xyz'", "1" };
    private static final String[] BOOLEANS = { "true", "false", "TRUE", "False", "'true'", "'false'", "'x'", "1" };
    private static final String[] COLLECTIONS = {
        "[]", "[1]", "[1, 2, 1]", "{}", "{1}", "{3, 1, 2, 1}", "{1: 2}", "{'b': 1, 'a': 2, 'c': 3}", "['a', 'b']", "{'b', 'a'}", "[null]", "{null}", "{1: null}", "{'a': null}", "[[1], [2]]", "[{1}, {3, 2}]", "['a', 1]", "(1, 'a')", "(1)", "(1, null)", "(null, null)", "(1, 'a', 2)",
        "('x', [1, 2], 1.5)", "((1, 0x00), '127.0.0.1')", "{a: 1, b: 'x', c: [1, 2]}", "{a: 1}", "{b: 'x'}", "{d: 1}", "{a: 'x'}", "{a: null}", "[1.0, 2.0, 3.0]", "[1, 2, 3]", "[1.0, 2.0]", "[1, 2]", "[1.5, null, 2]", "['a', 'bc']", "[[1.0, 2.0]]", "1", "'a'", "null", "{1: ['a', 'b'], -1: []}" };

    static void write(Path directory) throws Exception
    {
        try (Vectors v = new Vectors(directory, "literals.txt", 7,
            "term | CQL type | CQL text (escaped) | serialized bytes, or 'null', or ! and the message (escaped); a SyntaxException's with its class in front (its 'Failed parsing term: [...] reason: ...' wrapper is this harness's, not what a client sees)",
            "text | type | text (escaped) | AbstractType.fromString: bytes, or ! and the message (escaped)",
            "print | type | bytes | CQL3Type.toCQLLiteral (escaped) | AbstractType.getString (escaped)   (! for an exception)",
            "the receiver of terms is a column named v; types of text and print are class strings without the package org.apache.cassandra.db.marshal."))
        {
            for (AbstractType<?> number : List.of(ByteType.instance, ShortType.instance, Int32Type.instance, LongType.instance, IntegerType.instance, DecimalType.instance, FloatType.instance, DoubleType.instance))
            {
                terms(v, number, NUMBERS);
                terms(v, number, "'1'", "true", "0x01", "null", "1y");
            }
            terms(v, CounterColumnType.instance, "1", "-1", "1.5", "'1'");
            terms(v, AsciiType.instance, STRINGS);
            terms(v, UTF8Type.instance, STRINGS);
            terms(v, UTF8Type.instance, "1", "true", "0x61", "550e8400-e29b-41d4-a716-446655440000", "null", "1y");
            terms(v, TimeType.instance, TIMES_OF_DAY);
            terms(v, SimpleDateType.instance, DATES);
            terms(v, TimestampType.instance, TIMESTAMPS);
            terms(v, DurationType.instance, DURATIONS);
            terms(v, UUIDType.instance, UUIDS);
            terms(v, TimeUUIDType.instance, UUIDS);
            terms(v, InetAddressType.instance, INETS);
            terms(v, BytesType.instance, BLOBS);
            terms(v, BooleanType.instance, BOOLEANS);
            List<AbstractType<?>> composites = new ArrayList<>(Samples.composites());
            composites.add(ListType.getInstance(Int32Type.instance, true));
            composites.add(SetType.getInstance(Int32Type.instance, true));
            composites.add(MapType.getInstance(UTF8Type.instance, Int32Type.instance, true));
            for (AbstractType<?> type : composites)
                terms(v, type, COLLECTIONS);
            for (AbstractType<?> type : Samples.SCALARS)
                for (String text : new String[]{ "", "1", "-1", "x", "true", "1.5", "00", "0", "127.0.0.1", "2011-02-03", "04:05:06", "137157a0-c395-11f0-8000-000000000000" })
                    text(v, type, text);
            List<AbstractType<?>> printable = new ArrayList<>(Samples.SCALARS);
            printable.addAll(Samples.composites());
            for (AbstractType<?> type : printable)
            {
                List<ByteBuffer> values = Samples.of(type, v.random, 6);
                for (int i = 0; i < values.size(); i += Math.max(1, values.size() / 25))
                    if (type != DecimalType.instance || values.get(i).remaining() != 5 || Math.abs(values.get(i).getInt(values.get(i).position())) < 400) // not two thousand million digits
                        print(v, type, values.get(i));
            }
            for (String hex : new String[]{ "000000", "020406", "010000", "000001", "00000e", "1804f8c46535ff0001", "010305" })
                print(v, DurationType.instance, Samples.bytes(hex));
        }
    }

    private static void terms(Vectors v, AbstractType<?> type, String... texts)
    {
        for (String text : texts)
            v.row("term", cql(type), Vectors.escape(text), term(type, text));
    }

    private static String cql(AbstractType<?> type)
    {
        return type.asCQL3Type().toString();
    }

    private static String term(AbstractType<?> type, String text)
    {
        try
        {
            Term.Raw raw = CQLFragmentParser.parseAny(CqlParser::term, text, "term");
            Term term = raw.prepare("ks", new ColumnSpecification("ks", "t", new ColumnIdentifier("v", true), type));
            term.collectMarkerSpecification(VariableSpecifications.empty());
            return Vectors.hex(term.bindAndGet(QueryOptions.DEFAULT));
        }
        catch (org.apache.cassandra.exceptions.SyntaxException e)
        {
            return "!SyntaxException " + Vectors.escape(e.getMessage());
        }
        catch (org.apache.cassandra.exceptions.InvalidRequestException | org.apache.cassandra.serializers.MarshalException e)
        {
            return "!" + Vectors.escape(e.getMessage());
        }
        catch (Throwable t)
        {
            return "!throws " + t.getClass().getSimpleName();
        }
    }

    private static void text(Vectors v, AbstractType<?> type, String text)
    {
        String result;
        try
        {
            result = Vectors.hex(type.fromString(text));
        }
        catch (org.apache.cassandra.serializers.MarshalException e)
        {
            result = "!" + Vectors.escape(e.getMessage());
        }
        catch (Throwable t)
        {
            result = "!throws " + t.getClass().getSimpleName();
        }
        v.row("text", Vectors.name(type), Vectors.escape(text), result);
    }

    private static void print(Vectors v, AbstractType<?> type, ByteBuffer value)
    {
        String literal, string;
        try
        {
            literal = Vectors.escape(type.asCQL3Type().toCQLLiteral(value.duplicate()));
        }
        catch (Throwable t)
        {
            literal = "!throws " + t.getClass().getSimpleName();
        }
        try
        {
            string = Vectors.escape(type.getString(value.duplicate()));
        }
        catch (Throwable t)
        {
            string = "!throws " + t.getClass().getSimpleName();
        }
        if (literal.length() + string.length() < 3000)
            v.row("print", Vectors.name(type), Vectors.hex(value), literal, string);
    }
}
