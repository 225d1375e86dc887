//! Profiles with all that cassandra-stress documents of them, and with the types that it lacks.

use std::collections::{BTreeMap, HashMap, HashSet};

use basalt_model::DataType;
use basalt_model::types::UserType;

use super::kind::Kind;
use super::*;
use crate::distribution::Distribution;
use crate::workload::BatchKind;

/// One partition of many types, several partitions and a share of their rows in a logged batch.
const TYPES: &str = r"
keyspace: stresscql
keyspace_definition: |
  CREATE KEYSPACE stresscql WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
table: typestest
table_definition: |
  CREATE TABLE typestest (
        name text, choice boolean, date timestamp, address inet, dbl double,
        lval bigint, ival int, uid timeuuid, value blob,
        PRIMARY KEY((name,choice), date, address, dbl, lval, ival, uid)
  ) WITH compaction = { 'class':'LeveledCompactionStrategy' }
    AND comment='many types'
columnspec:
  - name: name
    size: uniform(1..10)
    population: uniform(1..1M)     # a comment
  - name: date
    cluster: uniform(20..40)
  - name: lval
    population: gaussian(1..1000)
    cluster: uniform(1..4)
insert:
  partitions: uniform(1..50)
  batchtype: LOGGED
  select: uniform(1..10)/10
queries:
   simple1:
      cql: select * from typestest where name = ? and choice = ? LIMIT 100
      fields: samerow
   range1:
      cql: select * from typestest where name = ? and choice = ? and date >= ? LIMIT 100
      fields: multirow
";

/// The staff and their activities of the documentation's walk-through, its misspelt name included.
const STAFF: &str = r"
spacenam: example
keyspace: example
keyspace_definition: |
  CREATE KEYSPACE example WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
table: staff_activities
table_definition: |
  CREATE TABLE staff_activities (name text, when timeuuid, what text, PRIMARY KEY(name, when))
columnspec:
  - name: name
    size: uniform(5..10)
    population: uniform(1..10)
  - name: when
    cluster: uniform(20..500)
  - name: what
    size: normal(10..100,50)
insert:
  partitions: fixed(1)
  select: fixed(1)/500
  batchtype: UNLOGGED
queries:
   events:
      cql: select *  from staff_activities where name = ?
      fields: samerow
   latest_event:
      cql: select * from staff_activities where name = ?  LIMIT 1
      fields: samerow
";

/// Posts written under a condition.
const POSTS: &str = r"
keyspace: blog
table: posts
table_definition: |
  CREATE TABLE posts (domain text, published timeuuid, url text, body text, PRIMARY KEY(domain, published))
    WITH CLUSTERING ORDER BY (published DESC)
columnspec:
  - {name: domain, size: gaussian(5..100), population: uniform(1..10M)}
  - {name: published, cluster: fixed(1000)}
  - {name: body, size: gaussian(100..5000)}
insert:
  partitions: fixed(1)
  select: fixed(1)/1000
  batchtype: UNLOGGED
  condition: IF body = NULL
queries:
  singlepost: {cql: 'select * from posts where domain = ? LIMIT 1', fields: samerow}
";

const COUNTERS: &str = r"
keyspace: stresscql
table: counttest
table_definition: CREATE TABLE counttest (name text PRIMARY KEY, count counter)
columnspec:
  - name: name
    size: uniform(1..4)
  - name: count
    population: fixed(1)
insert: {partitions: fixed(2), batchtype: LOGGED, select: fixed(1)/1}
queries:
  simple1: {cql: 'select * from counttest where name = ?', fields: samerow}
";

/// Every type, and collections, tuples, vectors and user types of them.
const EVERYTHING: &str = r#"
keyspace: Every
table: thing
extra_definitions:
  - CREATE TYPE address (street text, numbers frozen<list<int>>)
  - CREATE TYPE person (name text, home frozen<address>)
  - CREATE INDEX ON thing (i)
