//! Values of the files of the kernel, in thousandths. The files of the own control group come first.

use crate::model::capacity::Readings;

/// Mount point of version 2 of control groups.
const UNIFIED: &str = "/sys/fs/cgroup";

/// Everything that can be read. `read` gives the text of a file; `processors` is the number by which the load is divided.
pub(super) fn all(read: &dyn Fn(&str) -> Option<String>, processors: usize) -> Readings {
    let own = own_group(read);
    let pressure = |what: &str| {
        let of_group = own.as_ref().and_then(|group| read(&format!("{group}/{what}.pressure")));
        of_group.or_else(|| read(&format!("/proc/pressure/{what}"))).as_deref().and_then(some_avg10)
    };
    let host = read("/proc/meminfo").as_deref().and_then(available);
    let group = own.as_ref().and_then(|group| left_in_group(group, read));
    Readings {
        pressure_cpu: pressure("cpu"),
        pressure_memory: pressure("memory"),
        pressure_io: pressure("io"),
        load: read("/proc/loadavg").as_deref().and_then(|text| load(text, processors)),
        // A group without a limit of its own has no value here. A group with a limit may still be on a host whose memory is
        // full.
        memory: group.into_iter().chain(host).min(),
    }
}

/// The folder of the control group of this process; `None` in the root group, which is the host.
fn own_group(read: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let groups = read("/proc/self/cgroup")?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?.trim_end_matches('/');
    (!path.is_empty() && !path.contains("/../")).then(|| format!("{UNIFIED}{path}"))
}

/// `some avg10=1.53 avg60=…` of a pressure file.
fn some_avg10(text: &str) -> Option<u32> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    thousandths(line.split(' ').find_map(|part| part.strip_prefix("avg10="))?)
}

/// The first number of `/proc/loadavg`, for each processor.
fn load(text: &str, processors: usize) -> Option<u32> {
    let all = thousandths(text.split(' ').next()?)?;
    Some(all / u32::try_from(processors.max(1)).ok()?)
}

/// `MemAvailable` of `MemTotal` of `/proc/meminfo`, as a percentage.
fn available(text: &str) -> Option<u32> {
    let of = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().split(' ').next()?.parse::<u64>().ok()
    };
    share(of("MemAvailable:")?, of("MemTotal:")?)
}

/// Share of the memory limit of a control group that is left, as a percentage. Pages of files that are not in use now count
/// as left.
fn left_in_group(group: &str, read: &dyn Fn(&str) -> Option<String>) -> Option<u32> {
    let number = |name: &str| read(&format!("{group}/{name}"))?.trim().parse::<u64>().ok();
    let (max, current) = (number("memory.max")?, number("memory.current")?);
    let stat = read(&format!("{group}/memory.stat")).unwrap_or_default();
    let cached = stat.lines().find_map(|line| line.strip_prefix("inactive_file ")?.trim().parse::<u64>().ok());
    let used = current.saturating_sub(cached.unwrap_or(0));
    share(max.saturating_sub(used), max)
}

fn share(part: u64, whole: u64) -> Option<u32> {
    u32::try_from(u128::from(part) * 100_000 / u128::from(whole.max(1))).ok()
}

/// Count of the numbers in a list of the kernel, e.g. 5 for `0-3,8`.
pub(super) fn count_of(list: &str) -> Option<u32> {
    let count = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        last.parse::<u32>().ok()?.checked_sub(first.parse().ok()?)?.checked_add(1)
    };
    list.trim().split(',').try_fold(0_u32, |sum, range| sum.checked_add(count(range)?))
}

/// A decimal number of the kernel in thousandths.
fn thousandths(text: &str) -> Option<u32> {
    let (whole, decimals) = text.trim().split_once('.').unwrap_or((text.trim(), "0"));
    let decimals: String = format!("{decimals:0<3}").chars().take(3).collect();
    whole.parse::<u32>().ok()?.checked_mul(1000)?.checked_add(decimals.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: [(&str, &str); 6] = [
        ("/proc/self/cgroup", "0::/\n"),
        ("/proc/pressure/cpu", "some avg10=12.34 avg60=1.00 avg300=0.00 total=1\n"),
        ("/proc/pressure/memory", "some avg10=0.00 avg60=0.00\nfull avg10=9.00\n"),
        ("/proc/pressure/io", "some avg10=100.00 avg60=0\n"),
        ("/proc/loadavg", "3.01 2.00 1.00 1/100 12345\n"),
        ("/proc/meminfo", "MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    255 kB\n"),
    ];

    fn of(files: &[(&str, &str)]) -> Readings {
        let read = |path: &str| files.iter().rev().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
        all(&read, 2)
    }

    #[test]
    fn the_host_is_read_where_there_is_no_group() {
        let wanted = Readings {
            pressure_cpu: Some(12_340),
            pressure_memory: Some(0),
            pressure_io: Some(100_000),
            load: Some(1505),
            memory: Some(25_500),
        };
        assert_eq!(of(&HOST), wanted);
    }

    #[test]
    fn the_own_group_comes_first_for_pressure_and_the_tighter_one_for_memory() {
        let mut files = HOST.to_vec();
        files.extend([
            ("/proc/self/cgroup", "1:name=systemd:/x\n0::/a.slice/b.scope\n"),
            ("/sys/fs/cgroup/a.slice/b.scope/cpu.pressure", "some avg10=1.5 avg60=0\n"),
            ("/sys/fs/cgroup/a.slice/b.scope/memory.max", "1000\n"),
            ("/sys/fs/cgroup/a.slice/b.scope/memory.current", "950\n"),
            ("/sys/fs/cgroup/a.slice/b.scope/memory.stat", "anon 1\ninactive_file 50\n"),
        ]);
        let read = of(&files);
        assert_eq!((read.pressure_cpu, read.pressure_io, read.memory), (Some(1500), Some(100_000), Some(10_000)));
        files.push(("/sys/fs/cgroup/a.slice/b.scope/memory.max", "max\n"));
        assert_eq!(of(&files).memory, Some(25_500));
    }

    #[test]
    fn a_list_of_processors_is_counted() {
        for (list, count) in [("0\n", Some(1)), ("0-3,8\n", Some(5)), ("0-1,4-7,9", Some(7)), ("", None), ("3-1", None)]
        {
            assert_eq!(count_of(list), count, "{list:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_known() {
        assert_eq!(of(&[]), Readings::default());
        let odd = [("/proc/loadavg", ""), ("/proc/meminfo", "MemTotal: x"), ("/proc/pressure/cpu", "full avg10=1")];
        assert_eq!(of(&odd), Readings::default());
    }

    #[test]
    fn this_host_is_read() {
        use crate::os::Gauges;
        let read = crate::os::real::gauges::RealGauges.readings();
        assert!(read.memory.is_some_and(|share| share <= 100_000));
        assert!(read.load.is_some());
    }
}
