//! What RocksDB says through its event listener: which compactions run, and what work in the background failed; and the
//! one decision that has to be made there, whether all writes stop for it.
//!
//! RocksDB takes no write for any table any more once a compaction has met a damaged file. The compaction of one table is
//! no reason for that: its files stay as they were, and what reads the damage fails with it. So this failure is taken
//! back here, and the table is not compacted by itself from then on.
//!
//! The binding has no listeners, so this file speaks to RocksDB's C interface.
#![allow(unsafe_code, reason = "the safe binding does not wrap event listeners")]

use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use librocksdb_sys as ffi;
use parking_lot::Mutex;
use rocksdb::{AsRawPtr, Options};

use crate::error::is_out_of_space;

/// Failures kept for whoever asks; the oldest are forgotten.
const KEPT_MAX: usize = 16;

/// How nice threads that compact are: a tenth of a busy processor is theirs. They need some of it always, or what waits
/// for them would hold writers back while readers keep all processors busy.
const COMPACTION_NICE: i32 = 10;

/// `rocksdb::BackgroundErrorReason`, as far as it is told apart.
const COMPACTION: u32 = 1;
const WRITE: u32 = 2;
const MEMTABLE: u32 = 3;

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// A compaction. RocksDB goes on.
    Compaction,
    /// A write to the log, or from it to a memtable.
    Log,
    /// A flush, or a change of the list of files.
    Flush,
}

/// A failure in the background.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) work: Work,
    /// RocksDB's words.
    pub(crate) text: String,
}

/// A compaction that runs.
#[derive(Clone, Debug)]
pub(crate) struct Compaction {
    pub(crate) family: String,
    /// RocksDB's number for it.
    pub(crate) job: u64,
    /// The numbers of the files it reads.
    pub(crate) files: Vec<u64>,
}

/// What was said so far.
#[derive(Default)]
pub(crate) struct Events {
    failures: Mutex<VecDeque<Failure>>,
    /// A flush failed: RocksDB refuses writes before they reach the log.
    flush_failed: AtomicBool,
    /// Memtables were switched, and with them the log.
    has_new_log: AtomicBool,
    /// A memtable was sealed, a flush or a compaction ended.
    debt_changed: AtomicBool,
    /// Compactions that began and have not ended.
    running: Mutex<Vec<Compaction>>,
}

impl Events {
    /// The failures since last asked, oldest first. One that came again is there once.
    pub(crate) fn take(&self) -> Vec<Failure> {
        self.failures.lock().drain(..).collect()
    }

    /// The last failure of a compaction that nobody has taken yet.
    pub(crate) fn last_compaction(&self) -> Option<String> {
        let failures = self.failures.lock();
        failures.iter().rev().find(|failure| failure.work == Work::Compaction).map(|found| found.text.clone())
    }

    /// Whether a flush failed since the start: then a refused write need not have reached the log.
    pub(crate) fn flush_failed(&self) -> bool {
        self.flush_failed.load(Ordering::Acquire)
    }

    /// All is well again.
    pub(crate) fn forget_flush_failures(&self) {
        self.flush_failed.store(false, Ordering::Release);
    }

    /// Whether there may be a new log since last asked.
    pub(crate) fn take_new_log(&self) -> bool {
        self.has_new_log.swap(false, Ordering::AcqRel)
    }

    /// There may be a new log.
    pub(crate) fn has_new_log(&self) {
        self.has_new_log.store(true, Ordering::Release);
    }

    /// Whether what waits to be flushed and compacted may have changed since last asked. For every write: one load.
    pub(crate) fn take_debt_changed(&self) -> bool {
        self.debt_changed.load(Ordering::Relaxed) && self.debt_changed.swap(false, Ordering::AcqRel)
    }

    /// The compactions that run now.
    pub(crate) fn compactions(&self) -> Vec<Compaction> {
        self.running.lock().clone()
    }

    fn began(&self, compaction: Compaction) {
        self.running.lock().push(compaction);
    }