table_definition: |
  CREATE TABLE thing (
    id uuid, "Time" timeuuid, a ascii, b bigint, bl blob, bo boolean, d date, de decimal, do double, du duration,
    f float, ine inet, i int, s smallint, t text, ti time, ts timestamp, tiny tinyint, u uuid, vc varchar, v varint,
    l list<int>, se set<text>, m map<text, bigint>, fm frozen<map<int, frozen<set<date>>>>,
    tu tuple<int, text, frozen<list<uuid>>>, p person, fp frozen<person>, ve vector<float, 3>, vt vector<text, 2>,
    st text static, PRIMARY KEY (id, "Time"))
columnspec:
  - {name: time, cluster: fixed(3), population: seq(1..100)}
  - {name: m, size: fixed(2), population: uniform(1..50)}
insert: {row-population: fixed(50)/100}
queries:
  all: {cql: 'SELECT * FROM thing WHERE id = ? AND "Time" IN (?, ?) AND m[?] = ? AND se CONTAINS ? AND m CONTAINS KEY ? ALLOW FILTERING'}
  put: {cql: 'UPDATE thing SET m[?] = ?, l = l + ?, p = ?, tu = ? WHERE id = ? AND "Time" = ? IF i > ?', fields: samerow}
  add: {cql: 'INSERT INTO every.thing (id, "Time", fm, vt) VALUES (?, ?, ?, ?) USING TTL 60'}
  page: {cql: 'SELECT id FROM thing WHERE token(id) > token(?) AND ("Time") > (?) ALLOW FILTERING'}
  gone: {cql: 'DELETE FROM thing WHERE id = ? AND "Time" = ?', fields: samerow}
"#;

fn build_with(text: &str, ops: &str, records: u64) -> User {
    let (_, ops) = arguments(&["profile=x".to_owned(), format!("ops({ops})")]).expect(ops);
    let options = Options { records: Some(records), ..Options::default() };
    build(text, &ops, &options).unwrap_or_else(|error| panic!("{error}"))
}

fn split(operation: &Operation, part: usize) -> Vec<Option<Vec<u8>>> {
    let mut rest = operation.parts()[part].values.bytes();
    let mut split = Vec::new();
    while !rest.is_empty() {
        let length = usize::try_from(i32::from_be_bytes(rest[..4].try_into().expect("four bytes"))).ok();
        rest = &rest[4..];
        split.push(length.map(|length| rest[..length].to_vec()));
        rest = &rest[length.unwrap_or(0)..];
    }
    split
}

fn loaded(user: &User, record: u64) -> Operation {
    let mut operation = Operation::default();
    user.load(record, &mut operation);
    operation
}

fn made(user: &User, index: u64) -> Operation {
    let mut operation = Operation::default();
    user.next(index, &mut Random::at(1, index), &mut operation);
    operation
}

#[test]
fn many_types_in_logged_batches_of_some_rows_of_some_partitions() {
    let user = build_with(TYPES, "insert=1,simple1=8,range1=1", 1000);
    assert_eq!(user.schema[0], "CREATE KEYSPACE IF NOT EXISTS stresscql WITH replication = {'class': 'SimpleStrategy', 'replication_factor': '1'}".replace("'1'", "1"));
    assert!(
        user.schema[1]
            .starts_with("CREATE TABLE IF NOT EXISTS stresscql.typestest (name text, choice boolean,")
    );
    assert_eq!(
        user.statements[0].text,
        "UPDATE stresscql.typestest SET value = ? WHERE name = ? AND choice = ? AND date = ? AND address = ? AND dbl = ? AND lval = ? AND ival = ? AND uid = ?"
    );
    let (mut partitions, mut rows) = (0, 0);
    for record in 0..50 {
        let operation = loaded(&user, record);
        let keys: HashSet<_> =
            (0..operation.parts().len()).map(|part| split(&operation, part)[1..3].to_vec()).collect();
        assert!((1..=50).contains(&keys.len()), "{}", keys.len());
        assert_eq!(operation.batch, (operation.parts().len() > 1).then_some(BatchKind::Logged));
        partitions += keys.len();
        rows += operation.parts().len();
        let lengths: Vec<usize> = split(&operation, 0).iter().flatten().map(Vec::len).collect();
        assert!((4..=8).contains(&lengths[0]) && (1..=10).contains(&lengths[1]));
        assert_eq!(lengths[2..], [1, 8, 4, 8, 8, 4, 16]);
    }
    // 25.5 partitions an insert, 30 times 2.5 rows each, 0.55 of them selected.
    let per_partition = rows as f64 / partitions as f64;
    assert!((20.0..31.0).contains(&(partitions as f64 / 50.0)), "{partitions}");
    assert!((38.0..44.0).contains(&per_partition), "{per_partition}");
}

