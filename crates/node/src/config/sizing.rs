//! One number in, everything sized out: how much memory the node may use, and what of it the engine
//! and requests in flight get. Knows no file and no machine: `bin/basalt`
//! looks those up.

/// Below this a node does not run well enough to be worth starting, bytes.
pub const MEMORY_MIN_BYTES: u64 = 64 << 20;

/// The part of the machine's (or container's) memory a node takes when nobody says: a half. The rest
/// is the page cache's, which holds the table files once more.
pub const DEFAULT_SHARE_OF_MACHINE: u64 = 2;

/// What each consumer gets of the memory number. The rest is for connections, plans and the process
/// itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizing {
    /// The number itself, bytes.
    pub memory_bytes: u64,
    /// The engine, which divides it between block cache and memtables: three quarters.
    pub engine_bytes: u64,
    /// Requests in flight in all: a tenth, as Cassandra takes of its heap.
    pub in_flight_bytes: u64,
    /// Requests in flight from one address: a fortieth.
    pub in_flight_per_ip_bytes: u64,
    /// Prepared statements: 1/256, at least 10 MiB, as Cassandra takes of its heap.
    pub prepared_statements_bytes: u64,
    /// Counts of counters that are remembered: a fortieth, at most 50 MiB, as Cassandra takes of its heap.
    pub counter_cache_bytes: u64,
}

impl Sizing {
    /// Sizes everything from one number.
    pub fn from_memory(memory_bytes: u64) -> Sizing {
        let memory_bytes = memory_bytes.max(MEMORY_MIN_BYTES);
        Sizing {
            memory_bytes,
            engine_bytes: memory_bytes / 4 * 3,
            in_flight_bytes: memory_bytes / 10,
            in_flight_per_ip_bytes: memory_bytes / 40,
            prepared_statements_bytes: (memory_bytes / 256).max(10 << 20),
            counter_cache_bytes: (memory_bytes / 40).min(50 << 20),
        }
    }
}

/// The default for a machine of that memory, bytes.
pub fn default_memory(machine_bytes: u64) -> u64 {
    (machine_bytes / DEFAULT_SHARE_OF_MACHINE).max(MEMORY_MIN_BYTES)
}

/// `1536` as `1.5 KiB`, for people.
pub fn human(bytes: u64) -> String {
    let units = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    for (name, size) in units {
        if bytes >= size {
            let tenths = bytes / (size / 10);
            let (whole, tenth) = (tenths / 10, tenths % 10);
            return if whole >= 100 || tenth == 0 {
                format!("{whole} {name}")
            } else {
                format!("{whole}.{tenth} {name}")
            };
        }
    }
    format!("{bytes} B")
}

/// A container limit or machine memory out of the texts Linux shows: the smallest limit counts
/// (cgroup v2 `memory.max`, v1 `memory.limit_in_bytes`, `/proc/meminfo`).
pub fn machine_memory(cgroup_limits: &[String], meminfo: &str) -> Option<u64> {
    let total = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok())
        .map(|kib| kib << 10);
    let limits = cgroup_limits.iter().filter_map(|text| text.trim().parse::<u64>().ok());
    limits.chain(total).min()
}
