import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

import org.apache.cassandra.utils.ByteBufferUtil;

/** What every vector family shares: one output file with a heading, hex, escaping, a seeded source of randomness. */
final class Vectors implements AutoCloseable
{
    /** How many records of each kind, 0 for as many as the repository keeps; and what is added to the families' seeds. */
    static int count;
    static long seed;

    final Random random;
    private final PrintWriter out;
    private long lines;

    /** Opens {@code directory/name} and writes its heading: where it is from, then one line per given line. */
    Vectors(Path directory, String name, long seed, String... heading) throws IOException
    {
        Files.createDirectories(directory);
        random = new Random(seed + Vectors.seed);
        out = new PrintWriter(Files.newBufferedWriter(directory.resolve(name), StandardCharsets.UTF_8));
        line("# recorded from Apache Cassandra 5.0.9 (see oracle/README.md); fields are separated by ' | '");
        for (String h : heading)
            line("# " + h);
    }

    /** How many of what is usually written so often. */
    static int count(int usual)
    {
        return count == 0 ? usual : count;
    }

    void line(String text)
    {
        out.print(text);
        out.print('\n');
        if (++lines % 10_000 == 0 && out.checkError())
            throw new IllegalStateException("what is written cannot be kept");
    }

    /** One record. A field must not contain the separator; use {@link #escape} for free text. */
    void row(Object... fields)
    {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < fields.length; i++)
        {
            if (i > 0)
                b.append(" | ");
            b.append(fields[i]);
        }
        line(b.toString());
    }

    /** Hex of the remaining bytes; {@code -} for empty, {@code null} for null. */
    static String hex(ByteBuffer bytes)
    {
        if (bytes == null)
            return "null";
        return bytes.hasRemaining() ? ByteBufferUtil.bytesToHex(bytes) : "-";
    }

    static String hex(byte[] bytes)
    {
        return hex(bytes == null ? null : ByteBuffer.wrap(bytes));
    }

    /** A type's class string without the package in front of each class, which the type parser also reads. */
    static String name(Object type)
    {
        return type.toString().replace("org.apache.cassandra.db.marshal.", "");
    }

    /** Free text on one line: backslash, newline, carriage return, tab and the bar are escaped (\\ \n \r \t \p). */
    static String escape(String text)
    {
        return text == null ? "null" : text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
                                           .replace("\t", "\\t").replace("|", "\\p");
    }

    byte[] bytes(int length)
    {
        byte[] b = new byte[length];
        random.nextBytes(b);
        return b;
    }

    @Override
    public void close()
    {
        if (out.checkError())
            throw new IllegalStateException("what was written was not kept");
        out.close();
    }
}
