//! Accounts: `/etc/passwd` and `/etc/group`, and the answers of getent(1) for those that are stored elsewhere (LDAP,
//! systemd-userdbd).
//!
//! The C library is not asked. For sources other than files it loads modules of its own version. In a program that is linked
//! statically it loads them beside itself, and after an upgrade of the host they do not fit (nss(5), getpwnam(3)). The reason
//! for the static link: docs/decisions/070-static-link.md.

use crate::os::is_shortage;
use crate::os::real::process::program::named;
use crate::os::real::process::run_capture::ask;
use rustix::process::getuid;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Time that getent(1) has for all questions of one look-up: a directory of the network may not answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The sources of nsswitch.conf(5) that this host answers by itself: an account that they do not know does not exist.
/// ("compat" may include others; a service behind "systemd" that is down looks like one without the account.)
const LOCAL: [&str; 6] = ["files", "compat", "systemd", "db", "altfiles", "extrausers"];

/// The places where accounts are stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources<'a> {
    passwd: &'a Path,
    group: &'a Path,
    /// nsswitch.conf(5): the other places where accounts may be stored.
    switch: &'a Path,
    /// The first getent(1) of these that exists is asked for entries that the files do not hold. It is not searched in
    /// `PATH`, which the caller chose.
    programs: &'a [&'a str],
    /// The end of the wait for it.
    until: Instant,
}

/// Those of this host, for one look-up. NixOS has its programs elsewhere.
pub(crate) fn host() -> Sources<'static> {
    Sources {
        passwd: Path::new("/etc/passwd"),
        group: Path::new("/etc/group"),
        switch: Path::new("/etc/nsswitch.conf"),
        programs: &["/usr/bin/getent", "/bin/getent", "/run/current-system/sw/bin/getent"],
        until: Instant::now() + PATIENCE,
    }
}

/// The name of an account of this host, where it has one; an error where it cannot be looked up.
pub fn account_name(uid: u32) -> io::Result<Option<String>> {
    Ok(host().with_uid(uid)?.map(|account| account.name))
}

/// The home of the account that called this program, where it has one; an error where it cannot be looked up.
pub fn account_home() -> io::Result<Option<PathBuf>> {
    Ok(host().with_uid(getuid().as_raw())?.map(|account| account.home))
}

/// The home of an account, where there is one of that name.
pub fn home_of(name: &str) -> io::Result<Option<PathBuf>> {
    Ok(host().with_name(name)?.map(|account| account.home))
}

/// An entry of passwd(5).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Account {
    pub(crate) name: String,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) home: PathBuf,
}

impl Sources<'_> {
    pub(crate) fn with_uid(&self, uid: u32) -> io::Result<Option<Account>> {
        self.account(&uid.to_string(), |account| account.uid == uid)
    }

    pub(crate) fn with_name(&self, name: &str) -> io::Result<Option<Account>> {
        self.account(name, |account| account.name == name)
    }

    /// The groups of an account, its own first, as getgrouplist(3) gives them.
    pub(crate) fn groups_of(&self, account: &Account) -> io::Result<Vec<u32>> {
        let mut groups = vec![account.gid];
        // The groups of an account of the files may be written elsewhere (nsswitch.conf(5), "initgroups").
        groups.extend(match self.getent("initgroups", &account.name)? {
            Some(text) => numbers_after(&text, &account.name).ok_or_else(|| unreadable(&account.name, &text))?,
            None => groups_with(&read(self.group)?, &account.name),
        });
        let mut seen = std::collections::BTreeSet::new();
        groups.retain(|group| seen.insert(*group));
        Ok(groups)
    }

    fn account(&self, key: &str, is_it: impl Fn(&Account) -> bool) -> io::Result<Option<Account>> {
        let find = |text: &[u8]| accounts(text).find(&is_it);
        let passwd = read(self.passwd)?;
        if let Some(account) = find(&passwd) {
            return Ok(Some(account));
        }
        // No account has such a name, and getent(1) would read it as an option.
        if key.starts_with('-') {
            return Ok(None);
        }
        match self.getent("passwd", key)? {
            // Checked like the file: getent(1) takes digits for a uid, even if they were meant as a name.
            Some(text) => Ok(find(&text)),
            None => self.elsewhere(&passwd)?.map_or(Ok(None), |source| Err(unreachable(key, &source))),
        }
    }

    /// A source of accounts that may not have answered: getent(1) reports "not found" also if a directory service is down.
    /// "compat" counts as such a source if a line of the file includes other sources (`+`). `None` if every source is local.
    fn elsewhere(&self, passwd: &[u8]) -> io::Result<Option<String>> {
        let includes = passwd.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"+"));
        let is_local = |source: &str| LOCAL.contains(&source) && !(includes && source == "compat");
        let text = read(self.switch)?;
        Ok(sources(&String::from_utf8_lossy(&text)).find(|source| !is_local(source)).map(str::to_owned))
    }

    /// The answer of getent(1). Nothing where it is not installed, or does not know the key or the database. A shortage of
    /// the host stays a shortage ([`is_shortage`]).
    fn getent(&self, database: &str, key: &str) -> io::Result<Option<Vec<u8>>> {
        const UNKNOWN_DATABASE: i32 = 1;
        const NOT_FOUND: i32 = 2;
        let Some(program) = self.programs.iter().find(|path| Path::new(path).exists()) else { return Ok(None) };
        let question = format!("{program} {database} {key:?}");
        let asked = ask(Command::new(program).args([database, key]).env_clear(), self.until);
        let (status, answer) =
            asked.map_err(|error| if is_shortage(&error) { error } else { named(error, &question) })?;
        match status.code() {
            Some(0) if answer.is_empty() => Err(io::Error::other(format!("{question} says nothing"))),
            Some(0) => Ok(Some(answer)),
            Some(UNKNOWN_DATABASE | NOT_FOUND) => Ok(None),
            _ => Err(io::Error::other(format!("{question} failed: {status}"))),
        }
    }
}

