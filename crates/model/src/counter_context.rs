//! The value of a counter's cell (`db/context/CounterContext`): how much each node has counted, and how two
//! such values become one. Drawn byte by byte in `docs/formats/entries.md`.
//!
//! A context is a list of shards, one a node. A node changes only its own shard, so that the one with the
//! higher clock is the newer; the counter is the sum of all.

use bytes::Bytes;
use smallvec::SmallVec;
use uuid::Uuid;

const ID_BYTES: usize = 16;
const SHARD_BYTES: usize = ID_BYTES + 8 + 8;
/// Global shards stand in the header as their index plus this.
const GLOBAL: i16 = i16::MIN;

/// Who counted (`utils/CounterId`): the id of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterId(pub [u8; ID_BYTES]);

impl CounterId {
    /// Stands in updates that no node has counted yet (`CounterContext.UPDATE_CLOCK_ID`).
    const UPDATE: CounterId = CounterId([0, 0, 0, 0, 0, 0, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0, 0]);

    /// The id under which a host counts.
    pub fn of_host(host: Uuid) -> CounterId {
        CounterId(*host.as_bytes())
    }
}

/// How a shard merges with another of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardKind {
    /// The whole count of its node: the higher clock wins.
    Global,
    /// A part of it: two are added. An update before it is counted; stored only by Cassandra before 2.1.
    Local,
    /// A part that another node counted before 2.1: the higher clock wins, global and local shards win over it.
    Remote,
}

/// What one node has counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The node.
    pub id: CounterId,
    /// Grows with each change.
    pub clock: i64,
    /// The sum of its increments; wraps.
    pub count: i64,
    /// How it merges.
    pub kind: ShardKind,
}

/// A context, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterContext {
    /// Ascending by id.
    shards: SmallVec<[Shard; 3]>,
}

impl CounterContext {
    /// An increment that no node has counted yet (`CounterContext.createUpdate`). Those of one mutation add up.
    pub fn update(increment: i64) -> CounterContext {
        CounterContext::of(Shard {
            id: CounterId::UPDATE,
            clock: 1,
            count: increment,
            kind: ShardKind::Local,
        })
    }

    /// What one node has counted in all (`CounterContext.createGlobal`).
    pub fn global(id: CounterId, clock: i64, count: i64) -> CounterContext {
        CounterContext::of(Shard { id, clock, count, kind: ShardKind::Global })
    }

    fn of(shard: Shard) -> CounterContext {
        CounterContext { shards: SmallVec::from_iter([shard]) }
    }

    /// Takes bytes apart; `None` unless they are a context in the one form it is written in. That leaves out
    /// contexts marked for the clearing of local shards, which Cassandra makes only while it streams.
    pub fn parse(bytes: &[u8]) -> Option<CounterContext> {
        let (count, rest) = bytes.split_first_chunk::<2>()?;
        let marked = usize::try_from(i16::from_be_bytes(*count)).ok()?;
        let (header, body) = rest.split_at_checked(marked * 2)?;
        let mut marks = header.chunks_exact(2).map(|mark| i16::from_be_bytes([mark[0], mark[1]])).peekable();
        let mut shards = SmallVec::<[Shard; 3]>::new();
        let mut rest = body;
        while !rest.is_empty() {
            let index = i16::try_from(shards.len()).ok()?;
            let kind = match marks.peek() {
                Some(&mark) if mark == index => ShardKind::Local,
                Some(&mark) if mark == index + GLOBAL => ShardKind::Global,
                _ => ShardKind::Remote,
            };
            if kind != ShardKind::Remote {
                marks.next();
            }
            let (id, behind) = rest.split_first_chunk::<ID_BYTES>()?;
            let (clock, behind) = behind.split_first_chunk::<8>()?;
            let (count, behind) = behind.split_first_chunk::<8>()?;
            let (clock, count) = (i64::from_be_bytes(*clock), i64::from_be_bytes(*count));
            let shard = Shard { id: CounterId(*id), clock, count, kind };
            if shards.last().is_some_and(|last| last.id >= shard.id) {
                return None;
            }
            shards.push(shard);
            rest = behind;
        }
        marks.peek().is_none().then_some(CounterContext { shards })
    }

