//! One connection of the storm: sends rubbish, reads what comes back, begins anew when it was closed.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

use basalt_wire::compression::Compression;
use basalt_wire::connection::{ClientConnection, RequestOptions};
use basalt_wire::envelope::append_envelope;
use basalt_wire::frame::append_frame;
use basalt_wire::request::Startup;
use basalt_wire::{Flags, Opcode, ProtocolVersion, Request};
use bytes::BytesMut;

use super::Corpus;
use super::frames::{Speech, frame_format, rubbish};
use crate::random::Random;

/// A node that takes or closes nothing for so long hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// Frames on one connection, at most; then it makes room for another.
const FRAMES_MAX: usize = 300;

/// The stream of the question that follows some frames: its answer tells that they have been looked at.
const QUESTION: i16 = 0x7ABC;

/// Without an answer after so long, something that was sent has swallowed the question.
const ANSWER_MAX: Duration = Duration::from_millis(150);

/// What happened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Frames sent.
    pub frames: u64,
    /// Connections made.
    pub connections: u64,
    /// Connections the node closed.
    pub closed: u64,
    /// Connections left because a frame that was never ended swallowed what followed.
    pub swallowed: u64,
    /// Answers that are errors, and others.
    pub errors: u64,
    /// Answers that are none.
    pub answers: u64,
}

impl Tally {
    /// Adds another.
    pub fn add(&mut self, other: Tally) {
        self.frames += other.frames;
        self.connections += other.connections;
        self.closed += other.closed;
        self.swallowed += other.swallowed;
        self.errors += other.errors;
        self.answers += other.answers;
    }
}

/// A connection and how it speaks.
pub struct Assailant {
    address: SocketAddr,
    stream: TcpStream,
    speech: Speech,
    /// `None` before a handshake, and when nothing is sure any more.
    protocol: Option<ClientConnection>,
    sent: usize,
    /// Since when a question waits for its answer.
    asked: Option<Instant>,
}

impl Assailant {
    /// Connects, and mostly shakes hands properly.
    ///
    /// # Panics
    /// When the node does not accept, or does not answer an honest STARTUP.
    pub fn connect(address: SocketAddr, random: &mut Random, tally: &mut Tally) -> Assailant {
        let speech = *random.pick(&[
            Speech { version: ProtocolVersion::V3, compression: None },
            Speech { version: ProtocolVersion::V3, compression: Some(Compression::Snappy) },
            Speech { version: ProtocolVersion::V4, compression: None },
            Speech { version: ProtocolVersion::V4, compression: Some(Compression::Lz4) },
            Speech { version: ProtocolVersion::V5, compression: None },
            Speech { version: ProtocolVersion::V5, compression: Some(Compression::Lz4) },
        ]);
        let stream =
            TcpStream::connect(address).unwrap_or_else(|error| panic!("it does not accept: {error}"));
        stream.set_nodelay(true).expect("an option");
        stream.set_read_timeout(Some(PATIENCE)).expect("an option");
        tally.connections += 1;
        let mut assailant = Assailant { address, stream, speech, protocol: None, sent: 0, asked: None };
        if !random.once_in(10) {
            assailant.shake_hands();
        }
        assailant.stream.set_nonblocking(true).expect("an option");
        assailant
    }

    fn shake_hands(&mut self) {
        let mut protocol = ClientConnection::new(self.speech.version);
        let startup = Request::Startup(Startup::new(self.speech.compression));
        protocol.send(0, &startup, &RequestOptions::default()).expect("an honest request");
        self.stream.write_all(&protocol.take_output()).expect("an honest request is taken");
        let mut buffer = [0; 1024];
        loop {
            if let Some(answer) = protocol.next_response().expect("an honest answer") {
                assert_eq!(answer.opcode, Opcode::Ready, "STARTUP in {:?}", self.speech);
                break;
            }
            let received = self.stream.read(&mut buffer).expect("an honest request is answered");
            assert!(received > 0, "an honest connection was closed");
            protocol.feed(&buffer[..received]);
        }
        self.protocol = Some(protocol);
    }