/// A file that is not there has no entries.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match std::fs::File::open(path) {
        Ok(mut file) => file.read_to_end(&mut bytes).map(|_| bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(bytes),
        Err(error) => Err(error),
    }
}

/// The sources of accounts in nsswitch.conf(5): `passwd: files [NOTFOUND=return] sss # comment`.
fn sources(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter_map(|line| {
            let (database, rest) = line.trim_start().split_once([':', ' ', '\t'])?;
            (database == "passwd").then(|| rest.split('#').next().unwrap_or_default())
        })
        // The brackets hold the action for a result.
        .flat_map(|line| line.split('[').map(|part| part.rsplit(']').next().unwrap_or_default()))
        .flat_map(|part| part.split([':', ' ', '\t']))
        .filter(|source| !source.is_empty())
}

/// The fields of each entry of passwd(5) or group(5). Lines without a name are no entries. Nor are the lines by which old
/// hosts include other sources (`+`, `-`).
fn entries(text: &[u8]) -> impl Iterator<Item = Vec<&[u8]>> {
    let lines = text
        .split(|byte| *byte == b'\n')
        .filter(|line| !matches!(line.first(), None | Some(b':' | b'+' | b'-' | b'#')));
    lines.map(|line| line.split(|byte| *byte == b':').collect())
}

/// `name:password:uid:gid:comment:home:shell`.
fn accounts(text: &[u8]) -> impl Iterator<Item = Account> {
    entries(text).filter_map(|fields| {
        let [name, _, uid, gid, _, home, ..] = fields[..] else { return None };
        let name = std::str::from_utf8(name).ok()?.to_owned();
        let home = PathBuf::from(OsString::from_vec(home.to_vec()));
        Some(Account { name, uid: number(uid)?, gid: number(gid)?, home })
    })
}

/// The groups, `name:password:gid:members`, that list an account.
fn groups_with(text: &[u8], account: &str) -> Vec<u32> {
    let gid = |fields: Vec<&[u8]>| {
        let [_, _, gid, members] = fields[..] else { return None };
        let mut members = members.split(|byte| *byte == b',');
        members.any(|member| member.trim_ascii_start() == account.as_bytes()).then(|| number(gid)).flatten()
    };
    entries(text).filter_map(gid).collect()
}

/// `name gid gid ...`, with blanks between them.
fn numbers_after(text: &[u8], name: &str) -> Option<Vec<u32>> {
    let text = std::str::from_utf8(text).ok()?;
    let rest = text.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n']))?;
    rest.split_ascii_whitespace().map(|word| number(word.as_bytes())).collect()
}

/// The error for an entry that `source` cannot give now, and may give later.
fn unreachable(key: &str, source: &str) -> io::Error {
    let why = "whether the entry is absent or the source did not answer cannot be told";
    let text = format!("getent finds no account {key:?}, and \"{source}\" of /etc/nsswitch.conf is elsewhere: {why}");
    io::Error::new(io::ErrorKind::HostUnreachable, text)
}

fn unreadable(account: &str, text: &[u8]) -> io::Error {
    let text = String::from_utf8_lossy(text);
    io::Error::other(format!("what getent says of the groups of {account:?} does not read: {text:?}"))
}

