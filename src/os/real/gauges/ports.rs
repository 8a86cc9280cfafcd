//! Whether a TCP port is in use, and by whom.

use crate::os::Port;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

/// Sockets in this state listen (`include/net/tcp_states.h`).
const LISTENS: &str = "0A";

/// Tries both families: a listener on one address of one family already blocks a user of the port.
pub(super) fn look(port: u16) -> Port {
    let any: [SocketAddr; 2] = [(Ipv6Addr::UNSPECIFIED, port).into(), (Ipv4Addr::UNSPECIFIED, port).into()];
    let refused = any.iter().any(|address| match TcpListener::bind(address) {
        Ok(_) => false,
        // Other accounts cannot try a low port of root, and a host may have one family only.
        Err(error) => error.kind() == ErrorKind::AddrInUse,
    });
    let is_low = port < 1024 && listening_inode(port).is_some();
    if refused || is_low { Port::Used(listening_inode(port).and_then(owner)) } else { Port::Free }
}

/// The inode of a socket that listens on a port.
fn listening_inode(port: u16) -> Option<u64> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().filter_map(|path| std::fs::read_to_string(path).ok());
    tables.into_iter().find_map(|table| inode_in(&table, port))
}

/// A line is `sl: local_address rem_address st …`, and the tenth word is the inode; addresses are in hexadecimal digits.
fn inode_in(table: &str, port: u16) -> Option<u64> {
    table.lines().skip(1).find_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let (_, digits) = words.get(1)?.rsplit_once(':')?;
        let is_it = u16::from_str_radix(digits, 16).ok()? == port && *words.get(3)? == LISTENS;
        if is_it { words.get(9)?.parse().ok() } else { None }
    })
}

/// A process that has a socket open, among those whose descriptors this account may see.
fn owner(inode: u64) -> Option<u32> {
    let wanted = format!("socket:[{inode}]");
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.into_iter().find(|pid| {
        let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        descriptors
            .into_iter()
            .any(|fd| std::fs::read_link(fd.path()).is_ok_and(|link| link.to_str() == Some(wanted.as_str())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_somebody_listens_on_is_used_and_says_by_whom() {
        for address in [SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), SocketAddr::from((Ipv6Addr::LOCALHOST, 0))] {
            // A host may have one family only.
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let port = listener.local_addr().expect("an address").port();
            assert_eq!(look(port), Port::Used(Some(std::process::id())), "{address}");
            drop(listener);
            // A process that another test starts has the socket until its execve(2).
            let is_free = (0..500).any(|_| {
                let is_free = look(port) == Port::Free;
                if !is_free {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                is_free
            });
            assert!(is_free, "{address}");
        }
    }

    #[test]
    fn only_a_socket_that_listens_counts() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             0: 0100007F:0FA0 0100007F:9999 01 00000000:00000000 00:00000000 00000000  1000        0 11 1 x\n\
             1: 0100007F:0FA0 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 22 1 x\n\
             odd line\n";
        assert_eq!((inode_in(table, 4000), inode_in(table, 4001), inode_in("", 1)), (Some(22), None, None));
    }
}