    /// The sum of all shards, wrapping: the value of the counter. What is no whole shard counts nothing.
    pub fn total(bytes: &[u8]) -> i64 {
        let Some((count, rest)) = bytes.split_first_chunk::<2>() else { return 0 };
        let header = usize::from(i16::from_be_bytes(*count).unsigned_abs()) * 2;
        let body = rest.get(header..).unwrap_or_default();
        body.chunks_exact(SHARD_BYTES).fold(0_i64, |sum, shard| {
            let count = shard.last_chunk::<8>().copied().unwrap_or_default();
            sum.wrapping_add(i64::from_be_bytes(count))
        })
    }

    /// The shard of a node.
    pub fn shard(&self, id: CounterId) -> Option<&Shard> {
        self.shards.iter().find(|shard| shard.id == id)
    }

    /// Whether it may be stored: merging such contexts gives the same in any order and any number of times.
    /// Not so parts of counts, which add up, and remote shards at clock 0, of which the right one wins.
    pub fn is_settled(&self) -> bool {
        self.shards.iter().all(|shard| match shard.kind {
            ShardKind::Global => true,
            ShardKind::Local => false,
            ShardKind::Remote => shard.clock != 0,
        })
    }

    /// Takes in what another context knows (`CounterContext.merge`).
    pub fn merge(&mut self, other: &CounterContext) {
        for &shard in &other.shards {
            match self.shards.binary_search_by_key(&shard.id, |known| known.id) {
                Ok(at) => self.shards[at] = merge_shards(self.shards[at], shard),
                Err(at) => self.shards.insert(at, shard),
            }
        }
    }

    /// The bytes.
    pub fn to_bytes(&self) -> Bytes {
        let mut out = Vec::with_capacity(2 + self.shards.len() * (2 + SHARD_BYTES));
        let marked = self.shards.iter().filter(|shard| shard.kind != ShardKind::Remote).count();
        // A node has one shard: numbers beyond 15 bits would need more nodes than any ring has.
        out.extend_from_slice(&(marked as i16).to_be_bytes());
        for (index, shard) in self.shards.iter().enumerate() {
            match shard.kind {
                ShardKind::Global => {
                    out.extend_from_slice(&(index as i16).wrapping_add(GLOBAL).to_be_bytes())
                }
                ShardKind::Local => out.extend_from_slice(&(index as i16).to_be_bytes()),
                ShardKind::Remote => {}
            }
        }
        for shard in &self.shards {
            out.extend_from_slice(&shard.id.0);
            out.extend_from_slice(&shard.clock.to_be_bytes());
            out.extend_from_slice(&shard.count.to_be_bytes());
        }
        out.into()
    }
}

/// Two shards of one node (`CounterContext.compare`).
fn merge_shards(left: Shard, right: Shard) -> Shard {
    use ShardKind::{Global, Local, Remote};
    let left_wins = match (left.kind, right.kind) {
        (Global, Global) => (left.clock, left.count) > (right.clock, right.count),
        (Global, _) => true,
        (_, Global) => false,
        (Local, Local) => {
            let (clock, count) = (left.clock.wrapping_add(right.clock), left.count.wrapping_add(right.count));
            return Shard { clock, count, ..left };
        }
        (Local, Remote) => true,
        (Remote, Local) => false,
        (Remote, Remote) if left.clock == right.clock => left.count > right.count,
        // Shards with negative clocks took the place of others: the lower, the newer.
        (Remote, Remote) => {
            (left.clock >= 0 && right.clock > 0 && left.clock > right.clock)
                || (left.clock < 0 && (right.clock > 0 || left.clock < right.clock))
        }
    };
    if left_wins { left } else { right }
}

#[cfg(test)]
mod tests;