#[test]
fn queries_ask_for_what_inserts_have_written() {
    let user = build_with(TYPES, "simple1=1,range1=1", 50);
    let mut written: HashMap<Vec<_>, HashSet<Option<Vec<u8>>>> = HashMap::new();
    for record in 0..50 {
        let operation = loaded(&user, record);
        for part in 0..operation.parts().len() {
            let values = split(&operation, part);
            written.entry(values[1..3].to_vec()).or_default().insert(values[3].clone());
        }
    }
    let mut found = 0;
    for index in 0..500 {
        let operation = made(&user, index);
        let values = split(&operation, 0);
        let dates = written.get(&values[..2]).expect("a partition that was written");
        found += usize::from(values.len() == 3 && dates.contains(&values[2]));
    }
    // A row of the partition; half of the rows were selected.
    assert!((120..=250).contains(&found), "{found} of 250");
}

#[test]
fn one_event_of_a_few_staff_at_a_time() {
    let user = build_with(STAFF, "insert=1, latest_event=1,events=1", 1000);
    assert_eq!(user.kinds(), ["insert", "latest_event", "events"]);
    let mut names = HashSet::new();
    let mut parts = 0;
    for record in 0..1000 {
        let operation = loaded(&user, record);
        parts += operation.parts().len();
        let values = split(&operation, 0);
        let (what, name) = (values[0].as_ref().expect("what"), values[1].as_ref().expect("a name"));
        assert!((5..=10).contains(&name.len()) && (10..=100).contains(&what.len()));
        names.insert(name.clone());
    }
    assert_eq!(names.len(), 10);
    assert!((1000..1400).contains(&parts), "{parts}: one of up to 500 rows, rarely two");
    assert_eq!(user.statements[1].text, "SELECT * FROM example.staff_activities WHERE name = ? LIMIT 1");
}

#[test]
fn conditions_and_counters() {
    let user = build_with(POSTS, "insert=1", 10);
    assert!(user.statements[0].text.ends_with("WHERE domain = ? AND published = ? IF body = NULL"));
    let user = build_with(COUNTERS, "insert=1,simple1=1", 10);
    assert_eq!(user.statements[0].text, "UPDATE stresscql.counttest SET count = count + ? WHERE name = ?");
    let operation = loaded(&user, 0);
    assert_eq!((operation.batch, operation.parts().len()), (Some(BatchKind::Counter), 2));
    assert_eq!(split(&operation, 0)[0].as_deref(), Some(&1_i64.to_be_bytes()[..]));
}

