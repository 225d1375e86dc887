//! A connection that waits for each answer: start-up, login, schema, preparing. Knows no plan.

use std::io::{Read, Write};
use std::net::SocketAddr;

use basalt_model::{Consistency, CqlError};
use basalt_wire::connection::{ClientConnection, RequestOptions, ResponseEnvelope};
use basalt_wire::request::{
    AuthResponse, EncodedExecute, EncodedValues, Prepare, Query, QueryParams, Startup,
};
use basalt_wire::response::{QueryResult, Rows};
use basalt_wire::{Opcode, ProtocolVersion, Request, Response};
use bytes::Bytes;

use super::stream::Stream;
use super::{Connection, Error, Options, PreparedId};
use crate::workload::Statement;

/// Rows of an answer: the values of the columns asked for, as the wire carries them.
pub type Table = Vec<Vec<Option<Bytes>>>;

/// The rows of an answer.
///
/// # Errors
/// When it has none, or they end too early.
pub fn table(answer: &QueryResult) -> Result<Table, Error> {
    let QueryResult::Rows(rows) = answer else { return Err(Error::Unexpected("SELECT")) };
    let columns = usize::try_from(rows.metadata.column_count).unwrap_or(0).max(1);
    let cells: Result<Vec<_>, _> = rows.cells().collect();
    Ok(cells?.chunks(columns).map(<[_]>::to_vec).collect())
}

/// A connection on which one request at a time is asked.
pub struct Session {
    address: SocketAddr,
    stream: Stream,
    protocol: ClientConnection,
    consistency: Consistency,
}

impl Session {
    /// Connects and logs in, with the version asked for or the highest the server speaks.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses.
    pub fn connect(address: SocketAddr, options: &Options) -> Result<Session, Error> {
        if let Some(version) = options.version {
            return Session::connect_with(address, version, options);
        }
        match Session::connect_with(address, ProtocolVersion::V5, options) {
            // A server that does not speak v5 says so, in its own version, or hangs up.
            Err(Error::Refused(CqlError::Protocol(_)) | Error::Protocol(_)) => {
                Session::connect_with(address, ProtocolVersion::V4, options)
            }
            connected => connected,
        }
    }

    fn connect_with(
        address: SocketAddr,
        version: ProtocolVersion,
        options: &Options,
    ) -> Result<Session, Error> {
        let io = |error| Error::Io(address, error);
        let stream = Stream::connect(address, options.tls.as_ref(), options.patience).map_err(io)?;
        let protocol = ClientConnection::new(version);
        let mut session = Session { address, stream, protocol, consistency: options.consistency };
        match session.call(&Request::Startup(Startup::new(options.compression)))? {
            Response::Ready => Ok(session),
            Response::Authenticate(asked) => {
                let (user, password) =
                    options.credentials.as_ref().ok_or(Error::LoginNeeded(asked.authenticator))?;
                session.log_in(user, password)?;
                Ok(session)
            }
            _ => Err(Error::Unexpected("STARTUP")),
        }
    }

    /// SASL PLAIN, as `PasswordAuthenticator` wants it.
    fn log_in(&mut self, user: &str, password: &str) -> Result<(), Error> {
        let token = Bytes::from(format!("\0{user}\0{password}"));
        match self.call(&Request::AuthResponse(AuthResponse { token }))? {
            Response::AuthSuccess(_) => Ok(()),
            _ => Err(Error::Unexpected("AUTH_RESPONSE")),
        }
    }

    /// The version spoken.
    pub fn version(&self) -> ProtocolVersion {
        self.protocol.version()
    }

    /// Sends one request and waits for its answer.
    ///
    /// # Errors
    /// When it is refused, or the connection fails.
    pub fn call(&mut self, request: &Request) -> Result<Response, Error> {
        self.protocol.send(0, request, &RequestOptions::default())?;
        let bytes = self.protocol.take_output();
        let io = |error| Error::Io(self.address, error);
        self.stream.write_all(&bytes).and_then(|()| self.stream.flush()).map_err(io)?;
        match self.receive()?.decode()? {
            Response::Error(error) => Err(Error::Refused(error)),
            response => Ok(response),
        }
    }

