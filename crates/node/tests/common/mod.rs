//! A server over hand-made parts, and a small client that speaks to it through `basalt-wire`.
#![allow(dead_code, reason = "every test file uses its own part")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use basalt_coordinator::{Coordinator, Counters, OnApplied, Replica, ReplicaError, Reply};
use basalt_cql::ast::Statement;
use basalt_model::command::ReadPage;
use basalt_model::env::SharedEnv;
use basalt_model::{Consistency, CounterId, CqlError, Deadline, Mutation, ReadCommand, Schema, TableId};
use basalt_node::auth::{AllowAll, Authenticator};
use basalt_node::clients::Clients;
use basalt_node::config::Config;
use basalt_node::config::container::Place;
use basalt_node::config::settings::{Machine, Settings};
use basalt_node::env::SystemEnv;
use basalt_node::listener;
use basalt_node::metrics::recorders;
use basalt_node::node::{Server, Service};
use basalt_query::access::LocalFuture;
use basalt_query::request::{ClientState, QueryOptions};
use basalt_query::result::{Outcome, StatementResult};
use basalt_query::{QueryProcessor, SchemaAccess};
use basalt_wire::compression::Compression;
use basalt_wire::connection::{ClientConnection, RequestOptions, ResponseEnvelope};
use basalt_wire::request::{Query, QueryParams, Startup};
use basalt_wire::{ProtocolVersion, Request, Response};
use tokio::sync::{Notify, oneshot};

/// What statements that are not over data do: `DROP KEYSPACE` with these names.
pub struct Statements {
    /// `DROP KEYSPACE wait` waits for this.
    pub go: Arc<Notify>,
}

impl SchemaAccess for Statements {
    fn current(&self) -> Arc<Schema> {
        Arc::new(Schema::default())
    }

    fn run<'a>(
        &'a self,
        statement: &'a Statement,
        _keyspace: Option<&'a str>,
        _options: &'a QueryOptions,
        _client: &'a ClientState,
    ) -> LocalFuture<'a, Result<Outcome, CqlError>> {
        let text = format!("{statement:?}");
        Box::pin(async move {
            assert!(!text.contains("panic"), "asked to panic");
            if text.contains("wait") {
                self.go.notified().await;
            }
            Ok(Outcome { result: StatementResult::Void, warnings: vec!["a warning".to_owned()] })
        })
    }

    fn read_virtual(&self, _command: &ReadCommand) -> Result<ReadPage, CqlError> {
        Err(CqlError::server("no tables here"))
    }
}

/// A replica that keeps nothing.
pub struct NoReplica;

impl Replica for NoReplica {
    fn apply(&self, _mutations: Vec<Mutation>, _deadline: Deadline) -> Reply<()> {
        Reply::ready(Err(ReplicaError::Closed))
    }

    fn read(&self, _command: ReadCommand, _deadline: Deadline) -> Reply<ReadPage> {
        let (_gone, receiver) = oneshot::channel();
        Reply::Pending(receiver)
    }

    fn apply_then(&self, _: Vec<Mutation>, _: Deadline, _: OnApplied) -> Reply<()> {
        Reply::ready(Err(ReplicaError::Closed))
    }

    fn truncate(&self, _table: TableId, _deadline: Deadline, _: OnApplied) -> Reply<()> {
        Reply::ready(Err(ReplicaError::Closed))
    }
}

/// A server and the strings to pull on it.
pub struct Running {
    /// The server; taken to drain it.
    pub server: Option<Server>,
    /// Who is connected.
    pub clients: Arc<Clients>,
    /// See [`Statements`].
    pub go: Arc<Notify>,
    /// Where to connect.
    pub address: SocketAddr,
}

/// Settings with this YAML over a free loopback port.
pub fn settings(yaml: &str) -> Settings {
    let yaml = format!("native_transport_port: 0\n{yaml}");
    let config = Config::parse("test", &yaml).expect("legal configuration");
    let machine = Machine { memory_bytes: 256 << 20, cores: 2 };
    Settings::from_config(config, Place::default(), machine, PathBuf::new()).expect("legal settings")
}

/// A running server with this YAML.
pub fn start(yaml: &str) -> Running {
    start_with(yaml, Arc::new(AllowAll))
}

