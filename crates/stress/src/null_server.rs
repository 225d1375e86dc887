//! A server that does nothing, on a thread of this program: it understands every request and answers
//! at once. It shows what the client alone costs (`selftest`), and lets tests decide what a server
//! answers. Knows no tables.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use basalt_model::env::SharedEnv;
use basalt_wire::Response;
use basalt_wire::connection::{ServerConnection, ServerEvent};
use basalt_wire::limits::Limits;
use basalt_wire::prelude::Prelude;
use basalt_wire::response::result::{PreparedMetadata, RowsMetadata};
use basalt_wire::response::{Prepared, QueryResult, Supported};
use bytes::{Buf, Bytes, BytesMut};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::LocalSet;

pub use basalt_wire::Request;

/// What a null server answers to each request.
pub type Script = Arc<dyn Fn(&Request) -> Reply + Send + Sync>;

/// What it does with a request.
pub enum Reply {
    /// Answers it.
    Send(Box<Response>),
    /// Nothing at all.
    Nothing,
    /// Ends the connection.
    HangUp,
}

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// A null server; it ends with this value.
pub struct NullServer {
    /// Where it listens.
    pub address: SocketAddr,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl NullServer {
    /// One that answers everything.
    ///
    /// # Errors
    /// As the operating system says.
    pub fn start(env: &SharedEnv) -> std::io::Result<NullServer> {
        NullServer::with_script(env, Arc::new(usual))
    }

    /// One that answers as `script` says.
    ///
    /// # Errors
    /// As the operating system says.
    pub fn with_script(env: &SharedEnv, script: Script) -> std::io::Result<NullServer> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let (stop, mut stopping) = watch::channel(false);
        let work = move || {
            let local = LocalSet::new();
            local.block_on(&runtime, async move {
                // A listener that the runtime does not take serves nobody: clients see that.
                if let Ok(listener) = TcpListener::from_std(listener) {
                    tokio::task::spawn_local(accept(listener, script));
                }
                // A sender that is gone says "stop", too.
                drop(stopping.wait_for(|is_stopping| *is_stopping).await);
            });
        };
        let thread = env.spawn_thread("null-server", Box::new(work))?;
        Ok(NullServer { address, stop, thread: Some(thread) })
    }
}

impl Drop for NullServer {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // A server that died is over all the same.
            drop(thread.join());
        }
    }
}

/// What it answers by itself: success, with nothing in it.
pub fn usual(request: &Request) -> Reply {
    Reply::Send(Box::new(match request {
        Request::Startup(_) | Request::Register(_) => Response::Ready,
        Request::Options => Response::Supported(Supported::of_server("3.4.7")),
        Request::Prepare(prepare) => {
            let id = Bytes::from(basalt_model::ids::statement_id(None, &prepare.query).to_vec());
            Response::Result(QueryResult::Prepared(Prepared {
                result_metadata_id: Some(id.clone()),
                id,
                metadata: PreparedMetadata { columns: Vec::new(), partition_key_indexes: Vec::new() },
                result_metadata: RowsMetadata::empty(),
            }))
        }
        _ => Response::Result(QueryResult::Void),
    }))
}

/// Accepts until the runtime ends.
async fn accept(listener: TcpListener, script: Script) {
    let mut number = 0;
    // A listener that fails serves nobody any more: clients see that.
    while let Ok((stream, _)) = listener.accept().await {
        number += 1;
        let script = Arc::clone(&script);
        // It ends with the client, or with the thread.
        tokio::task::spawn_local(async move { drop(serve(stream, number, &script).await) });
    }
}

async fn serve(stream: TcpStream, number: u32, script: &Script) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut machine = ServerConnection::new(number, Limits::default());
    let mut buffer = vec![0; READ_BYTES];
    loop {
        stream.readable().await?;
        match stream.try_read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(received) => machine.feed(&buffer[..received]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
            Err(error) => return Err(error),
        }
        while let Some(event) = machine.next_event() {
            let ServerEvent::Request(request) = event else { continue };
            match script(&request.request) {
                Reply::Send(response) => machine.respond(request.reply_to, &response, &Prelude::EMPTY),
                Reply::Nothing => {}
                Reply::HangUp => return Ok(()),
            }
        }
        write(&stream, machine.take_output()).await?;
        if machine.is_closing() {
            return Ok(());
        }
    }
}

async fn write(stream: &TcpStream, mut output: BytesMut) -> std::io::Result<()> {
    while !output.is_empty() {
        match stream.try_write(&output) {
            Ok(written) => output.advance(written),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => stream.writable().await?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