    fn ended(&self, job: u64) {
        self.running.lock().retain(|running| running.job != job);
        self.debt_changed.store(true, Ordering::Release);
    }

    /// Notes a failure, and answers whether RocksDB is to go on as if it had not happened.
    fn note(&self, reason: u32, text: String) -> bool {
        let work = match reason {
            COMPACTION => Work::Compaction,
            WRITE | MEMTABLE => Work::Log,
            _ => Work::Flush,
        };
        // From a full device RocksDB recovers by itself, and needs to know of it.
        let goes_on = work == Work::Compaction && !is_out_of_space(&text);
        if work == Work::Flush {
            self.flush_failed.store(true, Ordering::Release);
        }
        let mut failures = self.failures.lock();
        if failures.iter().all(|known| known.text != text) {
            if failures.len() == KEPT_MAX {
                failures.pop_front();
            }
            failures.push_back(Failure { work, text });
        }
        goes_on
    }
}

/// Has a database of these options say its events to `events`.
pub(crate) fn listen(options: &mut Options, events: &Arc<Events>) {
    let state = Arc::into_raw(Arc::clone(events)).cast_mut().cast::<c_void>();
    // SAFETY: the listener owns one count of the Arc and gives it back in `forget`, which RocksDB calls once, when the last
    // database and options with the listener are gone. The options take over the listener. No callback is left out: the C
    // interface calls each of them.
    unsafe {
        let listener = ffi::rocksdb_eventlistener_create(
            state,
            Some(forget),
            Some(on_flush_begun),
            Some(on_flush_ended),
            Some(on_compaction_begun),
            Some(on_compaction_ended),
            Some(on_subcompaction),
            Some(on_subcompaction),
            Some(on_ingestion),
            Some(on_background_error),
            Some(on_stall),
            Some(on_memtable_sealed),
        );
        ffi::rocksdb_options_add_eventlistener(options.as_raw_ptr(), listener);
    }
}

/// Gives this thread less of the processors than those that answer requests. When nobody else wants them it has them all.
fn yield_to_requests() {
    // Of the calling thread, on Linux. To be nicer is allowed to everyone; should it fail, the thread stays as it is.
    if rustix::process::getpriority_process(None).is_ok_and(|nice| nice < COMPACTION_NICE) {
        let _ = rustix::process::setpriority_process(None, COMPACTION_NICE);
    }
}

/// SAFETY: `state` is what [`listen`] made, and not used afterwards.
unsafe extern "C" fn forget(state: *mut c_void) {
    // SAFETY: see above.
    drop(unsafe { Arc::from_raw(state.cast_const().cast::<Events>()) });
}

/// SAFETY: `state` is what [`listen`] made, and `status` is RocksDB's for the time of the call.
unsafe extern "C" fn on_background_error(
    state: *mut c_void,
    reason: u32,
    status: *mut ffi::rocksdb_status_ptr_t,
) {
    let mut message: *mut c_char = ptr::null_mut();
    // SAFETY: see above. The message is a string of the C allocator, which is ours to free.
    unsafe {
        let events = &*state.cast_const().cast::<Events>();
        ffi::rocksdb_status_ptr_get_error(status, &raw mut message);
        if message.is_null() {
            return;
        }
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        ffi::rocksdb_free(message.cast());
        if events.note(reason, text) {
            ffi::rocksdb_reset_status(status);
        }
    }
}

/// SAFETY: `state` is what [`listen`] made.
unsafe extern "C" fn on_memtable_sealed(state: *mut c_void, _: *const ffi::rocksdb_memtableinfo_t) {
    // SAFETY: see above.
    let events = unsafe { &*state.cast_const().cast::<Events>() };
    events.has_new_log();
    events.debt_changed.store(true, Ordering::Release);
}

unsafe extern "C" fn on_flush_begun(
    _: *mut c_void,
    _: *mut ffi::rocksdb_t,
    _: *const ffi::rocksdb_flushjobinfo_t,
) {
}

