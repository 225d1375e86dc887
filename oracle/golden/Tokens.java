import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import org.apache.cassandra.db.marshal.ByteBufferAccessor;
import org.apache.cassandra.db.marshal.CompositeType;
import org.apache.cassandra.dht.Murmur3Partitioner;

/** Tokens of partition keys, single and composite. */
final class Tokens
{
    static void write(Path directory) throws Exception
    {
        try (Vectors v = new Vectors(directory, "tokens.txt", 1,
                                     "key | serialized partition key | Murmur3Partitioner token",
                                     "composite | component,component,... | serialized partition key (CompositeType) | token"))
        {
            for (String s : new String[]{ "", "a", "ab", "abc", "HostA/AgentX/ServletB/AverageResponseTime",
                                          "0123456789abcdef", "0123456789abcdef0", "\u00e9\u00df\u6f22\ud83d\ude00" })
                key(v, s.getBytes(StandardCharsets.UTF_8));
            for (int length = 1; length <= 70; length++)
                for (int i = 0; i < 6; i++)
                    key(v, v.bytes(length));
            for (int length : new int[]{ 100, 127, 128, 129, 255, 256, 1000 })
                key(v, v.bytes(length));
            for (int length = 1; length <= 48; length++) // every tail length with the sign bit set everywhere
            {
                byte[] high = v.bytes(length);
                for (int i = 0; i < length; i++)
                    high[i] |= (byte) 0x80;
                key(v, high);
            }
            for (int b : new int[]{ 0x00, 0x7f, 0x80, 0xff })
                for (int length = 1; length <= 33; length++)
                {
                    byte[] same = new byte[length];
                    java.util.Arrays.fill(same, (byte) b);
                    key(v, same);
                }
            for (int i = 0; i < Vectors.count; i++)
                key(v, v.bytes(v.random.nextInt(80)));
            for (int i = 0; i < Vectors.count(200); i++)
            {
                ByteBuffer[] parts = new ByteBuffer[2 + v.random.nextInt(4)];
                StringBuilder text = new StringBuilder();
                for (int p = 0; p < parts.length; p++)
                {
                    parts[p] = ByteBuffer.wrap(v.bytes(v.random.nextInt(3) == 0 ? v.random.nextInt(3) : v.random.nextInt(40)));
                    text.append(p == 0 ? "" : ",").append(Vectors.hex(parts[p]));
                }
                ByteBuffer key = CompositeType.build(ByteBufferAccessor.instance, parts);
                v.row("composite", text, Vectors.hex(key), Murmur3Partitioner.instance.getToken(key));
            }
        }
    }

    private static void key(Vectors v, byte[] key)
    {
        v.row("key", Vectors.hex(key), Murmur3Partitioner.instance.getToken(ByteBuffer.wrap(key)));
    }
}