    fn receive(&mut self) -> Result<ResponseEnvelope, Error> {
        let io = |error| Error::Io(self.address, error);
        let mut buffer = [0; 16 * 1024];
        loop {
            if let Some(envelope) = self.protocol.next_response()? {
                return Ok(envelope);
            }
            match self.stream.read(&mut buffer).map_err(io)? {
                0 => return Err(io(std::io::ErrorKind::UnexpectedEof.into())),
                received => self.protocol.feed(&buffer[..received]),
            }
        }
    }

    /// Runs a statement given as text.
    ///
    /// # Errors
    /// When it is refused, or the connection fails.
    pub fn query(&mut self, text: &str) -> Result<QueryResult, Error> {
        let params = QueryParams::new(Consistency::One);
        match self.call(&Request::Query(Query { query: text.to_owned(), params }))? {
            Response::Result(result) => Ok(result),
            _ => Err(Error::Unexpected("QUERY")),
        }
    }

    /// Runs a statement given as text, for its rows.
    ///
    /// # Errors
    /// When it is refused or has none, or the connection fails.
    pub fn rows(&mut self, text: &str) -> Result<Table, Error> {
        table(&self.query(text)?)
    }

    /// Prepares a statement.
    ///
    /// # Errors
    /// When it is refused, or the connection fails.
    pub fn prepare(&mut self, text: &str) -> Result<PreparedId, Error> {
        let prepare = Prepare { query: text.to_owned(), keyspace: None };
        match self.call(&Request::Prepare(prepare))? {
            Response::Result(QueryResult::Prepared(prepared)) => Ok(prepared.into()),
            _ => Err(Error::Unexpected("PREPARE")),
        }
    }

    /// Executes prepared statements, all on their way at once, and gives the rows of each to `take`, in
    /// whatever order they come; `None` for one that was refused.
    ///
    /// # Errors
    /// When the connection fails.
    pub fn execute_all<'a>(
        &mut self,
        executes: impl Iterator<Item = (&'a PreparedId, EncodedValues<'a>)>,
        mut take: impl FnMut(usize, Option<Rows>),
    ) -> Result<(), Error> {
        let consistency = self.consistency;
        let mut count = 0;
        for ((prepared, values), stream) in executes.zip(0..) {
            let execute = EncodedExecute {
                id: &prepared.id,
                result_metadata_id: &prepared.metadata,
                consistency,
                page_size: None,
                values,
            };
            self.protocol.send_with(stream, Opcode::Execute, |version, out| execute.append(version, out));
            count += 1;
        }
        let bytes = self.protocol.take_output();
        let written = self.stream.write_all(&bytes).and_then(|()| self.stream.flush());
        written.map_err(|error| Error::Io(self.address, error))?;
        for _ in 0..count {
            let envelope = self.receive()?;
            let rows = match envelope.decode()? {
                Response::Result(QueryResult::Rows(rows)) => Some(rows),
                _ => None,
            };
            take(usize::try_from(envelope.stream).unwrap_or(usize::MAX), rows);
        }
        Ok(())
    }

    /// Prepares all statements.
    ///
    /// # Errors
    /// When one is refused, or the connection fails.
    pub fn prepare_all(mut self, statements: &[Statement]) -> Result<Prepared, Error> {
        let ids: Result<Vec<PreparedId>, Error> =
            statements.iter().map(|statement| self.prepare(&statement.text)).collect();
        Ok(Prepared { ids: ids?, session: self })
    }
}

/// A session whose statements are prepared.
pub struct Prepared {
    session: Session,
    ids: Vec<PreparedId>,
}

impl Prepared {
    /// The version spoken.
    pub fn version(&self) -> ProtocolVersion {
        self.session.version()
    }

    /// Its statements, in order.
    pub fn ids(&self) -> &[PreparedId] {
        &self.ids
    }

    /// Goes on as a connection that never waits.
    ///
    /// # Errors
    /// As the operating system says.
    pub fn into_connection(self) -> Result<Connection, Error> {
        let Session { address, stream, protocol, consistency } = self.session;
        let io = |error| Error::Io(address, error);
        stream.socket().set_nonblocking(true).map_err(io)?;
        Ok(Connection::new(stream, protocol, consistency, self.ids))
    }
}
