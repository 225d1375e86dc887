import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

import org.apache.cassandra.cql3.CQL3Type;
import org.apache.cassandra.cql3.FieldIdentifier;
import org.apache.cassandra.cql3.functions.Function;
import org.apache.cassandra.cql3.functions.FunctionFactory;
import org.apache.cassandra.cql3.functions.NativeFunction;
import org.apache.cassandra.cql3.functions.NativeFunctions;
import org.apache.cassandra.db.marshal.*;
import org.apache.cassandra.utils.ByteBufferUtil;

/** Every native function: those that stand in the registry, and what each factory makes of arguments of every type. */
final class NativeFunctionList
{
    static void write(Path directory) throws Exception
    {
        try (Vectors v = new Vectors(directory, "functions.txt", 10,
            "function | scalar or aggregate | name | argument types, class strings between ';', or 'none' | type of the result",
            "factory | name(parameters)",
            "made | name of the factory | argument types | the function, or ! and the message (escaped)   (arguments are shown as their types)",
            "class strings leave out the package org.apache.cassandra.db.marshal.; names are without the keyspace system"))
        {
            TreeSet<String> functions = new TreeSet<>();
            for (NativeFunction function : NativeFunctions.instance.getFunctions())
                functions.add(String.join(" | ", "function", function.isAggregate() ? "aggregate" : "scalar", function.name().name,
                                          types(function.argTypes()), Vectors.name(function.returnType())));
            functions.forEach(v::line);
            TreeSet<String> factories = new TreeSet<>();
            TreeSet<String> made = new TreeSet<>();
            for (FunctionFactory factory : NativeFunctions.instance.getFactories())
            {
                factories.add("factory | " + factory.toString().replace("system.", ""));
                if (factory.name().name.equals("token")) // made for a table, whatever the arguments
                    continue;
                for (List<AbstractType<?>> arguments : arguments(factory.name().name))
                    made.add(made(factory, arguments));
            }
            factories.forEach(v::line);
            made.forEach(v::line);
        }
    }

    private static String made(FunctionFactory factory, List<AbstractType<?>> arguments)
    {
        String what;
        try
        {
            Function function = factory.getOrCreateFunction(arguments, null, "ks", "t");
            what = types(function.argTypes()) + " | " + Vectors.name(function.returnType());
        }
        catch (Exception | AssertionError e)
        {
            what = '!' + Vectors.escape(Vectors.name(e.getMessage()));
        }
        return String.join(" | ", "made", factory.name().name, types(arguments), what);
    }

    private static String types(List<AbstractType<?>> types)
    {
        List<String> names = new ArrayList<>();
        for (AbstractType<?> type : types)
            names.add(Vectors.name(type));
        return names.isEmpty() ? "none" : String.join(";", names);
    }

    /** Lists of arguments worth showing to a factory: every type alone, and what goes with it. */
    private static List<List<AbstractType<?>>> arguments(String name)
    {
        List<List<AbstractType<?>>> all = new ArrayList<>();
        all.add(List.of());
        if (name.startsWith("similarity_"))
        {
            for (AbstractType<?> left : vectors())
                for (AbstractType<?> right : vectors())
                    all.add(List.of(left, right));
            all.add(List.of(vectors().get(0)));
            return all;
        }
        for (AbstractType<?> type : types())
        {
            all.add(List.of(type));
            switch (name)
            {
                case "mask_replace":
                    all.add(List.of(type, type));
                    all.add(List.of(type, UTF8Type.instance));
                    break;
                case "mask_hash":
                    all.add(List.of(type, UTF8Type.instance));
                    all.add(List.of(UTF8Type.instance, type));
                    break;
                case "mask_inner":
                case "mask_outer":
                    all.add(List.of(type, Int32Type.instance, Int32Type.instance));
                    all.add(List.of(UTF8Type.instance, type, Int32Type.instance, UTF8Type.instance));
                    all.add(List.of(UTF8Type.instance, Int32Type.instance, Int32Type.instance, type));
                    break;
            }
        }
        return all;
    }

    private static List<AbstractType<?>> vectors()
    {
        return List.of(VectorType.getInstance(FloatType.instance, 2), VectorType.getInstance(FloatType.instance, 3),
                       VectorType.getInstance(DoubleType.instance, 2), ListType.getInstance(FloatType.instance, false),
                       ListType.getInstance(UTF8Type.instance, true), FloatType.instance);
    }

    private static List<AbstractType<?>> types()
    {
        List<AbstractType<?>> types = new ArrayList<>();
        for (CQL3Type.Native type : CQL3Type.Native.values())
            if (!types.contains(type.getType()))
                types.add(type.getType());
        for (AbstractType<?> element : new ArrayList<>(types))
            types.add(ListType.getInstance(element, true));
        for (AbstractType<?> element : List.of(Int32Type.instance, UTF8Type.instance, TimeUUIDType.instance))
        {
            types.add(ListType.getInstance(element, false));
            for (boolean multiCell : new boolean[]{ false, true })
            {
                types.add(SetType.getInstance(element, multiCell));
                types.add(MapType.getInstance(element, Int32Type.instance, multiCell));
            }
        }
        UserType pair = new UserType("ks", ByteBufferUtil.bytes("pair"), List.of(FieldIdentifier.forUnquoted("a"), FieldIdentifier.forUnquoted("b")),
                                     List.of(Int32Type.instance, UTF8Type.instance), true);
        types.add(pair);
        types.add(pair.freeze());
        types.add(new TupleType(List.of(Int32Type.instance, UTF8Type.instance)));
        types.addAll(vectors());
        return types;
    }
}
