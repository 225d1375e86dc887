//! The bytes of a connection, as they are or through TLS. The socket waits while a session starts, and never after that.
//! Knows no protocol.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rustls::{ClientConnection, StreamOwned};

use super::Tls;

/// A socket, and what encrypts it.
pub enum Stream {
    /// Nothing does.
    Plain(TcpStream),
    /// TLS.
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    /// Connects; each step may take as long as `patience`.
    ///
    /// # Errors
    /// When nobody listens there. What is wrong with a certificate is seen with the first bytes.
    pub fn connect(address: SocketAddr, tls: Option<&Tls>, patience: Duration) -> io::Result<Stream> {
        let socket = TcpStream::connect_timeout(&address, patience)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(patience))?;
        socket.set_write_timeout(Some(patience))?;
        Ok(match tls {
            None => Stream::Plain(socket),
            Some(tls) => Stream::Tls(Box::new(StreamOwned::new(tls.begin(address)?, socket))),
        })
    }

    /// What the operating system knows of it.
    pub fn socket(&self) -> &TcpStream {
        match self {
            Stream::Plain(socket) => socket,
            Stream::Tls(stream) => stream.get_ref(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.read(buffer),
            Stream::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.write(bytes),
            Stream::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(_) => Ok(()),
            Stream::Tls(stream) => stream.flush(),
        }
    }
}
