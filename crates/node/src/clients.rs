//! Who is connected: one [`Client`] per connection, shared between its reactor and whoever wants to
//! see it, send it an event or end it. Knows no socket.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::task::{Context, Waker};

use basalt_query::result::SchemaChange;
use basalt_query::system_tables::ClientView;
use parking_lot::Mutex;

use crate::limits::{EVENTS_QUEUED_MAX, HANDSHAKE_TIMEOUT_MS};

/// Where a connection stands (`transport/ConnectionStage`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stage {
    /// Nothing but OPTIONS and STARTUP is taken.
    Established = 0,
    /// Credentials are awaited.
    Authenticating = 1,
    /// Requests are served.
    Ready = 2,
}

impl Stage {
    /// Every stage.
    pub const ALL: [Stage; 3] = [Stage::Established, Stage::Authenticating, Stage::Ready];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Established => "established",
            Stage::Authenticating => "authenticating",
            Stage::Ready => "ready",
        }
    }
}

/// How a connection is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum End {
    /// It goes on.
    No = 0,
    /// After the requests it has begun.
    Drain = 1,
    /// At once; what it has begun is worked on to its end all the same.
    Now = 2,
    /// At once, with everything it has begun: the process ends.
    Abandon = 3,
}

#[derive(Default)]
struct Told {
    events: VecDeque<Arc<SchemaChange>>,
    waker: Option<Waker>,
}

#[derive(Default)]
struct Described {
    options: BTreeMap<String, String>,
    keyspace: Option<Arc<str>>,
    role: Option<Arc<str>>,
}

/// One connection, as others see it.
pub struct Client {
    /// The client's end.
    pub address: SocketAddr,
    id: u64,
    connected_at_ms: u64,
    last_heard_ms: AtomicU64,
    requests: AtomicU64,
    stage: AtomicU8,
    version: AtomicU8,
    end: AtomicU8,
    wants_schema_changes: AtomicU8,
    /// Requests of it wait for an answer.
    waits: AtomicBool,
    /// It is to look whether one of them has waited too long.
    looks: AtomicBool,
    described: Mutex<Described>,
    told: Mutex<Told>,
}

impl Client {
    /// Notes a read at that time of the reactor's coarse clock.
    pub fn heard(&self, now_ms: u64) {
        self.last_heard_ms.store(now_ms, Ordering::Relaxed);
    }

    /// Counts requests.
    pub fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// Where it stands.
    pub fn stage(&self) -> Stage {
        match self.stage.load(Ordering::Relaxed) {
            0 => Stage::Established,
            1 => Stage::Authenticating,
            _ => Stage::Ready,
        }
    }

    /// Notes where it stands.
    pub fn set_stage(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::Relaxed);
    }

    /// Notes what STARTUP said.
    pub fn started(&self, version: u8, options: BTreeMap<String, String>) {
        self.version.store(version, Ordering::Relaxed);
        self.described.lock().options = options;
    }

    /// Notes who logged in.
    pub fn set_role(&self, role: Option<Arc<str>>) {
        self.described.lock().role = role;
    }

    /// Notes the keyspace of USE.
    pub fn set_keyspace(&self, keyspace: Option<Arc<str>>) {
        self.described.lock().keyspace = keyspace;
    }

    /// From now on schema changes are sent (REGISTER).
    pub fn register_schema_changes(&self) {
        self.wants_schema_changes.store(1, Ordering::Relaxed);
    }

    /// Asks it to end; a stronger word stands.
    pub fn end(&self, how: End) {
        self.end.fetch_max(how as u8, Ordering::AcqRel);
        self.wake();
    }

    /// How it is asked to end.
    pub fn asked_to_end(&self) -> End {
        match self.end.load(Ordering::Acquire) {
            0 => End::No,
            1 => End::Drain,
            2 => End::Now,
            _ => End::Abandon,
        }
    }

    /// Notes whether requests wait for an answer.
    pub fn set_waits(&self, waits: bool) {
        self.waits.store(waits, Ordering::Relaxed);
    }

    /// Whether the clock ticked since last asked while requests waited.
    pub fn take_look(&self) -> bool {
        self.looks.load(Ordering::Acquire) && self.looks.swap(false, Ordering::AcqRel)
    }

    fn wake(&self) {
        if let Some(waker) = self.told.lock().waker.take() {
            waker.wake();
        }
    }

    fn tell(&self, event: &Arc<SchemaChange>) {
        if self.wants_schema_changes.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut told = self.told.lock();
        if told.events.len() >= EVENTS_QUEUED_MAX {
            drop(told);
            tracing::warn!(client = %self.address, "closed: it does not read the events it asked for");
            self.end(End::Now);
            return;
        }
        told.events.push_back(Arc::clone(event));
        if let Some(waker) = told.waker.take() {
            drop(told);
            waker.wake();
        }
    }

    /// The next event to send; none: `context` is woken by the next one and by [`Client::end`].
    pub fn next_event(&self, context: &mut Context<'_>) -> Option<Arc<SchemaChange>> {
        let mut told = self.told.lock();
        let event = told.events.pop_front();
        if event.is_none() {
            match &mut told.waker {
                Some(waker) => waker.clone_from(context.waker()),
                none => *none = Some(context.waker().clone()),
            }
        }
        event
    }

    /// Whether it took too long to become ready, or was silent for too long.
    pub fn is_overdue(&self, now_ms: u64, idle_timeout_ms: Option<u64>) -> bool {
        if self.stage() != Stage::Ready {
            return now_ms.saturating_sub(self.connected_at_ms) > HANDSHAKE_TIMEOUT_MS;
        }
        let silent_ms = now_ms.saturating_sub(self.last_heard_ms.load(Ordering::Relaxed));
        idle_timeout_ms.is_some_and(|limit| silent_ms > limit)
    }

    fn view(&self) -> ClientView {
        let described = self.described.lock();
        let option = |name: &str| described.options.get(name).cloned();
        ClientView {
            address: self.address,
            connection_stage: self.stage().name().to_owned(),
            driver_name: option("DRIVER_NAME"),
            driver_version: option("DRIVER_VERSION"),
            client_options: described.options.clone(),
            protocol_version: i32::from(self.version.load(Ordering::Relaxed)),
            request_count: i64::try_from(self.requests.load(Ordering::Relaxed)).unwrap_or(i64::MAX),
            keyspace: described.keyspace.as_deref().map(str::to_owned),
            username: Some(described.role.as_deref().unwrap_or("anonymous").to_owned()),
        }
    }
}

