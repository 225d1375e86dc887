import java.nio.file.Path;
import java.util.List;

import org.apache.cassandra.cql3.FieldIdentifier;
import org.apache.cassandra.db.marshal.*;
import org.apache.cassandra.schema.CQLTypeParser;
import org.apache.cassandra.schema.Types;
import org.apache.cassandra.utils.ByteBufferUtil;

/** Type names: CQL text as system_schema keeps it, Cassandra's class strings, and CQL text as Cassandra prints it. */
final class ClassNames
{
    static void write(Path directory) throws Exception
    {
        UserType address = new UserType("ks", ByteBufferUtil.bytes("address"),
            List.of(FieldIdentifier.forUnquoted("street"), FieldIdentifier.forUnquoted("zip"), FieldIdentifier.forUnquoted("phones")),
            List.of(UTF8Type.instance, Int32Type.instance, SetType.getInstance(UTF8Type.instance, false)), true);
        UserType odd = new UserType("ks", ByteBufferUtil.bytes("Odd Name"),
            List.of(FieldIdentifier.forQuoted("Mixed Case"), FieldIdentifier.forUnquoted("home")),
            List.of(BytesType.instance, address.freeze()), true);
        Types types = Types.of(address, odd);
        try (Vectors v = new Vectors(directory, "class_names.txt", 5,
            "parsed | CQL text (CQLTypeParser, as read from system_schema) | AbstractType.toString() | toString(ignoreFreezing) | asCQL3Type().toString() | multi-cell or single",
            "reparsed | class string | the same after TypeParser.parse",
            "error | CQL or class string | exception class | message (escaped)",
            "frozen | CQL text | freeze().toString() | freeze().asCQL3Type()",
            "reversed | CQL text | ReversedType.toString() | asCQL3Type()",
            "keyspace ks has: CREATE TYPE ks.address (street text, zip int, phones frozen<set<text>>); CREATE TYPE ks.\"Odd Name\" (\"Mixed Case\" blob, home frozen<address>)"))
        {
            for (String text : new String[]{
                "ascii", "bigint", "blob", "boolean", "counter", "date", "decimal", "double", "duration", "empty", "float", "inet", "int", "smallint", "text", "time", "timestamp",
                "timeuuid", "tinyint", "uuid", "varchar", "varint", "INT", "Text",
                "list<int>", "set<text>", "map<text, int>", "map<timeuuid,blob>", "list<varchar>",
                "frozen<list<int>>", "frozen<set<text>>", "frozen<map<text, int>>", "list<frozen<list<int>>>", "list<frozen<set<frozen<map<int, text>>>>>",
                "map<text, frozen<list<int>>>", "map<frozen<list<int>>, frozen<set<text>>>", "frozen<list<list<int>>>", "frozen<map<text, set<int>>>",
                "frozen<list<frozen<list<int>>>>",
                "tuple<int>", "tuple<int, text>", "frozen<tuple<int, text>>", "tuple<int, tuple<text, double>>", "tuple<int, list<text>>", "tuple<frozen<list<int>>, frozen<set<text>>, map<int, int>>",
                "list<frozen<tuple<int, text>>>", "list<tuple<int, text>>", "set<tuple<int, text>>",
                "address", "frozen<address>", "\"Odd Name\"", "frozen<\"Odd Name\">", "list<frozen<address>>", "map<text, frozen<address>>", "frozen<list<address>>", "tuple<int, address>",
                "tuple<int, frozen<address>>", "set<frozen<\"Odd Name\">>",
                "vector<float, 3>", "vector<int, 1>", "vector<text, 2>", "vector<vector<float, 2>, 2>", "vector<frozen<list<int>>, 2>", "list<frozen<vector<float, 2>>>", "list<vector<float, 2>>", "frozen<vector<float, 2>>",
                "vector<tuple<int, text>, 2>", "vector<list<int>, 2>", "vector<address, 2>", "map<text, vector<float, 3>>", "tuple<vector<float, 3>, int>",
                "'org.apache.cassandra.db.marshal.DateType'", "'org.apache.cassandra.db.marshal.Int32Type'", "'org.apache.cassandra.db.marshal.LexicalUUIDType'", "'CompositeType(Int32Type,UTF8Type)'",
                "'org.apache.cassandra.db.marshal.DynamicCompositeType(a=>org.apache.cassandra.db.marshal.AsciiType,b=>org.apache.cassandra.db.marshal.BytesType)'",
                "list<'org.apache.cassandra.db.marshal.DateType'>",
                "nosuch", "frozen<int>", "list<nosuch>", "vector<float, 0>", "vector<float, -1>", "vector<float>", "list<>", "list<int", "tuple<>", "map<int>", "list<counter>", "", "'NoSuchType'", "list<list<int>>", "set<duration>", "map<duration, int>" })
                parsed(v, types, text);
            for (String s : new String[]{ "Int32Type", "ListType(Int32Type)", "ReversedType(Int32Type)", "FrozenType(ListType(Int32Type))", "CompositeType(Int32Type,ReversedType(UTF8Type))",
                                          "MapType(UTF8Type, Int32Type)", "TupleType(Int32Type,UTF8Type)", "VectorType(FloatType, 3)", "UserType(ks,61,62:Int32Type)", "FrozenType(UserType(ks,61,62:ListType(Int32Type)))",
                                          "org.apache.cassandra.db.marshal.ReversedType(org.apache.cassandra.db.marshal.FrozenType(org.apache.cassandra.db.marshal.SetType(org.apache.cassandra.db.marshal.UTF8Type)))",
                                          "Nothing", "ListType(", "ListType()", "UserType(ks)", "" })
                reparsed(v, s);
        }
    }

    private static void parsed(Vectors v, Types types, String text)
    {
        try
        {
            AbstractType<?> type = CQLTypeParser.parse("ks", text, types);
            v.row("parsed", text, type, type.toString(true), type.asCQL3Type(), type.isMultiCell() ? "multi-cell" : "single");
            reparsed(v, type.toString());
            v.row("frozen", text, type.freeze(), type.freeze().asCQL3Type());
            AbstractType<?> reversed = ReversedType.getInstance(type.freeze());
            v.row("reversed", text, reversed, reversed.asCQL3Type());
            reparsed(v, reversed.toString());
        }
        catch (Throwable t)
        {
            v.row("error", text, t.getClass().getSimpleName(), Vectors.escape(t.getMessage()));
        }
    }

    private static void reparsed(Vectors v, String text)
    {
        try
        {
            v.row("reparsed", text, TypeParser.parse(text));
        }
        catch (Throwable t)
        {
            v.row("error", text, t.getClass().getSimpleName(), Vectors.escape(t.getMessage()));
        }
    }
}
