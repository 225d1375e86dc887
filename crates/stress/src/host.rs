//! What machine this is, by name, for the document of a run: a figure without it means little.
//! Reads files of Linux; what cannot be read is left out.

use std::collections::BTreeMap;
use std::fs;

/// Kernel, processor, cores, governor, memory.
pub fn facts() -> BTreeMap<String, String> {
    let line = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let field = |path: &str, name: &str| {
        let text = fs::read_to_string(path).ok()?;
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'))?;
        Some(value.trim().to_owned())
    };
    let facts = [
        ("kernel", line("/proc/sys/kernel/osrelease")),
        ("name", line("/proc/sys/kernel/hostname")),
        ("processor", field("/proc/cpuinfo", "model name")),
        ("cores", std::thread::available_parallelism().ok().map(|cores| cores.to_string())),
        ("governor", line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        ("memory", field("/proc/meminfo", "MemTotal")),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
