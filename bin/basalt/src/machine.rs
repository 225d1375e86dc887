//! What the machine, or the container, offers: memory and cores. Reads files of Linux; knows no setting.

use std::fs;
use std::thread::available_parallelism;

use basalt_node::config::settings::Machine;
use basalt_node::config::sizing::{default_memory, machine_memory};

/// When nothing tells how much memory there is.
const UNKNOWN_MEMORY_BYTES: u64 = 1 << 30;

/// What this process may use.
pub fn this() -> Machine {
    let read = |path: String| fs::read_to_string(path).ok();
    let own = read("/proc/self/cgroup".to_owned()).unwrap_or_default();
    let limits: Vec<String> = limit_files(&own).into_iter().filter_map(read).collect();
    let meminfo = read("/proc/meminfo".to_owned()).unwrap_or_default();
    let memory_bytes = machine_memory(&limits, &meminfo).unwrap_or(UNKNOWN_MEMORY_BYTES);
    Machine {
        memory_bytes: default_memory(memory_bytes),
        cores: available_parallelism().map_or(1, usize::from),
    }
}

/// Files that may hold a limit: of the process's control group and those around it (version 2), and
/// of the container's (version 1).
fn limit_files(own_groups: &str) -> Vec<String> {
    let mut files = vec!["/sys/fs/cgroup/memory/memory.limit_in_bytes".to_owned()];
    let own = own_groups.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/");
    let mut group = own.trim_end_matches('/');
    loop {
        files.push(format!("/sys/fs/cgroup{group}/memory.max"));
        match group.rsplit_once('/') {
            Some((parent, _)) => group = parent,
            None => return files,
        }
    }
}

/// This container's address, as the official image finds it: what its host name means in `/etc/hosts`.
pub fn own_address() -> String {
    let name = fs::read_to_string("/etc/hostname").unwrap_or_default();
    let hosts = fs::read_to_string("/etc/hosts").unwrap_or_default();
    address_in(&hosts, name.trim()).unwrap_or_else(|| "127.0.0.1".to_owned())
}

fn address_in(hosts: &str, name: &str) -> Option<String> {
    hosts.lines().find_map(|line| {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let address = words.next()?;
        words.any(|word| word == name).then(|| address.to_owned())
    })
}

#[cfg(test)]
mod tests {
    //! Texts as Linux shows them.
    use super::*;

    #[test]
    fn the_groups_around_a_process_are_asked_too() {
        assert_eq!(
            limit_files("0::/system.slice/basalt.service\n"),
            [
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "/sys/fs/cgroup/system.slice/basalt.service/memory.max",
                "/sys/fs/cgroup/system.slice/memory.max",
                "/sys/fs/cgroup/memory.max",
            ]
        );
        assert_eq!(limit_files("0::/\n")[1..], ["/sys/fs/cgroup/memory.max"]);
    }

    #[test]
    fn a_container_finds_its_address_by_its_name() {
        let hosts = "127.0.0.1 localhost\n172.17.0.3\t8f1c2d # it\n";
        assert_eq!(address_in(hosts, "8f1c2d").as_deref(), Some("172.17.0.3"));
        assert_eq!(address_in(hosts, "other"), None);
    }
}