fn types_of_everything() -> BTreeMap<&'static str, DataType> {
    use DataType as T;
    let list = |element| T::List { element: std::sync::Arc::new(element), frozen: true };
    let set = |element| T::Set { element: std::sync::Arc::new(element), frozen: true };
    let map = |key, value| T::Map {
        key: std::sync::Arc::new(key),
        value: std::sync::Arc::new(value),
        frozen: true,
    };
    let vector = |element, dimension| T::Vector { element: std::sync::Arc::new(element), dimension };
    let udt = |name: &str, fields: Vec<(&str, DataType)>| {
        let fields = fields.into_iter().map(|(name, data_type)| (name.into(), data_type)).collect();
        let definition = UserType { keyspace: "every".into(), name: name.into(), fields };
        T::Udt { definition: std::sync::Arc::new(definition), frozen: true }
    };
    let address = udt("address", vec![("street", T::Text), ("numbers", list(T::Int))]);
    let person = udt("person", vec![("name", T::Text), ("home", address)]);
    let types = vec![
        ("id", T::Uuid),
        ("Time", T::TimeUuid),
        ("a", T::Ascii),
        ("b", T::BigInt),
        ("bl", T::Blob),
        ("bo", T::Boolean),
        ("d", T::Date),
        ("de", T::Decimal),
        ("do", T::Double),
        ("du", T::Duration),
        ("f", T::Float),
        ("ine", T::Inet),
        ("i", T::Int),
        ("s", T::SmallInt),
        ("t", T::Text),
        ("ti", T::Time),
        ("ts", T::Timestamp),
        ("tiny", T::TinyInt),
        ("u", T::Uuid),
        ("vc", T::Text),
        ("v", T::Varint),
        ("l", list(T::Int)),
        ("se", set(T::Text)),
        ("m", map(T::Text, T::BigInt)),
        ("fm", map(T::Int, set(T::Date))),
        ("tu", T::Tuple([T::Int, T::Text, list(T::Uuid)].into())),
        ("p", person.clone()),
        ("fp", person),
        ("ve", vector(T::Float, 3)),
        ("vt", vector(T::Text, 2)),
        ("st", T::Text),
    ];
    types.into_iter().collect()
}

#[test]
fn values_of_every_type_are_valid() {
    let user = build_with(EVERYTHING, "insert=1", 100);
    let types = types_of_everything();
    for record in 0..50 {
        for place in 0..user.table.columns.len() {
            let column = &user.table.columns[place];
            let mut rows = Rows::of(&user.table, record);
            rows.pick(&user.table, &mut Random::new(record));
            // Small numbers, negative ones, and those of the default population.
            for number in
                [rows.number(&user.table, place), record as i64, -(record as i64), i64::MIN, i64::MAX]
            {
                let mut out = bytes::BytesMut::new();
                column.kind.put(number, &column.spread, &mut out);
                let valid = types[&column.name[..]].validate(&out);
                assert!(valid.is_ok(), "{} {number}: {valid:?}", column.name);
            }
        }
    }
}

#[test]
fn everything_is_inserted_half_populated_and_asked_for() {
    let user = build_with(EVERYTHING, "insert=1,all=1,put=1,add=1,page=1,gone=1", 100);
    assert_eq!(user.schema.len(), 4);
    assert!(user.schema[0].starts_with("CREATE TYPE IF NOT EXISTS every.address"), "{}", user.schema[0]);
    assert!(user.schema[3].starts_with("CREATE INDEX IF NOT EXISTS ON every.thing"), "{}", user.schema[3]);
    let text = &user.statements[0].text;
    for set in [
        "l = l + ?",
        "se = se + ?",
        "m = m + ?",
        "fm = ?",
        "p = ?",
        "st = ?",
        "WHERE id = ? AND \"Time\" = ?",
    ] {
        assert!(text.contains(set), "{text}");
    }
    let (mut given, mut all) = (0, 0);
    for record in 0..100 {
        let operation = loaded(&user, record);
        assert_eq!(operation.parts().len(), 3);
        for part in 0..3 {
            let values = split(&operation, part);
            given += values.iter().filter(|value| value.is_some()).count() - 2;
            all += values.len() - 2;
        }
    }
    let share = given as f64 / all as f64;
    assert!((0.48..0.52).contains(&share), "{share}");
    for index in 0..600 {
        let operation = made(&user, index);
        for (place, part) in operation.parts().iter().enumerate() {
            let text = &user.statements[part.statement].text;
            assert_eq!(text.matches('?').count(), split(&operation, place).len(), "{text}");
        }
    }
}

