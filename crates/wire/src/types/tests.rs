//! Options by hand; Cassandra's own are in `tests/frames/responses.hex` (`rows_all_types`).

use bytes::Bytes;

use super::*;

fn encode(data_type: &DataType, version: ProtocolVersion) -> BytesMut {
    let mut out = BytesMut::new();
    put_type(&mut out, data_type, version);
    out
}

fn custom(class: &str) -> BytesMut {
    let mut out = BytesMut::from(&[0, 0][..]);
    put_string(&mut out, &format!("org.apache.cassandra.db.marshal.{class}"));
    out
}

#[test]
fn younger_types_are_custom_to_older_clients() {
    let cases = [
        (DataType::Date, "SimpleDateType", 0x11, ProtocolVersion::V4),
        (DataType::Time, "TimeType", 0x12, ProtocolVersion::V4),
        (DataType::SmallInt, "ShortType", 0x13, ProtocolVersion::V4),
        (DataType::TinyInt, "ByteType", 0x14, ProtocolVersion::V4),
        (DataType::Duration, "DurationType", 0x15, ProtocolVersion::V5),
    ];
    for (data_type, class, id, since) in cases {
        for version in ProtocolVersion::SUPPORTED {
            let expected = if version < since { custom(class) } else { BytesMut::from(&[0, id][..]) };
            assert_eq!(encode(&data_type, version), expected, "{class} {version}");
            assert_eq!(read_type(&mut Reader::new(expected.freeze())), Ok(data_type.clone()));
        }
    }
}

#[test]
fn vectors_travel_by_class_name() {
    let vector = DataType::Vector { element: Arc::new(DataType::Float), dimension: 3 };
    let expected = custom("VectorType(org.apache.cassandra.db.marshal.FloatType , 3)");
    assert_eq!(encode(&vector, ProtocolVersion::V5), expected);
    assert_eq!(read_type(&mut Reader::new(expected.freeze())), Ok(vector));
    let unknown = custom("NobodyKnowsType");
    let read = read_type(&mut Reader::new(unknown.freeze())).unwrap();
    assert_eq!(read, DataType::Custom("org.apache.cassandra.db.marshal.NobodyKnowsType".into()));
}

#[test]
fn nested_types_round_trip() {
    let udt = UserType {
        keyspace: "ks".into(),
        name: "Address".into(),
        fields: vec![("street".into(), DataType::Text), ("no".into(), DataType::Int)],
    };
    let set = DataType::Set {
        element: Arc::new(DataType::Udt { definition: Arc::new(udt), frozen: false }),
        frozen: false,
    };
    let tuple = DataType::Tuple([DataType::Inet, set].into());
    let map = DataType::Map { key: Arc::new(DataType::Ascii), value: Arc::new(tuple), frozen: false };
    let list = DataType::List { element: Arc::new(map), frozen: false };
    let bytes = encode(&list, ProtocolVersion::V3).freeze();
    assert_eq!(bytes[..8], [0, 0x20, 0, 0x21, 0, 1, 0, 0x31]);
    assert_eq!(read_type(&mut Reader::new(bytes.clone())), Ok(list));
    for len in 0..bytes.len() {
        assert!(read_type(&mut Reader::new(bytes.slice(..len))).is_err());
    }
}

#[test]
fn nesting_is_bounded() {
    let deep: Bytes = [0x00, 0x20].repeat(100_000).into();
    let error = read_type(&mut Reader::new(deep)).unwrap_err();
    assert_eq!(error.to_string(), "A type is nested too deeply");
    let unknown = read_type(&mut Reader::new(Bytes::from_static(&[0, 0x40]))).unwrap_err();
    assert_eq!(unknown.to_string(), "Unknown option id 64");
}
