import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import org.apache.cassandra.db.marshal.DecimalType;
import org.apache.cassandra.db.marshal.IntegerType;

/** Arithmetic, exponentials and logarithms of decimals and varints of many sizes, as the operators and functions compute them. */
final class DecimalMath
{
    private static final String[] DECIMALS = {
        "0", "0.00", "0E+5", "1", "1.0", "1.000", "-1", "2", "10", "10.0", "100", "1E+2", "1E+10", "1E-10", "0.1", "0.5", "-0.5", "3", "7", "-7", "9.99", "99999999999999999999", "0.3333333333333333333333333333333333333",
        "1.00000000000000000001", "0.99999999999999999999", "1.00000000000000000000000000000000000000000000001", "5E-32", "1E-40", "123456789.987654321", "-123456789.987654321", "1E+100", "1E-100", "-2.5E+30",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "92233720368547758.07", "1234567890123456789012345678901234567890.12345678901234567890" };

    static void write(Path directory) throws Exception
    {
        try (Vectors v = new Vectors(directory, "decimal_math.txt", 11,
            "decimal | operator | left | right | result, or ! and the message of the exception   (values as unscaled number, 'e', negated scale)",
            "function | exp, log or log10 | decimal | result",
            "varint | exp, log or log10 | varint | result"))
        {
            List<BigDecimal> samples = new ArrayList<>();
            for (String text : DECIMALS)
                samples.add(new BigDecimal(text));
            for (BigDecimal left : samples)
                for (int i = 0; i < 5; i++)
                    operators(v, left, samples.get(v.random.nextInt(samples.size())));
            for (int i = 0; i < 150; i++)
                operators(v, random(v, 120, 40), random(v, 120, 40));
            operators(v, new BigDecimal("1E+30000"), new BigDecimal("1"));
            operators(v, new BigDecimal("1E-30000"), new BigDecimal("-7"));
            for (BigDecimal sample : samples)
                functions(v, sample);
            for (int i = 0; i < 160; i++)
                functions(v, random(v, 1 + v.random.nextInt(130), 1 + v.random.nextInt(60)));
            for (String text : new String[]{ "-700", "700.5", "10000", "123456.789", "1E+9", "2147483647", "-2147483648", "2147483648", "1E+11", "1E-400", "3.7E-1000", "8E+1000000" })
                functions(v, new BigDecimal(text));
            for (String text : new String[]{ "0", "1", "2", "-1", "-5", "9", "10", "11", "99", "100", "101", "1000", "999999999999999999999", "1000000000000000000000", "123456789012345678901234567890" })
                varints(v, new BigInteger(text));
        }
    }

    private static BigDecimal random(Vectors v, int bits, int scale)
    {
        BigInteger unscaled = new BigInteger(bits, v.random);
        return new BigDecimal(v.random.nextBoolean() ? unscaled : unscaled.negate(), v.random.nextInt(scale * 2) - scale);
    }

    private static void operators(Vectors v, BigDecimal left, BigDecimal right)
    {
        DecimalType type = DecimalType.instance;
        decimal(v, left, "+", right, () -> type.add(left, right));
        decimal(v, left, "-", right, () -> type.substract(left, right));
        decimal(v, left, "*", right, () -> type.multiply(left, right));
        decimal(v, left, "/", right, () -> type.divide(left, right));
        decimal(v, left, "%", right, () -> type.mod(left, right));
    }

    private static void decimal(Vectors v, BigDecimal left, String operator, BigDecimal right, Supplier<ByteBuffer> result)
    {
        v.row("decimal", operator, text(left), text(right), computed(() -> text(DecimalType.instance.compose(result.get()))));
    }

    private static void functions(Vectors v, BigDecimal x)
    {
        DecimalType type = DecimalType.instance;
        v.row("function", "exp", text(x), computed(() -> text(type.compose(type.exp(x)))));
        // Cassandra's result for less than any double takes as many steps as it has digits before the point.
        if (x.signum() <= 0 || x.doubleValue() > 0)
        {
            // The first logarithms of a process are kept with more digits than later ones.
            computed(() -> text(type.compose(type.log10(x))));
            v.row("function", "log", text(x), computed(() -> text(type.compose(type.log(x)))));
            v.row("function", "log10", text(x), computed(() -> text(type.compose(type.log10(x)))));
        }
    }

    private static void varints(Vectors v, BigInteger x)
    {
        IntegerType type = IntegerType.instance;
        if (x.bitLength() < 16)
            v.row("varint", "exp", x, computed(() -> type.compose(type.exp(x))));
        v.row("varint", "log", x, computed(() -> type.compose(type.log(x))));
        v.row("varint", "log10", x, computed(() -> type.compose(type.log10(x))));
    }

    private static Object computed(Supplier<Object> result)
    {
        try
        {
            return result.get();
        }
        catch (ArithmeticException e)
        {
            return '!' + e.getMessage();
        }
    }

    private static String text(BigDecimal value)
    {
        return value.unscaledValue() + "e" + -(long) value.scale();
    }
}
