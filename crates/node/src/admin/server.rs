//! HTTP/1.1 for operators: `POST /v1/COMMAND` with JSON in and out, on a thread of its own; each command runs on one
//! more, so that a compaction of hours keeps nobody waiting. `GET /metrics` is answered at once. Knows no command.
//!
//! Nobody is asked for a password. What a browser can be made to send without asking the user first is refused: a
//! request must say that it brings JSON, must come from no page, and must name this machine by an address.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue, ORIGIN};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::{runtime, time};

use super::commands::handler;
use super::{Admin, Failure, METRICS_PATH, PATH};
use crate::exposition::{self, Exposition};
use crate::listener::Bound;

/// Connections at a time; further ones wait in the kernel.
const CONNECTIONS_MAX: usize = 64;
/// Commands at a time; further ones are refused.
const COMMANDS_MAX: usize = 16;
/// Bytes of a request's body.
const BODY_BYTES_MAX: usize = 1 << 20;
/// Bytes of a request's head.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// A request arrives in this time.
const ARRIVAL: Duration = Duration::from_secs(10);

/// What the connections share.
struct Shared {
    admin: Admin,
    exposition: Exposition,
    /// Threads of commands, some of which may have ended.
    commands: Mutex<Vec<JoinHandle<()>>>,
}

/// The listener and the commands it has begun.
pub struct AdminServer {
    /// Where it listens.
    pub address: SocketAddr,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    listener: Option<JoinHandle<()>>,
}

impl AdminServer {
    /// Listens.
    ///
    /// # Errors
    /// No thread, or the port went to somebody else meanwhile.
    pub(crate) fn start(admin: Admin, exposition: Exposition, bound: Bound) -> io::Result<AdminServer> {
        let address = bound.address;
        let env = Arc::clone(&admin.env);
        let shared = Arc::new(Shared { admin, exposition, commands: Mutex::default() });
        let runtime = runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let listener = {
            let _entered = runtime.enter();
            bound.listen()?
        };
        let (stop, stopping) = watch::channel(false);
        let for_thread = Arc::clone(&shared);
        let work = move || runtime.block_on(accept(listener, for_thread, stopping));
        let thread = env.spawn_thread("admin", Box::new(work))?;
        Ok(AdminServer { address, shared, stop, listener: Some(thread) })
    }

    /// Takes no more commands.
    pub fn stop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.listener.take()
            && thread.join().is_err()
        {
            tracing::error!("the admin listener's thread died");
        }
    }

    /// Waits for the commands that run. The engine must be closed: that ends those that would last.
    pub fn join(mut self) {
        self.stop();
        for thread in std::mem::take(&mut *self.shared.commands.lock()) {
            if thread.join().is_err() {
                tracing::error!("a command's thread died");
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "not a reactor: a timer for each operator costs nothing")]
async fn accept(listener: TcpListener, shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let tasks = tokio::task::LocalSet::new();
    let accepting = async {
        loop {
            let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let shared = Arc::clone(&shared);
                    tasks.spawn_local(async move {
                        serve(stream, shared).await;
                        drop(permit);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection of nodetool could not be accepted");
                    time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    };
    tokio::select! {
        () = tasks.run_until(accepting) => {}
        // A sender that is gone says "stop", too.
        _ = stop.wait_for(|is_stopping| *is_stopping) => {}
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(answer(request, &shared).await) }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(ARRIVAL)
        .max_buf_size(HEAD_BYTES_MAX)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection of nodetool ended early");
    }
}

type Answer = Response<Full<Bytes>>;

#[expect(clippy::disallowed_methods, reason = "not a reactor: a timer for each operator costs nothing")]
async fn answer(request: Request<Incoming>, shared: &Arc<Shared>) -> Answer {
    if let Err(why) = check_sender(&request) {
        return refusal(StatusCode::FORBIDDEN, why);
    }
    if request.method() == Method::GET && request.uri().path() == METRICS_PATH {
        return body(StatusCode::OK, exposition::CONTENT_TYPE, shared.exposition.page());
    }
    if let Err((status, why)) = check_command(&request) {
        return refusal(status, why);
    }
    let name = request.uri().path().strip_prefix(PATH).unwrap_or_default().to_owned();
    let Some(handler) = handler(&name) else {
        return refusal(StatusCode::NOT_FOUND, &format!("Found unexpected parameters: [{name}]"));
    };
    let body = Limited::new(request.into_body(), BODY_BYTES_MAX).collect();
    let body = match time::timeout(ARRIVAL, body).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) => return refusal(StatusCode::BAD_REQUEST, &error.to_string()),
        Err(_) => return refusal(StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time"),
    };
    let (sender, receiver) = oneshot::channel();
    let for_thread = Arc::clone(shared);
    // Who asked may be gone: the command goes on, as in Cassandra.
    let work = move || drop(sender.send(handler(&for_thread.admin, &body)));
    {
        let mut commands = shared.commands.lock();
        commands.retain(|thread| !thread.is_finished());
        if commands.len() >= COMMANDS_MAX {
            return refusal(StatusCode::SERVICE_UNAVAILABLE, "too many commands are running");
        }
        match shared.admin.env.spawn_thread(&format!("admin-{name}"), Box::new(work)) {
            Ok(thread) => commands.push(thread),
            Err(error) => return refusal(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
        }
    }
    match receiver.await {
        Ok(Ok(json)) => json_answer(StatusCode::OK, json),
        Ok(Err(failure)) => failed(StatusCode::BAD_REQUEST, &failure),
        Err(_) => refusal(StatusCode::INTERNAL_SERVER_ERROR, "the command's thread died"),
    }
}

/// A page that a name was rebound for, or any other, is not an operator.
fn check_sender(request: &Request<Incoming>) -> Result<(), &'static str> {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    if request.headers().contains_key(ORIGIN) || !host.is_some_and(is_address) {
        return Err("the Host of a request is an address, and no page sends it");
    }
    Ok(())
}

fn check_command(request: &Request<Incoming>) -> Result<(), (StatusCode, &'static str)> {
    if request.method() != Method::POST {
        return Err((StatusCode::METHOD_NOT_ALLOWED, "commands are POSTed"));
    }
    let is_json =
        request.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes() == b"application/json");
    if !is_json {
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "a command's body is application/json"));
    }
    Ok(())
}

fn is_address(host: &str) -> bool {
    host.parse::<SocketAddr>().is_ok() || host.parse::<IpAddr>().is_ok()
}

fn body(status: StatusCode, kind: &'static str, bytes: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(bytes));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

fn json_answer(status: StatusCode, json: Vec<u8>) -> Answer {
    body(status, "application/json", Bytes::from(json))
}

fn failed(status: StatusCode, failure: &Failure) -> Answer {
    json_answer(status, serde_json::to_vec(failure).expect("two texts are JSON"))
}

fn refusal(status: StatusCode, why: &str) -> Answer {
    failed(status, &Failure::BadUse(why.to_owned()))
}
