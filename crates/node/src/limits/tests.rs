//! What is taken is given back; what is over a limit is not taken.

use std::path::PathBuf;

use super::*;
use crate::config::Config;
use crate::config::container::Place;
use crate::config::settings::{Machine, Settings};

const ONE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 1));
const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 2));

fn limits(yaml: &str) -> Arc<NodeLimits> {
    let config = Config::parse("test", yaml).expect("legal");
    let machine = Machine { memory_bytes: 1 << 30, cores: 1 };
    let settings =
        Settings::from_config(config, Place::default(), machine, PathBuf::new()).expect("legal settings");
    Arc::new(NodeLimits::new(&settings.transport))
}

#[test]
fn connections_are_counted_in_all_and_by_address() {
    let node = limits(
        "native_transport_max_concurrent_connections: 3\nnative_transport_max_concurrent_connections_per_ip: 2\n",
    );
    let first = node.admit(ONE).expect("first");
    let _second = node.admit(ONE).expect("second");
    assert_eq!(node.admit(ONE).err(), Some(Refused::TooManyFromAddress));
    let _third = node.admit(OTHER).expect("another address");
    assert_eq!(node.admit(OTHER).err(), Some(Refused::TooMany));
    assert_eq!(node.refused.load(Ordering::Relaxed), 2);
    drop(first);
    assert_eq!(node.connections(), 2);
    node.admit(ONE).expect("room again");
}

#[test]
fn bytes_in_flight_are_bounded_per_address_and_in_all() {
    let node = limits(
        "native_transport_receive_queue_capacity: 100B\n\
         native_transport_max_request_data_in_flight_per_ip: 1000B\n\
         native_transport_max_request_data_in_flight: 1500B\n\
         native_transport_max_message_size: 1000B\n",
    );
    let mut one = node.admit(ONE).expect("admitted");
    let mut other = node.admit(OTHER).expect("admitted");
    one.begin(100, 0).expect("its own allowance");
    one.begin(1_000, 0).expect("all of its address");
    let over = one.begin(1, 0).expect_err("one more");
    assert_eq!(
        over.text(),
        "Request breached limit on bytes in flight. (Endpoint: 1000/1000 bytes, Global: 1000/1500 bytes.)\
         Server is currently in an overloaded state and cannot accept more requests."
    );
    other.begin(600, 0).expect("500 beyond its allowance");
    other.begin(1, 0).expect_err("the node is full");
    one.end(1_000);
    other.begin(900, 0).expect_err("its address is full");
    other.begin(400, 0).expect("within both");
    drop(other);
    drop(one);
    assert_eq!(node.in_flight.used(), 0);
}

#[test]
fn requests_a_second_are_bounded() {
    let node = limits(
        "native_transport_rate_limiting_enabled: true\nnative_transport_max_requests_per_second: 10\n",
    );
    let mut connection = node.admit(ONE).expect("admitted");
    let second = 1_000_000_000;
    let begun = (0..100).filter(|_| connection.begin(1, 5 * second).is_ok()).count();
    assert_eq!(begun, 10, "one second's worth");
    let over = connection.begin(1, 5 * second).expect_err("no more");
    assert!(over.text().contains("global limit of 10 requests/second"), "{}", over.text());
    connection.begin(1, 5 * second + second / 10).expect("a tenth of a second later");
    connection.begin(1, 5 * second + second / 10).expect_err("only one");
}
