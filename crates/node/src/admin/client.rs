//! Asking a node to do a command, and waiting for it: what `basalt nodetool` is made of.

use std::io;

use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::runtime;

use super::{Command, Failure, PATH};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Nobody listens there.
    #[error("{0}")]
    Unreachable(io::Error),
    /// The connection ended, or what came is none of our answers.
    #[error("{0}")]
    Broken(String),
    /// The node says no.
    #[error(transparent)]
    Failure(#[from] Failure),
}

fn broken(error: impl std::fmt::Display) -> CallError {
    CallError::Broken(error.to_string())
}

/// Has the node at `host` and `port` do a command. Waits as long as it takes.
///
/// # Errors
/// See [`CallError`].
pub fn call<C: Command>(host: &str, port: u16, request: &C::Request) -> Result<C::Answer, CallError> {
    let body = serde_json::to_vec(request).map_err(broken)?;
    let runtime =
        runtime::Builder::new_current_thread().enable_io().build().map_err(CallError::Unreachable)?;
    let (is_done, body) = runtime.block_on(exchange(host, port, C::NAME, body))?;
    if !is_done {
        return Err(serde_json::from_slice::<Failure>(&body).map_err(broken)?.into());
    }
    serde_json::from_slice(&body).map_err(broken)
}

async fn exchange(host: &str, port: u16, name: &str, body: Vec<u8>) -> Result<(bool, Bytes), CallError> {
    let stream = TcpStream::connect((host, port)).await.map_err(CallError::Unreachable)?;
    let address = stream.peer_addr().map_err(CallError::Unreachable)?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    let request = Request::post(format!("{PATH}{name}"))
        .header(HOST, address.to_string())
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body)))
        .map_err(broken)?;
    let answer = async {
        let answer = sender.send_request(request).await.map_err(broken)?;
        let is_done = answer.status().is_success();
        let body = answer.into_body().collect().await.map_err(broken)?;
        Ok((is_done, body.to_bytes()))
    };
    // The connection moves only while it is waited for; when it ends first, the answer says why.
    let (answer, _) = tokio::join!(answer, connection);
    answer
}
