//! A client that waits for each answer, over the project's own codec. Knows nothing of what is asked.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use basalt_model::{Consistency, CqlError};
use basalt_wire::connection::{ClientConnection, RequestOptions};
use basalt_wire::request::{
    Batch, BatchKind, BatchStatement, BoundValues, Execute, Prepare, Query, QueryParams, Startup,
};
use basalt_wire::response::QueryResult;
use basalt_wire::{ProtocolVersion, Request, Response, Value};
use bytes::Bytes;

/// A node that has not answered by then hangs.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// One row of a result.
pub type Row = Vec<Option<Bytes>>;

/// Why there is no answer of use.
#[derive(Debug)]
pub enum CallError {
    /// The connection ended: the request may have been applied.
    Lost(String),
    /// The node did not answer in [`ANSWER_TIMEOUT`].
    Silent,
    /// The node refused.
    Refused(Box<CqlError>),
    /// The node broke the protocol.
    Broken(String),
}

/// A prepared statement.
#[derive(Clone, Debug)]
pub struct Statement {
    id: Bytes,
    result_metadata_id: Option<Bytes>,
}

impl Statement {
    /// The id that EXECUTE names.
    pub fn id(&self) -> &Bytes {
        &self.id
    }
}

/// A connection.
pub struct Client {
    stream: TcpStream,
    protocol: ClientConnection,
}

impl Client {
    /// Connects and starts up.
    ///
    /// # Errors
    /// When nobody listens or the node refuses.
    pub fn connect(address: SocketAddr, version: ProtocolVersion) -> Result<Client, CallError> {
        let lost = |error: std::io::Error| CallError::Lost(error.to_string());
        let stream = TcpStream::connect(address).map_err(lost)?;
        stream.set_nodelay(true).map_err(lost)?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT)).map_err(lost)?;
        let mut client = Client { stream, protocol: ClientConnection::new(version) };
        match client.call(&Request::Startup(Startup::new(None)))? {
            Response::Ready => Ok(client),
            other => Err(CallError::Broken(format!("{other:?} answers STARTUP"))),
        }
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn call(&mut self, request: &Request) -> Result<Response, CallError> {
        let broken = |error: &dyn std::fmt::Display| CallError::Broken(error.to_string());
        self.protocol.send(1, request, &RequestOptions::default()).map_err(|error| broken(&error))?;
        let bytes = self.protocol.take_output();
        self.stream.write_all(&bytes).map_err(|error| CallError::Lost(error.to_string()))?;
        let mut buffer = [0; 64 * 1024];
        loop {
            while let Some(envelope) = self.protocol.next_response().map_err(|error| broken(&error))? {
                match envelope.decode().map_err(|error| broken(&error))? {
                    Response::Event(_) => {}
                    _ if envelope.stream != 1 => return Err(broken(&"an answer to another request")),
                    Response::Error(error) => return Err(CallError::Refused(Box::new(error))),
                    response => return Ok(response),
                }
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(CallError::Lost("closed".to_owned())),
                Ok(received) => self.protocol.feed(&buffer[..received]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Err(CallError::Silent);
                }
                Err(error) => return Err(CallError::Lost(error.to_string())),
            }
        }
    }

    /// Runs a statement's text; all its rows, page after page.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn query(&mut self, text: &str) -> Result<Vec<Row>, CallError> {
        self.pages(|params| Request::Query(Query { query: text.to_owned(), params }), Vec::new())
    }

    /// Prepares a statement.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn prepare(&mut self, text: &str) -> Result<Statement, CallError> {
        match self.call(&Request::Prepare(Prepare { query: text.to_owned(), keyspace: None }))? {
            Response::Result(QueryResult::Prepared(prepared)) => {
                Ok(Statement { id: prepared.id, result_metadata_id: prepared.result_metadata_id })
            }
            other => Err(CallError::Broken(format!("{other:?} answers PREPARE"))),
        }
    }

    /// Runs a prepared statement; all its rows.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn execute(&mut self, statement: &Statement, values: Vec<Value>) -> Result<Vec<Row>, CallError> {
        let request = |params| {
            Request::Execute(Execute {
                id: statement.id.clone(),
                result_metadata_id: statement.result_metadata_id.clone(),
                params,
            })
        };
        self.pages(request, values)
    }

    /// Runs a logged batch of prepared statements.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn logged_batch(&mut self, statements: Vec<(&Statement, Vec<Value>)>) -> Result<(), CallError> {
        let prepared = |(statement, values): (&Statement, _)| BatchStatement::Prepared {
            id: statement.id.clone(),
            values,
        };
        let batch = Batch {
            kind: BatchKind::Logged,
            statements: statements.into_iter().map(prepared).collect(),
            params: QueryParams::new(Consistency::One),
        };
        self.call(&Request::Batch(batch)).map(drop)
    }

    fn pages(
        &mut self,
        request: impl Fn(QueryParams) -> Request,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, CallError> {
        let mut params = QueryParams::new(Consistency::One);
        params.values = BoundValues::positional(values);
        params.page_size = Some(1000);
        let mut rows = Vec::new();
        loop {
            let Response::Result(QueryResult::Rows(page)) = self.call(&request(params.clone()))? else {
                return Ok(rows);
            };
            let width = page.metadata.column_count.max(1) as usize;
            let mut row = Vec::with_capacity(width);
            for cell in page.cells() {
                row.push(cell.map_err(|error| CallError::Broken(error.to_string()))?);
                if row.len() == width {
                    rows.push(std::mem::take(&mut row));
                }
            }
            params.paging_state = page.metadata.paging_state;
            if params.paging_state.is_none() {
                return Ok(rows);
            }
        }
    }
}

