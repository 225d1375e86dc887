//! A server of this process behind TLS: whom the client believes, and that runs and logins go through it.
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::thread::JoinHandle;

use basalt_wire::connection::{ServerConnection, ServerEvent};
use basalt_wire::limits::Limits;
use basalt_wire::prelude::Prelude;
use basalt_wire::response::{AuthSuccess, Authenticate};
use basalt_wire::{Request, Response};
use parking_lot::Mutex;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, StreamOwned};

use super::*;
use crate::client::{Options, Session};
use crate::null_server::{Reply, usual};

/// Certificates of a hundred years: `authority` vouches for `server` at 127.0.0.1, `another` for nobody.
fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/tls").join(name)
}

/// A server that asks for a login and serves clients, one after the other, until one of them says nothing.
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    logins: Arc<Mutex<Vec<Vec<u8>>>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    #[expect(clippy::disallowed_methods, reason = "a test's server")]
    pub fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let logins = Arc::<Mutex<Vec<Vec<u8>>>>::default();
        let its_logins = Arc::clone(&logins);
        let chain = CertificateDer::pem_file_iter(file("server.pem")).unwrap().map(Result::unwrap).collect();
        let key = PrivateKeyDer::from_pem_file(file("server.key")).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key);
        let config = Arc::new(config.unwrap());
        let accept = move || {
            loop {
                let (socket, _) = listener.accept().unwrap();
                if socket.peek(&mut [0]).unwrap_or(0) == 0 {
                    return;
                }
                let session = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
                // A client that does not believe the server ends the connection.
                drop(serve(StreamOwned::new(session, socket), &its_logins));
            }
        };
        let thread = Some(std::thread::spawn(accept));
        Server { address, logins, thread }
    }

    fn connect(&self, tls: Tls) -> Result<Session, crate::client::Error> {
        Session::connect(self.address, &options(tls))
    }
}

/// With a login.
pub fn options(tls: Tls) -> Options {
    let credentials = Some(("cassandra".to_owned(), "secret".to_owned()));
    Options { tls: Some(tls), credentials, ..Options::default() }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(TcpStream::connect(self.address));
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn serve(
    mut stream: StreamOwned<rustls::ServerConnection, TcpStream>,
    logins: &Mutex<Vec<Vec<u8>>>,
) -> io::Result<()> {
    let mut machine = ServerConnection::new(1, Limits::default());
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            received => machine.feed(&buffer[..received]),
        }
        while let Some(event) = machine.next_event() {
            let ServerEvent::Request(request) = event else { continue };
            let answer = match &request.request {
                Request::Startup(_) => Response::Authenticate(Authenticate {
                    authenticator: "org.apache.cassandra.auth.PasswordAuthenticator".to_owned(),
                }),
                Request::AuthResponse(login) => {
                    logins.lock().push(login.token.to_vec());
                    Response::AuthSuccess(AuthSuccess { token: None })
                }
                other => match usual(other) {
                    Reply::Send(answer) => *answer,
                    Reply::Nothing | Reply::HangUp => return Ok(()),
                },
            };
            machine.respond(request.reply_to, &answer, &Prelude::EMPTY);
        }
        stream.write_all(&machine.take_output())?;
        stream.flush()?;
    }
}

#[test]
fn a_server_with_the_authoritys_certificate_is_believed_and_logged_in_to() {
    let server = Server::start();
    let mut session = server.connect(Tls::trusting(&file("authority.pem")).unwrap()).unwrap();
    session.query("SELECT now() FROM system.local").unwrap();
    assert_eq!(*server.logins.lock(), [b"\0cassandra\0secret".to_vec()]);
}

#[test]
fn nothing_is_told_to_a_server_that_nobody_vouches_for() {
    let server = Server::start();
    let refusal = server.connect(Tls::trusting(&file("another.pem")).unwrap()).err().unwrap();
    assert!(refusal.to_string().contains("invalid peer certificate"), "{refusal}");
    let mut elsewhere = Tls::trusting(&file("authority.pem")).unwrap();
    elsewhere.name(server.address, "db.example");
    let refusal = server.connect(elsewhere).err().unwrap();
    assert!(refusal.to_string().contains("invalid peer certificate"), "{refusal}");
    assert_eq!(server.logins.lock().len(), 0);
    server.connect(Tls::trusting_anyone().unwrap()).unwrap();
    assert_eq!(server.logins.lock().len(), 1);
}

#[test]
fn a_file_without_certificates_is_refused() {
    for (name, told) in [("server.key", "no certificate in it"), ("missing.pem", "missing.pem: ")] {
        let refusal = Tls::trusting(&file(name)).unwrap_err();
        assert!(refusal.contains(told), "{refusal}");
    }
}
