//! A cursor that looks at the clock while it passes over keys that show nothing: what was purged and not compacted yet, rows
//! that a deletion covers, range tombstones. A table may have millions of such keys between two rows.

use crate::engine::{Cursor, EngineError, Entry};

/// Keys, with something left or nothing, that are passed between two looks at the clock: some milliseconds.
pub const KEYS_PER_LOOK: usize = 4_096;

/// A cursor whose moves end with [`EngineError::Paused`] when nobody waits any more.
pub struct Patience<'c> {
    cursor: Box<dyn Cursor + 'c>,
    is_over: Option<&'c dyn Fn() -> bool>,
    /// Keys passed since the last look.
    passed: usize,
}

impl<'c> Patience<'c> {
    /// Without a clock the cursor is as it was.
    pub fn new(mut cursor: Box<dyn Cursor + 'c>, is_over: Option<&'c dyn Fn() -> bool>) -> Patience<'c> {
        if is_over.is_some() {
            cursor.pause_after(KEYS_PER_LOOK);
        }
        Patience { cursor, is_over, passed: 0 }
    }

    /// Goes on with a move that has paused, while somebody waits.
    fn go_on(
        &mut self,
        mut moved: Result<bool, EngineError>,
        go_on: fn(&mut (dyn Cursor + 'c)) -> Result<bool, EngineError>,
    ) -> Result<bool, EngineError> {
        let Some(is_over) = self.is_over else { return moved };
        while moved == Err(EngineError::Paused) && !is_over() {
            moved = go_on(&mut *self.cursor);
        }
        self.passed += 1;
        if self.passed == KEYS_PER_LOOK {
            self.passed = 0;
            if is_over() {
                return Err(EngineError::Paused);
            }
        }
        moved
    }
}

impl Cursor for Patience<'_> {
    fn seek(&mut self, key: &[u8]) -> Result<bool, EngineError> {
        let moved = self.cursor.seek(key);
        self.go_on(moved, |cursor| cursor.next())
    }

    fn seek_for_prev(&mut self, key: &[u8]) -> Result<bool, EngineError> {
        let moved = self.cursor.seek_for_prev(key);
        self.go_on(moved, |cursor| cursor.prev())
    }

    fn next(&mut self) -> Result<bool, EngineError> {
        let moved = self.cursor.next();
        self.go_on(moved, |cursor| cursor.next())
    }

    fn prev(&mut self) -> Result<bool, EngineError> {
        let moved = self.cursor.prev();
        self.go_on(moved, |cursor| cursor.prev())
    }

    fn key(&self) -> &[u8] {
        self.cursor.key()
    }

    fn value(&self) -> &[u8] {
        self.cursor.value()
    }

    fn entry(&self) -> Entry<'_> {
        self.cursor.entry()
    }
}