/// Values as the protocol carries them.
pub mod values {
    use basalt_wire::Value;
    use bytes::{BufMut, Bytes, BytesMut};

    /// A `text`.
    pub fn text(value: &str) -> Value {
        Value::Bytes(Bytes::copy_from_slice(value.as_bytes()))
    }

    /// An `int`.
    pub fn int(value: i32) -> Value {
        Value::Bytes(Bytes::copy_from_slice(&value.to_be_bytes()))
    }

    /// A `list` or `set` of elements in their bytes.
    pub fn list<'a>(elements: impl IntoIterator<Item = &'a [u8]>) -> Value {
        let (mut body, mut count) = (BytesMut::new(), 0);
        for element in elements {
            count += 1;
            body.put_i32(element.len() as i32);
            body.put_slice(element);
        }
        counted(count, &body)
    }

    /// A `map<text, int>`.
    pub fn map<'a>(entries: impl IntoIterator<Item = (&'a String, &'a i32)>) -> Value {
        let (mut body, mut count) = (BytesMut::new(), 0);
        for (key, value) in entries {
            count += 1;
            body.put_i32(key.len() as i32);
            body.put_slice(key.as_bytes());
            body.put_i32(4);
            body.put_i32(*value);
        }
        counted(count, &body)
    }

    fn counted(count: i32, body: &[u8]) -> Value {
        let mut out = BytesMut::with_capacity(4 + body.len());
        out.put_i32(count);
        out.put_slice(body);
        Value::Bytes(out.freeze())
    }

    /// Reads a `text`.
    ///
    /// # Panics
    /// When it is not UTF-8.
    pub fn as_text(bytes: &[u8]) -> String {
        String::from_utf8(bytes.to_vec()).expect("a text")
    }

    /// Reads an `int`.
    ///
    /// # Panics
    /// When it is not 4 bytes.
    pub fn as_int(bytes: &[u8]) -> i32 {
        i32::from_be_bytes(bytes.try_into().expect("an int"))
    }

    /// Cuts a `list`, a `set`, or a `map` (keys and values in turn) into its elements.
    ///
    /// # Panics
    /// When it is none.
    pub fn elements(bytes: &[u8], per_entry: usize) -> Vec<Vec<u8>> {
        let (count, mut rest) = bytes.split_at(4);
        let mut elements = Vec::new();
        for _ in 0..as_int(count) as usize * per_entry {
            let (length, behind) = rest.split_at(4);
            let (element, behind) = behind.split_at(as_int(length) as usize);
            elements.push(element.to_vec());
            rest = behind;
        }
        assert!(rest.is_empty(), "bytes behind a collection");
        elements
    }
}