    /// Reads what is there and, if what was sent before has been looked at, sends some frames more. `false` if there
    /// was nothing to do yet.
    ///
    /// # Panics
    /// When the node hangs, or sends what is no answer.
    pub fn step(&mut self, corpus: &Corpus, random: &mut Random, tally: &mut Tally) -> bool {
        let mut is_open = self.receive(tally);
        if is_open && let Some(since) = self.asked {
            if since.elapsed() < ANSWER_MAX {
                return false;
            }
            tally.swallowed += 1;
            self.again(random, tally);
            return true;
        }
        for _ in 0..=random.below(6) {
            is_open = is_open && self.send(&rubbish(self.speech, corpus, random), tally);
            if is_open {
                tally.frames += 1;
                self.sent += 1;
            }
        }
        is_open = is_open && self.send(&self.question(), tally);
        if !is_open {
            tally.closed += 1;
            *self = Assailant::connect(self.address, random, tally);
        } else if self.sent > FRAMES_MAX {
            self.again(random, tally);
        } else {
            self.asked = Some(Instant::now());
        }
        true
    }

    /// Another connection instead of this one, which the node has not closed.
    fn again(&mut self, random: &mut Random, tally: &mut Tally) {
        if random.once_in(2) {
            self.leave(tally);
        }
        *self = Assailant::connect(self.address, random, tally);
    }

    /// OPTIONS, which is answered whatever else is going on.
    fn question(&self) -> BytesMut {
        let (mut envelope, version) = (BytesMut::new(), self.speech.version);
        append_envelope(&mut envelope, version.number(), Opcode::Options, QUESTION, |_| Flags(0));
        if self.protocol.is_none() || version < ProtocolVersion::V5 {
            return envelope;
        }
        let mut out = BytesMut::new();
        append_frame(frame_format(self.speech), true, &envelope, &mut out);
        out
    }

    /// `false` when the connection is closed.
    fn send(&mut self, mut bytes: &[u8], tally: &mut Tally) -> bool {
        let start = Instant::now();
        while !bytes.is_empty() {
            match self.stream.write(bytes) {
                Ok(0) => return false,
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    // It may wait for us to read.
                    if !self.receive(tally) {
                        return false;
                    }
                    assert!(start.elapsed() < PATIENCE, "it takes nothing in {:?}", self.speech);
                    sleep(Duration::from_micros(100));
                }
                Err(_) => return false,
            }
        }
        true
    }

    /// Reads what has come; `false` when the connection is closed.
    fn receive(&mut self, tally: &mut Tally) -> bool {
        let mut buffer = [0; 16 * 1024];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return false,
                Ok(received) if self.protocol.is_some() => self.understand(&buffer[..received], tally),
                Ok(_) => self.asked = None,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(_) => return false,
            }
        }
    }

    /// Whatever was sent, what comes back on a connection that began well is made of answers.
    fn understand(&mut self, bytes: &[u8], tally: &mut Tally) {
        let Some(protocol) = &mut self.protocol else { return };
        protocol.feed(bytes);
        loop {
            match protocol.next_response() {
                Ok(None) => return,
                Ok(Some(answer)) if answer.opcode == Opcode::Error => {
                    tally.errors += 1;
                    assert!(answer.decode().is_ok(), "{:?}: not an ERROR: {answer:?}", self.speech);
                }
                Ok(Some(answer)) if answer.stream == QUESTION && answer.opcode == Opcode::Supported => {
                    self.asked = None;
                }
                Ok(Some(answer)) => {
                    tally.answers += 1;
                    assert!(answer.decode().is_ok(), "{:?}: not an answer: {answer:?}", self.speech);
                }
                // A request in version 1 or 2 is answered in that version, as Cassandra does.
                Err(error) if error.to_string().starts_with("Invalid or unsupported protocol version") => {
                    self.protocol = None;
                    return;
                }
                Err(error) => panic!("{:?}: the node sent what is no answer: {error}", self.speech),
            }
        }
    }

    /// Ends politely: says that nothing more comes, and waits until the node has closed too.
    fn leave(&mut self, tally: &mut Tally) {
        if self.stream.shutdown(Shutdown::Write).is_err() {
            return; // closed meanwhile
        }
        let start = Instant::now();
        while self.receive(tally) {
            assert!(start.elapsed() < PATIENCE, "it does not close in {:?}", self.speech);
            sleep(Duration::from_micros(200));
        }
    }
}
