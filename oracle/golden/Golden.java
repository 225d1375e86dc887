import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

import org.apache.cassandra.config.DatabaseDescriptor;

/** Writes every vector family, or those named: {@code Golden DIRECTORY [--count N] [--seed S] [family...]}. */
public final class Golden
{
    private interface Family
    {
        void write(Path directory) throws Exception;
    }

    public static void main(String[] args) throws Exception
    {
        DatabaseDescriptor.toolInitialization();
        Path directory = Path.of(args[0]);
        Set<String> wanted = new HashSet<>();
        for (int i = 1; i < args.length; i++)
        {
            if (args[i].equals("--count"))
                Vectors.count = Integer.parseInt(args[++i]);
            else if (args[i].equals("--seed"))
                Vectors.seed = Long.parseLong(args[++i]);
            else
                wanted.add(args[i]);
        }
        run(wanted, "tokens", directory, Tokens::write);
        run(wanted, "byte_comparable", directory, ByteComparables::write);
        run(wanted, "compare", directory, Comparisons::write);
        run(wanted, "validate", directory, Validations::write);
        run(wanted, "class_names", directory, ClassNames::write);
        run(wanted, "statement_ids", directory, StatementIds::write);
        run(wanted, "reconcile", directory, Reconciles::write);
        run(wanted, "counters", directory, Counters::write);
        run(wanted, "partitions", directory, Partitions::write);
        run(wanted, "literals", directory, Literals::write);
        run(wanted, "float_texts", directory, FloatTexts::write);
        run(wanted, "decimal_math", directory, DecimalMath::write);
        run(wanted, "functions", directory, NativeFunctionList::write);
        System.exit(0);
    }

    private static void run(Set<String> wanted, String name, Path directory, Family family) throws Exception
    {
        if (wanted.isEmpty() || wanted.contains(name))
            family.write(directory);
    }
}