#[test]
fn elements_asked_for_are_in_the_collections_written() {
    let user = build_with(EVERYTHING, "put=1", 100);
    let map = user.table.place("m").expect("a map");
    let column = &user.table.columns[map];
    for index in 0..20 {
        let values = split(&made(&user, index), 0);
        let key = values[0].clone().expect("a key");
        let entries: Vec<Vec<u8>> = (1..=50)
            .map(|number| {
                let mut out = bytes::BytesMut::new();
                column.kind.put(number, &column.spread, &mut out);
                out.to_vec()
            })
            .collect();
        let holds = |entry: &Vec<u8>| entry.windows(key.len()).any(|part| part == key);
        assert!(entries.iter().any(holds), "the key of some map of the population");
    }
}

#[test]
fn a_share_of_rows_is_drawn_by_leaps() {
    let user = build_with(POSTS, "insert=1", 10);
    let count = |chance: f64| {
        (0..300)
            .map(|seed| {
                let mut count = 0_u64;
                Rows::of(&user.table, seed)
                    .visit(&user.table, chance, &mut Random::new(seed), &mut |_| count += 1);
                count
            })
            .collect::<Vec<_>>()
    };
    assert!(count(1.0).iter().all(|&rows| rows == 1000));
    assert!(count(0.0).iter().all(|&rows| rows == 1), "at least one");
    let rows = count(0.1);
    let mean = rows.iter().sum::<u64>() as f64 / 300.0;
    let variance = rows.iter().map(|&rows| (rows as f64 - mean).powi(2)).sum::<f64>() / 300.0;
    // Binomial: 1,000 times 0.1, and 1,000 times 0.1 times 0.9.
    assert!((98.0..102.0).contains(&mean) && (70.0..112.0).contains(&variance), "{mean} {variance}");
}

#[test]
fn profiles_that_cannot_be_obeyed_are_refused() {
    let ops = vec![("insert".to_owned(), 1), ("simple1".to_owned(), 1)];
    let refuse = |text: &str, ops: &[(String, u64)]| {
        build(text, ops, &Options::default()).err().map(|error| error.to_string())
    };
    for (from, to, reason) in [
        (
            "spacenam: example",
            "",
            "simple1 is no query of the profile, which has insert, events, latest_event",
        ),
        ("keyspace: example\n", "keyspace: other\n", "keyspace is other, but the definition's is example"),
        ("table: staff_activities", "table: x", "table is x, but the definition's is staff_activities"),
        ("what text", "what", "table_definition: line 1:"),
        ("what text", "what address", "type address is not in extra_definitions"),
        ("name: what", "name: whatever", "there is no column whatever"),
        ("size: normal(10..100,50)", "size: normal(10..100M,50)", "may have more than 16777216 bytes"),
        ("uniform(20..500)", "uniform(20..500B)", "more than 100000000 rows"),
        ("uniform(20..500)", "uniform(20..500", "a bracket is not closed"),
        ("fixed(1)/500", "fixed(500)/500\n  row-population: 1", "a ratio is a distribution and a divisor"),
        ("partitions: fixed(1)", "partitions: fixed(1M)", "a batch has at most 65535"),
        ("partitions: fixed(1)", "visits: fixed(1)", "visits"),
        ("UNLOGGED", "COUNTER", "for tables with counters"),
        ("batchtype: UNLOGGED", "condition: LIMIT 1", "insert: condition"),
        ("fields: samerow", "fields: somerow", "somerow"),
    ] {
        assert!(STAFF.contains(from), "{from}");
        let error = refuse(&STAFF.replace(from, to), &ops).unwrap_or_else(|| panic!("{to} is accepted"));
        assert!(error.contains(reason), "{error}");
    }
    let limit = TYPES.replace("LIMIT 100\n      fields: samerow", "LIMIT ?\n      fields: samerow");
    assert!(
        refuse(&limit, &ops).is_some_and(|error| error.starts_with("query simple1: a marker must stand"))
    );
    let verify = Options { verify: true, ..Options::default() };
    assert!(build(TYPES, &ops, &verify).is_err());
}

