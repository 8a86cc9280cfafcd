//! The memory limit of the control groups of this process: cgroup v2 (`memory.max`), else v1 (cgroups(7)).

use crate::os::real::process::procfs;

/// Mount point of version 2.
const UNIFIED: &str = "/sys/fs/cgroup";
/// Mount point of the memory controller of version 1.
const MEMORY: &str = "/sys/fs/cgroup/memory";

/// The least memory limit from the group of this process up to the root, in bytes. `None` if no
/// limit is set or can be read.
pub(crate) fn memory_max() -> Option<u64> {
    let text = String::from_utf8(procfs::small("/proc/self/cgroup")?).ok()?;
    least(&text, &|path| String::from_utf8(procfs::small(path)?).ok())
}

fn least(groups: &str, read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let of_controller = |line: &str| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers.split(',').any(|name| name == "memory").then(|| path.to_owned())
    };
    let (mount, path, file) = match groups.lines().find_map(of_controller) {
        Some(path) => (MEMORY, path, "memory.limit_in_bytes"),
        None => (UNIFIED, groups.lines().find_map(|line| line.strip_prefix("0::"))?.to_owned(), "memory.max"),
    };
    let mut path = path.trim_end_matches('/');
    let mut least = None;
    loop {
        let number = read(&format!("{mount}{path}/{file}")).and_then(|text| text.trim().parse::<u64>().ok());
        // Version 1 writes "no limit" as the largest number of pages.
        least = least.into_iter().chain(number.filter(|bytes| *bytes < 1 << 62)).min();
        match path.rsplit_once('/') {
            Some((parent, _)) => path = parent,
            None => return least,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn least_of(groups: &str, files: &[(&str, &str)]) -> Option<u64> {
        let read = |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
        least(groups, &read)
    }

    #[test]
    fn the_least_limit_on_the_way_up_counts() {
        let files = [
            ("/sys/fs/cgroup/a.slice/b.scope/memory.max", "max\n"),
            ("/sys/fs/cgroup/a.slice/memory.max", "1000\n"),
            ("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9223372036854771712\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "5000\n"),
        ];
        assert_eq!(least_of("0::/a.slice/b.scope\n", &files), Some(1000));
        assert_eq!(least_of("0::/\n", &files), None);
        assert_eq!(least_of("5:cpu:/\n4:memory:/box\n0::/a.slice\n", &files), Some(5000));
        assert_eq!(least_of("", &files), None);
        assert_eq!(least_of("0::/../outside\n", &[]), None);
    }
}