/// All connections of the node.
#[derive(Default)]
pub struct Clients {
    next_id: AtomicU64,
    open: Mutex<HashMap<u64, Arc<Client>>>,
}

impl Clients {
    /// A new connection.
    pub fn enter(&self, address: SocketAddr, now_ms: u64) -> Arc<Client> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let client = Arc::new(Client {
            address,
            id,
            connected_at_ms: now_ms,
            last_heard_ms: AtomicU64::new(now_ms),
            requests: AtomicU64::new(0),
            stage: AtomicU8::new(Stage::Established as u8),
            version: AtomicU8::new(0),
            end: AtomicU8::new(End::No as u8),
            wants_schema_changes: AtomicU8::new(0),
            waits: AtomicBool::new(false),
            looks: AtomicBool::new(false),
            described: Mutex::default(),
            told: Mutex::default(),
        });
        self.open.lock().insert(id, Arc::clone(&client));
        client
    }

    /// A connection that ended.
    pub fn leave(&self, client: &Client) {
        self.open.lock().remove(&client.id);
    }

    /// Tells every connection that registered for it (`Server.EventNotifier`).
    pub fn tell_all(&self, change: &SchemaChange) {
        let event = Arc::new(change.clone());
        for client in self.open.lock().values() {
            client.tell(&event);
        }
    }

    /// Asks every connection to end.
    pub fn end_all(&self, how: End) {
        for client in self.open.lock().values() {
            client.end(how);
        }
    }

    /// Asks those to end that are overdue.
    pub fn end_overdue(&self, now_ms: u64, idle_timeout_ms: Option<u64>) {
        for client in self.open.lock().values() {
            if client.is_overdue(now_ms, idle_timeout_ms) {
                client.end(End::Now);
            }
        }
    }

    /// Has those look at their requests that have some waiting.
    pub fn look_at_waiting(&self) {
        for client in self.open.lock().values() {
            if client.waits.load(Ordering::Relaxed) {
                client.looks.store(true, Ordering::Release);
                client.wake();
            }
        }
    }

    /// How many there are of each stage, in the order of [`Stage::ALL`].
    pub fn by_stage(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        for client in self.open.lock().values() {
            counts[client.stage() as usize] += 1;
        }
        counts
    }

    /// How many there were since the start.
    pub fn since_start(&self) -> u64 {
        self.next_id.load(Ordering::Relaxed)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.open.lock().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.open.lock().is_empty()
    }

    /// `system_views.clients`.
    pub fn views(&self) -> Vec<ClientView> {
        let open: Vec<Arc<Client>> = self.open.lock().values().cloned().collect();
        open.iter().map(|client| client.view()).collect()
    }
}