/// SAFETY: `state` is what [`listen`] made.
unsafe extern "C" fn on_flush_ended(
    state: *mut c_void,
    _: *mut ffi::rocksdb_t,
    _: *const ffi::rocksdb_flushjobinfo_t,
) {
    // SAFETY: see above.
    unsafe { &*state.cast_const().cast::<Events>() }.debt_changed.store(true, Ordering::Release);
}

/// SAFETY: `state` is what [`listen`] made, and `info` is RocksDB's for the time of the call.
unsafe extern "C" fn on_compaction_begun(
    state: *mut c_void,
    _: *mut ffi::rocksdb_t,
    info: *const ffi::rocksdb_compactionjobinfo_t,
) {
    // This is on the thread that compacts, which does nothing else.
    yield_to_requests();
    // SAFETY: see above; each name is RocksDB's for the time of the call, of the length it says.
    unsafe {
        let text = |read: &dyn Fn(*mut usize) -> *const c_char| {
            let mut length = 0;
            let start = read(&raw mut length);
            if start.is_null() {
                return String::new();
            }
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), length)).into_owned()
        };
        let file = |at| {
            let name = text(&|length| ffi::rocksdb_compactionjobinfo_input_file_at(info, at, length));
            crate::trouble::file_number(&name)
        };
        let files = (0..ffi::rocksdb_compactionjobinfo_input_files_count(info)).filter_map(file).collect();
        let family = text(&|length| ffi::rocksdb_compactionjobinfo_cf_name(info, length));
        (*state.cast_const().cast::<Events>()).began(Compaction { family, job: job_of(info), files });
    }
}

/// SAFETY: as of [`on_compaction_begun`].
unsafe extern "C" fn on_compaction_ended(
    state: *mut c_void,
    _: *mut ffi::rocksdb_t,
    info: *const ffi::rocksdb_compactionjobinfo_t,
) {
    // SAFETY: see above.
    unsafe { (*state.cast_const().cast::<Events>()).ended(job_of(info)) };
}

/// SAFETY: `info` is RocksDB's for the time of the call.
unsafe fn job_of(info: *const ffi::rocksdb_compactionjobinfo_t) -> u64 {
    // SAFETY: see above. Job numbers count up from 1.
    u64::try_from(unsafe { ffi::rocksdb_compactionjobinfo_job_id(info) }).unwrap_or(0)
}

unsafe extern "C" fn on_subcompaction(_: *mut c_void, _: *const ffi::rocksdb_subcompactionjobinfo_t) {}

unsafe extern "C" fn on_ingestion(
    _: *mut c_void,
    _: *mut ffi::rocksdb_t,
    _: *const ffi::rocksdb_externalfileingestioninfo_t,
) {
}

unsafe extern "C" fn on_stall(_: *mut c_void, _: *const ffi::rocksdb_writestallinfo_t) {}

#[cfg(test)]
mod tests {
    //! What is kept, and after which failures RocksDB goes on.
    use super::*;

    #[test]
    fn only_a_compaction_that_met_damage_is_passed_over() {
        let events = Events::default();
        assert!(events.note(COMPACTION, "Corruption: block checksum mismatch".to_owned()));
        assert!(!events.note(COMPACTION, "IO error: No space left on device: x".to_owned()));
        assert!(!events.note(0, "IO error: x".to_owned()));
        assert!(!events.note(WRITE, "IO error: y".to_owned()));
        assert!(events.flush_failed());
        let works: Vec<_> = events.take().iter().map(|failure| failure.work).collect();
        assert_eq!(works, [Work::Compaction, Work::Compaction, Work::Flush, Work::Log]);
        assert!(events.take().is_empty());
    }

    #[test]
    fn what_comes_again_is_kept_once_and_never_much_is_kept() {
        let events = Events::default();
        for number in 0..100 {
            events.note(COMPACTION, format!("Corruption: {}", number / 2));
        }
        let kept = events.take();
        assert_eq!(kept.len(), KEPT_MAX);
        assert_eq!(kept.last().map(|last| last.text.as_str()), Some("Corruption: 49"));
    }
}