/// A running server that lets in whom this lets in.
pub fn start_with(yaml: &str, authenticator: Arc<dyn Authenticator>) -> Running {
    let settings = settings(yaml);
    let env: SharedEnv = Arc::new(SystemEnv::new());
    let go = Arc::new(Notify::new());
    let schema: Arc<dyn SchemaAccess> = Arc::new(Statements { go: Arc::clone(&go) });
    let counters = Counters::new(Arc::clone(&env), CounterId([1; 16]), 0);
    let coordinator = Coordinator::new(Arc::new(NoReplica), "datacenter1".into(), counters);
    let processor =
        Arc::new(QueryProcessor::new(Arc::clone(&env), schema, coordinator, settings.query.clone()));
    let clients = Arc::new(Clients::default());
    let recorders = recorders(settings.reactors);
    let service = Service { processor, clients: Arc::clone(&clients), authenticator, recorders };
    let bound = listener::bind(settings.listen, true).expect("a free port");
    let server = Server::start(&settings, &env, service, bound).expect("started");
    let address = server.address;
    Running { server: Some(server), clients, go, address }
}

impl Running {
    /// Waits until a connection has begun so many requests, STARTUP included.
    pub fn wait_for_requests(&self, count: i64) {
        while !self.clients.views().iter().any(|view| view.request_count == count) {
            std::thread::yield_now();
        }
    }

    /// Ends the server; every connection ends with it.
    pub fn drain(mut self) {
        self.server.take().expect("drained once").drain();
    }
}

/// A connection from the client's end.
pub struct Client {
    /// The socket.
    pub stream: TcpStream,
    machine: ClientConnection,
    next_stream: i16,
}

impl Client {
    /// Connects, no more.
    pub fn raw(address: SocketAddr, version: ProtocolVersion) -> Client {
        let stream = TcpStream::connect(address).expect("accepted");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
        stream.set_nodelay(true).expect("no delay");
        Client { stream, machine: ClientConnection::new(version), next_stream: 0 }
    }

    /// Connects and starts up.
    pub fn ready(address: SocketAddr, version: ProtocolVersion, compression: Option<Compression>) -> Client {
        let mut client = Client::raw(address, version);
        let answer = client.call(Request::Startup(Startup::new(compression)));
        assert_eq!(answer.decode(), Ok(Response::Ready));
        client
    }

    /// Sends a request; its stream.
    pub fn send(&mut self, request: &Request) -> i16 {
        self.send_all(&[request])[0]
    }

    /// Sends several requests at once; their streams.
    pub fn send_all(&mut self, requests: &[&Request]) -> Vec<i16> {
        let mut streams = Vec::new();
        for request in requests {
            self.machine.send(self.next_stream, request, &RequestOptions::default()).expect("encodes");
            streams.push(self.next_stream);
            self.next_stream += 1;
        }
        let bytes = self.machine.take_output();
        self.stream.write_all(&bytes).expect("sent");
        streams
    }

    /// The next response; `None` when the server closed.
    pub fn receive(&mut self) -> Option<ResponseEnvelope> {
        loop {
            if let Some(response) = self.machine.next_response().expect("a response") {
                return Some(response);
            }
            let mut bytes = [0; 4096];
            match self.stream.read(&mut bytes) {
                Ok(0) => return None,
                Ok(read) => self.machine.feed(&bytes[..read]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("no answer: {error}"),
            }
        }
    }

    /// Sends a request and gives its answer.
    pub fn call(&mut self, request: Request) -> ResponseEnvelope {
        let stream = self.send(&request);
        let answer = self.receive().expect("an answer");
        assert_eq!(answer.stream, stream);
        answer
    }

    /// The same with a trace.
    pub fn call_traced(&mut self, request: &Request) -> ResponseEnvelope {
        let options = RequestOptions { tracing: true, ..RequestOptions::default() };
        self.machine.send(self.next_stream, request, &options).expect("encodes");
        self.next_stream += 1;
        let bytes = self.machine.take_output();
        self.stream.write_all(&bytes).expect("sent");
        self.receive().expect("an answer")
    }

    /// Whether the server closes without another word.
    pub fn is_closed(&mut self) -> bool {
        self.receive().is_none()
    }
}

/// QUERY at ONE.
pub fn query(text: &str) -> Request {
    Request::Query(Query { query: text.to_owned(), params: QueryParams::new(Consistency::One) })
}

/// The error in an answer.
pub fn error_of(answer: &ResponseEnvelope) -> CqlError {
    match answer.decode().expect("decodes") {
        Response::Error(error) => error,
        other => panic!("not an error: {other:?}"),
    }
}