#[test]
fn the_examples_of_the_documentation_are_some() {
    let page = include_str!("../../../../../docs/operations/stress.md");
    let profiles = page.split("```yaml\n").skip(1);
    let profiles: Vec<&str> = profiles.filter_map(|example| example.split("```").next()).collect();
    let [orders, kilobyte] = profiles[..] else { panic!("{profiles:?}") };
    let user = build_with(orders, "insert=1,recent=4", 100);
    assert!((0..100).all(|index| !made(&user, index).parts().is_empty()));
    // A key of 16 bytes and a value of 1,024, with their lengths.
    let user = build_with(kilobyte, "insert=1", 100);
    assert!((0..100).all(|index| made(&user, index).parts()[0].values.bytes().len() == 4 + 16 + 4 + 1024));
}

#[test]
fn words_are_read() {
    let read = |text: &str| arguments(&text.split(' ').map(String::from).collect::<Vec<_>>());
    let (file, ops) = read("profile=a/b.yaml ops(insert=1, Q2=0.5)").expect("words");
    assert_eq!((&file[..], ops), ("a/b.yaml", vec![("insert".to_owned(), 1000), ("q2".to_owned(), 500)]));
    for text in [
        "",
        "profile=x",
        "ops(insert=1)",
        "profile=x ops(insert)",
        "profile=x ops(insert=0)",
        "profile=x ops(insert=1",
        "profile=x ops(a=1,a=2)",
        "profile=x n=5 ops(insert=1)",
    ] {
        let error = read(text).err().unwrap_or_else(|| panic!("{text:?} is accepted")).to_string();
        assert!(error.contains("user profile=FILE.yaml ops(insert=1,QUERY=2)"), "{error}");
    }
}

#[test]
fn numbers_are_written_as_their_types_are() {
    let spread =
        super::kind::Spread { salt: 1, population: Distribution::fixed(3), size: Distribution::fixed(2) };
    for (text, number, expected) in [
        ("varint", 0, "00"),
        ("varint", 127, "7f"),
        ("varint", 128, "0080"),
        ("varint", -1, "ff"),
        ("varint", -128, "80"),
        ("varint", -129, "ff7f"),
        ("decimal", 150, "000000020096"),
        ("duration", 5, "0a0a0a"),
        ("duration", 100, "80c80e80c8"),
        ("date", 1, "80000001"),
        ("time", 86_400_000_000_001, "0000000000000001"),
        ("inet", 0x7f00_0001, "7f000001"),
        ("boolean", 3, "01"),
        ("double", 1, "3ff0000000000000"),
        ("timeuuid", 0, "138140001dd211b28080010000000001"),
        ("list<int>", 9, "0000000200000004000000030000000400000003"),
        ("map<tinyint, smallint>", 9, "0000000200000001030000000200030000000103000000020003"),
        ("tuple<tinyint, boolean>", 9, "00000001030000000101"),
        ("vector<int, 2>", 9, "0000000300000003"),
        ("vector<varint, 2>", 9, "01030103"),
    ] {
        let kind = Kind::of(&basalt_cql::parse_type(text).expect(text), &[]).expect(text);
        let mut out = bytes::BytesMut::new();
        kind.put(number, &spread, &mut out);
        let hex: String = out.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, expected, "{text} {number}");
    }
}

#[test]
fn kinds_know_how_large_they_get() {
    let kind = |text: &str| Kind::of(&basalt_cql::parse_type(text).expect(text), &[]).expect(text);
    let spread = |size: &str| super::kind::Spread {
        salt: 1,
        population: Distribution::uniform(1, 100),
        size: size.parse().expect(size),
    };
    for text in
        ["text", "list<frozen<list<text>>>", "map<int, varint>", "vector<text, 5>", "tuple<int, text>"]
    {
        let mut out = bytes::BytesMut::new();
        kind(text).put(1, &spread("fixed(20)"), &mut out);
        assert!(out.len() as u64 <= kind(text).bytes_max(20), "{text}: {}", out.len());
    }
    assert!(kind("list<frozen<list<frozen<list<text>>>>>").bytes_max(1000) > 1 << 30);
}
