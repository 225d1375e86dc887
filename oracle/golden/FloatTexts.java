import java.nio.file.Path;

/** Texts of floats and doubles: of all sizes, of few and many bits, at powers of two and ten. */
final class FloatTexts
{
    static void write(Path directory) throws Exception
    {
        try (Vectors v = new Vectors(directory, "float_texts.txt", 12, "float or double | bits | Float.toString or Double.toString"))
        {
            for (String text : new String[]{ "0", "-0.0", "1", "2", "10", "0.1", "0.001", "0.0001", "9999999", "1e7", "12345678", "123456789", "1e10", "1e21", "1e22", "1e23", "2e-3", "1e-3", "4.9e-324", "1.4e-45", "2.2250738585072014e-308",
                                             "1.7976931348623157e308", "3.4028235e38", "1.17549435e-38", "2e23", "8.41e21", "2.0e-3", "5.0e-324", "9.5e-45", "1.0e15", "NaN", "Infinity", "-Infinity", "16777216", "16777217", "33554432", "9007199254740992", "9007199254740993" })
            {
                of(v, Double.parseDouble(text));
                of(v, Float.parseFloat(text));
            }
            for (int e = -1074; e < 1024; e += 7)
                of(v, Math.scalb(1.0, e));
            for (int e = -149; e < 128; e += 2)
                of(v, Math.scalb(1.0f, e));
            for (int e = -300; e < 300; e += 11)
                of(v, Double.parseDouble("1e" + e));
            for (int i = 0; i < 200; i++)
            {
                of(v, Double.longBitsToDouble(v.random.nextLong()));
                of(v, Float.intBitsToFloat(v.random.nextInt()));
                of(v, v.random.nextInt(2_000_000_000) / (double) (1 << v.random.nextInt(31)));
                of(v, v.random.nextInt(2_000_000_000) / (float) (1 << v.random.nextInt(31)));
                of(v, (float) (v.random.nextDouble() * Math.pow(10, v.random.nextInt(12))));
                of(v, v.random.nextLong() * (v.random.nextBoolean() ? 1.0 : 1000.0));
                of(v, (float) v.random.nextLong());
            }
        }
    }

    private static void of(Vectors v, double number)
    {
        v.row("double", String.format("%016x", Double.doubleToRawLongBits(number)), Double.toString(number));
    }

    private static void of(Vectors v, float number)
    {
        v.row("float", String.format("%08x", Float.floatToRawIntBits(number)), Float.toString(number));
    }
}
