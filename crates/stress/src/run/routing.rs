//! Which node a request belongs to: the one that owns the token of its partition key, so that no other has to pass it
//! on. Asked for only where there are several nodes. Knows neither connections nor replication: the owner of a token is a
//! replica whatever the replication is.

use basalt_model::token::Token;
use basalt_wire::response::QueryResult;
use smallvec::SmallVec;

use crate::client::{Error, PreparedId, Session};
use crate::workload::{Operation, Statement, Values};

/// What a node says of the tokens it owns.
const QUESTION: &str = "SELECT partitioner, tokens FROM system.local";

/// The tokens of some nodes, and where statements have their partition keys.
#[derive(Debug)]
pub struct Routing {
    /// Each token with its node's place among the targets; in order, never empty.
    ring: Vec<(Token, usize)>,
    /// By statement: the places of the parts of the partition key among the values, in the key's order. None where not all
    /// of them are bound.
    keys: Vec<Vec<u16>>,
}

impl Routing {
    /// Asks the nodes of a run; `None` for a single node, and where nodes do not say.
    ///
    /// # Errors
    /// When a node refuses a statement, or its connection fails.
    pub fn ask(mut nodes: Vec<Session>, statements: &[Statement]) -> Result<Option<Routing>, Error> {
        if nodes.len() < 2 {
            return Ok(None);
        }
        let mut ring = Vec::new();
        for (node, session) in nodes.iter_mut().enumerate() {
            let Some(tokens) = tokens(session) else { return Ok(None) };
            ring.extend(tokens.into_iter().map(|token| (token, node)));
        }
        let prepared = nodes.swap_remove(0).prepare_all(statements)?;
        Ok(Routing::new(ring, prepared.ids()))
    }

    fn new(mut ring: Vec<(Token, usize)>, statements: &[PreparedId]) -> Option<Routing> {
        ring.sort_unstable();
        let keys = statements.iter().map(|statement| statement.partition_key.clone()).collect();
        (!ring.is_empty()).then_some(Routing { ring, keys })
    }

    /// The node that owns the partition of a request, of a batch's first statement; `None` where the request has none.
    pub fn node(&self, operation: &Operation) -> Option<usize> {
        let part = operation.parts().first()?;
        let token = token(&part.values, self.keys.get(part.statement)?)?;
        let at = self.ring.partition_point(|(owned, _)| *owned < token);
        // Behind the last token the ring begins again.
        Some(self.ring.get(at).unwrap_or(&self.ring[0]).1)
    }
}

/// The token of the partition key at these places: its value, or of several `[short length][value][0]` each.
fn token(values: &Values, places: &[u16]) -> Option<Token> {
    if let [place] = places {
        return Some(Token::of(value(values.bytes(), *place)?));
    }
    let mut key = SmallVec::<[u8; 256]>::new();
    for place in places {
        let value = value(values.bytes(), *place)?;
        key.extend_from_slice(&u16::try_from(value.len()).ok()?.to_be_bytes());
        key.extend_from_slice(value);
        key.push(0);
    }
    (!places.is_empty()).then(|| Token::of(&key))
}

/// A value; `None` when it is not there, null or unset.
fn value(values: &[u8], place: u16) -> Option<&[u8]> {
    elements(values).nth(usize::from(place))?
}

/// What stands in `[int length][bytes]` each; `None` for a length below 0, which has no bytes.
fn elements(mut bytes: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    std::iter::from_fn(move || {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let length = usize::try_from(i32::from_be_bytes(*length)).ok();
        let (element, rest) = rest.split_at_checked(length.unwrap_or(0))?;
        bytes = rest;
        Some(length.map(|_| element))
    })
}

/// The tokens of a node, where it tells and they are Murmur3's.
fn tokens(session: &mut Session) -> Option<Vec<Token>> {
    let QueryResult::Rows(rows) = session.query(QUESTION).ok()? else { return None };
    let mut cells = rows.cells().map_while(Result::ok);
    let (partitioner, tokens) = (cells.next()??, cells.next()??);
    if !partitioner.ends_with(b"Murmur3Partitioner") {
        return None;
    }
    // set<text>: their number, then each as a value.
    let (_, texts) = tokens.split_first_chunk::<4>()?;
    elements(texts).map(|text| Some(Token(std::str::from_utf8(text?).ok()?.parse().ok()?))).collect()
}

#[cfg(test)]
mod tests {
    //! A ring of three tokens, and keys of one part and of two.
    use super::*;

    fn operation(values: &[&[u8]]) -> Operation {
        let mut operation = Operation::default();
        let into = operation.begin(0, 0);
        values.iter().for_each(|value| into.push(value));
        operation
    }

    fn routing(ring: &[(i64, usize)], partition_key: &[u16]) -> Routing {
        let ring = ring.iter().map(|(token, node)| (Token(*token), *node)).collect();
        let statement = PreparedId { partition_key: partition_key.to_vec(), ..PreparedId::default() };
        Routing::new(ring, &[statement]).unwrap()
    }

    #[test]
    fn a_node_owns_what_lies_before_its_tokens() {
        let request = operation(&[b"v", b"key"]);
        let token = Token::of(b"key").0;
        let node = |ring: &[(i64, usize)]| routing(ring, &[1]).node(&request);
        assert_eq!(node(&[(token + 9, 2), (token, 1), (token - 1, 0)]), Some(1));
        assert_eq!(node(&[(token + 9, 2), (token - 1, 0)]), Some(2));
        assert_eq!(node(&[(token - 1, 1), (token - 9, 0)]), Some(0), "the ring begins again");
    }

    #[test]
    fn a_key_of_parts_is_put_together_as_cassandra_does() {
        let request = operation(&[b"ab", b"x", b"c"]);
        let token = Token::of(b"\0\x01c\0\0\x02ab\0").0;
        let ring = [(token - 1, 0), (token, 1), (token + 1, 2)];
        assert_eq!(routing(&ring, &[2, 0]).node(&request), Some(1));
    }

    #[test]
    fn a_request_without_a_key_belongs_nowhere() {
        let ring = [(0, 0)];
        assert_eq!(routing(&ring, &[]).node(&operation(&[b"a"])), None);
        assert_eq!(routing(&ring, &[1]).node(&operation(&[b"a"])), None);
        let mut null = Operation::default();
        null.begin(0, 0).push_null();
        assert_eq!(routing(&ring, &[0]).node(&null), None);
        assert_eq!(routing(&ring, &[0]).node(&Operation::default()), None);
    }
}