/// Parses a uid or gid: digits only. Refuses 4294967295, which chown(2) reads as "no change".
fn number(bytes: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    text.parse().ok().filter(|number| *number != u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\n+@admins::::::\n-mallory:x:1:1::/:\nshort:x:7:7\n\
                          big:x:4294967295:5::/:\nword:x:+8:8::/:\nann:x:1000:1000:Ann,,,:/home/ann:/bin/sh\n\
                          second:x:1000:1001::/home/second:/bin/sh";
    const GROUP: &str = "adm:x:4:syslog,ann\nann:x:1000:\nusers:x:100:bob,annabel\ndocker:x:999: ann\n\
                         +wheel:x:10:ann\nbad:x:y:ann\nagain:x:4:ann\n\
                         blank:x:11:ann \ncarriage:x:12:ann\r\n";

    /// Files with these entries, and getent as a script whose text this is.
    fn on_a_host<T>(getent: Option<&str>, test: impl FnOnce(Sources) -> io::Result<T>) -> io::Result<T> {
        on_a_host_with("passwd: files systemd\n", getent, test)
    }

    fn on_a_host_with<T>(
        sources: &str,
        getent: Option<&str>,
        test: impl FnOnce(Sources) -> io::Result<T>,
    ) -> io::Result<T> {
        let dir = tempfile::tempdir()?;
        let [passwd, group, switch, program] =
            ["passwd", "group", "switch", "getent"].map(|name| dir.path().join(name));
        std::fs::write(&passwd, PASSWD)?;
        std::fs::write(&group, GROUP)?;
        std::fs::write(&switch, sources)?;
        if let Some(text) = getent {
            // A process of its own writes the program. If this process had it open for writing, a start in another thread
            // would inherit the descriptor for an instant, and the kernel executes no file that is open for writing.
            let mut made = Command::new("sh");
            made.args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 755 \"$0\""]).arg(&program).arg(text);
            assert!(made.status()?.success());
        }
        let program = program.to_str().ok_or(io::ErrorKind::InvalidInput)?;
        let programs: &[&str] = &["/no/such/getent", program];
        let until = Instant::now() + Duration::from_secs(5);
        test(Sources { passwd: &passwd, group: &group, switch: &switch, programs, until })
    }

    fn ann() -> Account {
        Account { name: "ann".to_owned(), uid: 1000, gid: 1000, home: PathBuf::from("/home/ann") }
    }

    #[test]
    fn an_account_of_the_file_is_found_without_asking() -> io::Result<()> {
        on_a_host(Some("kill -9 $$"), |host| {
            assert_eq!(host.with_name("ann")?, Some(ann()));
            assert_eq!(host.with_uid(1000)?, Some(ann()), "the first of two with one uid");
            assert_eq!(host.with_uid(0)?.map(|account| account.name).as_deref(), Some("root"));
            Ok(())
        })
    }

    #[test]
    fn what_is_no_entry_is_no_account() -> io::Result<()> {
        on_a_host(None, |host| {
            for name in ["", "+@admins", "-mallory", "mallory", "short", "big", "word", "an", "annabel", "Ann,,,"] {
                assert_eq!(host.with_name(name)?, None, "{name}");
            }
            for uid in [1, 7, 8, u32::MAX] {
                assert_eq!(host.with_uid(uid)?, None, "{uid}");
            }
            Ok(())
        })
    }

    #[test]
    fn an_account_that_stands_elsewhere_is_asked_for() -> io::Result<()> {
        let script = "test \"$#-$1-$3$4\" = 2-passwd- || exit 99; test \"$2\" = eve -o \"$2\" = 2000 || exit 2\n\
                      echo 'eve:*:2000:2000:Eve:/net/eve:/bin/sh'";
        let home = PathBuf::from("/net/eve");
        let eve = Account { name: "eve".to_owned(), uid: 2000, gid: 2000, home };
        on_a_host(Some(script), |host| {
            assert_eq!(host.with_name("eve")?, Some(eve.clone()));
            assert_eq!(host.with_uid(2000)?, Some(eve));
            // getent(1) takes digits for a uid.
            assert_eq!(host.with_name("2000")?, None);
            assert_eq!(host.with_name("zoe")?, None);
            Ok(())
        })
    }

    #[test]
    fn what_getent_was_not_asked_for_is_not_believed_and_options_are_not_handed_to_it() -> io::Result<()> {
        on_a_host(Some("echo 'eve:*:2000:2000:Eve:/net/eve:/bin/sh'"), |host| {
            assert_eq!(host.with_name("mallory")?, None);
            assert_eq!(host.with_uid(2001)?, None);
            Ok(())
        })?;
        on_a_host(Some("echo \"$2:*:2000:2000::/:\""), |host| {
            assert_eq!(host.with_name("--help")?, None);
            assert_eq!(host.with_name("")?, None);
            assert!(host.with_name("mallory")?.is_some());
            Ok(())
        })
    }

    #[test]
    fn a_getent_that_fails_is_an_error_and_not_an_absent_account() -> io::Result<()> {
        for failing in ["exit 3", "kill -9 $$", "exit 0"] {
            on_a_host(Some(failing), |host| {
                assert!(host.with_name("eve").is_err(), "{failing}");
                assert!(host.groups_of(&ann()).is_err(), "{failing}");
                Ok(())
            })?;
        }
        Ok(())
    }

    #[test]
    fn who_is_not_found_where_a_directory_may_be_down_is_not_absent() -> io::Result<()> {
        for sources in [
            "passwd:files sss",
            "group: files\n  passwd : ldap files # here\n",
            "passwd: files [NOTFOUND=continue] [!UNAVAIL = return]nis",
            "passwd: winbind[ SUCCESS=return ]",
            "passwd files sss",
            "passwd: compat",
        ] {
            for getent in [Some("exit 2"), Some("exit 1"), None] {
                on_a_host_with(sources, getent, |host| {
                    let error = host.with_name("eve").expect_err(sources);
                    assert_eq!(error.kind(), io::ErrorKind::HostUnreachable, "{error}");
                    assert!(host.with_uid(2000).is_err(), "{sources}");
                    assert_eq!(host.with_name("-x")?, None);
                    assert_eq!(host.with_name("ann")?, Some(ann()));
                    Ok(())
                })?;
            }
        }
        for sources in
            ["", "passwd: files [UNAVAIL=return sss] systemd", "#passwd: sss", "passwd_compat: nis\ngroup: sss"]
        {
            on_a_host_with(sources, Some("exit 2"), |host| {
                assert_eq!(host.with_name("eve")?, None, "{sources}");
                let bare = Sources { switch: Path::new("/no/such/file"), ..host };
                assert_eq!(bare.with_uid(2000)?, None);
                Ok(())
            })?;
        }
        Ok(())
    }

    #[test]
    fn a_getent_that_does_not_answer_is_waited_for_with_patience_only() -> io::Result<()> {
        // It leaves a process behind that keeps its output.
        let begin = Instant::now();
        on_a_host(Some("sleep 20 & exit 2"), |host| host.with_name("eve").map(|found| assert_eq!(found, None)))?;
        assert!(begin.elapsed() < Duration::from_secs(10));
        on_a_host(Some("sleep 600"), |host| {
            let hasty = Sources { until: Instant::now() + Duration::from_millis(100), ..host };
            let error = hasty.with_name("eve").expect_err("nobody answers");
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            Ok(())
        })
    }

    #[test]
    fn groups_come_from_getent_or_from_the_file_and_the_own_one_is_among_them() -> io::Result<()> {
        let groups = |getent| on_a_host(getent, |host| host.groups_of(&ann()));
        assert_eq!(groups(None)?, [1000, 4, 999]);
        assert_eq!(groups(Some("exit 1"))?, [1000, 4, 999]);
        for unreadable in ["echo ann7 50", "echo ann 50 x", "echo"] {
            assert!(groups(Some(unreadable)).is_err(), "{unreadable}");
        }
        let told = "test \"$*\" = 'initgroups ann' || exit 99; echo 'ann                   50 1000 60 50'";
        assert_eq!(groups(Some(told))?, [1000, 50, 60]);
        assert_eq!(groups(Some("echo ann"))?, [1000]);
        Ok(())
    }

    #[test]
    fn the_accounts_of_this_host_have_the_groups_that_the_c_library_says() -> io::Result<()> {
        let text = read(host().passwd)?;
        for account in accounts(&text) {
            let name = std::ffi::CString::new(account.name.as_str())?;
            let known = nix::unistd::getgrouplist(&name, nix::unistd::Gid::from_raw(account.gid))?;
            let mut known: Vec<u32> = known.into_iter().map(nix::unistd::Gid::as_raw).collect();
            let mut found = host().groups_of(&account)?;
            known.sort_unstable();
            known.dedup();
            found.sort_unstable();
            assert_eq!(found, known, "{account:?}");
        }
        Ok(())
    }
}
