//! One page over HTTP/1.1, within a length and a time.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::Request;
use hyper::header::HOST;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Bytes of a page at most.
const PAGE_MAX: usize = 32 * 1024 * 1024;

/// How long a page may take: less than the time between two looks.
const PATIENCE: Duration = Duration::from_millis(800);

/// An address of a page: `http://host:port/path`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    host: String,
    path: String,
}

impl Url {
    /// Reads one; without a path it is `/metrics`.
    ///
    /// # Errors
    /// When it is none that can be asked, in words for the user.
    pub fn parse(text: &str) -> Result<Url, String> {
        let wrong = || format!("{text:?} is no address of a page: write it as http://host:port/metrics");
        let rest = text.strip_prefix("http://").ok_or_else(wrong)?;
        let (host, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, "/metrics"),
        };
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if host.is_empty() || !plain(host) || !plain(path) {
            return Err(wrong());
        }
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let host = if has_port { host.to_owned() } else { format!("{host}:80") };
        Ok(Url { host, path: path.to_owned() })
    }
}

impl fmt::Display for Url {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "http://{}{}", self.host, self.path)
    }
}

/// The page at `url`.
///
/// # Errors
/// When there is none, in words for the user.
pub fn get(url: &Url) -> Result<String, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    #[expect(clippy::disallowed_methods, reason = "one page a second, not a timer a request")]
    let page = runtime.block_on(async { tokio::time::timeout(PATIENCE, fetch(url)).await });
    page.map_err(|_| format!("no page within {} ms", PATIENCE.as_millis()))?
}

async fn fetch(url: &Url) -> Result<String, String> {
    let words = |error: &dyn fmt::Display| error.to_string();
    let stream = TcpStream::connect(&url.host).await.map_err(|error| words(&error))?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| words(&error))?;
    let request = Request::get(&url.path)
        .header(HOST, &url.host)
        .body(Empty::<Bytes>::new())
        .map_err(|error| words(&error))?;
    let page = async {
        let answer = sender.send_request(request).await.map_err(|error| words(&error))?;
        let status = answer.status();
        let body =
            Limited::new(answer.into_body(), PAGE_MAX).collect().await.map_err(|error| words(&error))?;
        drop(sender);
        if !status.is_success() {
            return Err(format!("it answers {status}"));
        }
        Ok(String::from_utf8_lossy(&body.to_bytes()).into_owned())
    };
    // The connection moves only while it is waited for; when it ends first, the page says why.
    let (page, _) = tokio::join!(page, connection);
    page
}

#[cfg(test)]
pub mod tests {
    //! Addresses, and a page from a server made of a socket.
    use std::io::{Read, Write};

    use super::*;

    /// Answers one request with `page`, then goes.
    #[expect(clippy::disallowed_methods, reason = "a test's own server")]
    pub fn serve_once(page: &'static str) -> Url {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = Url::parse(&format!("http://{}/metrics", listener.local_addr().unwrap())).unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.push(byte[0]);
            }
            assert!(request.starts_with(b"GET /metrics HTTP/1.1\r\n"));
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{page}", page.len()).unwrap();
        });
        url
    }

    #[test]
    fn addresses_are_read_as_written() {
        let read = |text: &str| Url::parse(text).map(|url| url.to_string());
        assert_eq!(read("http://localhost:9180"), Ok("http://localhost:9180/metrics".into()));
        assert_eq!(read("http://h/x?y=1"), Ok("http://h:80/x?y=1".into()));
        for wrong in ["", "https://h", "http://", "http:///x", "http://h/a b", "http://h/\r\nx: y"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
