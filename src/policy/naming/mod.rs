//! Lanes of things, mistakes in a command line, and parsers of addresses and of the files of git. Pure.
//!
//! `lane` and the functions beside it give the lane of a thing that was found: one thing has one lane, whatever path leads to it.
//! `nearest`, `is_shell_line` and `misplaced_option` see mistakes before a task is queued: a name that is almost another one, a
//! shell line as one word, an option behind the command. They take words, and return the probable meaning (issue rows of
//! `enqueue`). `database` finds the database that an address names. `gitdir`, `commondir`, `branch` and `remote_url` parse the
//! files of a git repository: `.git`, `commondir`, `HEAD` and `config`.

use crate::model::LaneName;
use crate::model::lane::LaneError;
use crate::model::name::{Name, hex};
use sha2::{Digest, Sha256};

/// Device and inode as 16 hex digits.
pub fn identity_text((device, inode): (u64, u64)) -> String {
    hex(&Sha256::digest(format!("{device}:{inode}"))[..8])
}

/// The lane of a directory of some kind.
pub fn of_directory(kind: &str, ident: (u64, u64)) -> Result<LaneName, LaneError> {
    lane(kind, &identity_text(ident))
}

/// The lane of a branch.
pub fn of_branch(remote: &str, branch: &str) -> Result<LaneName, LaneError> {
    lane("ref", &format!("{remote}#{branch}"))
}

/// The lane of a key that was made here.
pub fn lane(kind: &str, key: &str) -> Result<LaneName, LaneError> {
    LaneName::new(kind, Name::new(key)?)
}

/// Parses the number of a port: digits without a leading zero, from 1 to 65535.
pub fn port(text: &str) -> Option<u16> {
    let number: u16 = text.parse().ok()?;
    (number > 0 && number.to_string() == text).then_some(number)
}

/// The options of `enqueue` and `run` that few commands have, so that one behind the command is probably misplaced.
const TELLING_OPTIONS: &str = "--priority --after --on-conflict --start-within --retries --user --lane --thread --repo --tree --cwd \
    --grace --no-check --yield-after --result-file --group-output";

/// Character sequences with a meaning to a shell that are rare in the names of programs.
const SHELL_SIGNS: [&str; 7] = ["&&", "||", "|", ";", ">", "<", "$("];

/// The longest name that is compared: the comparison takes room for the product of both lengths.
const MOST_BYTES: usize = 64;

/// The name that is probably meant by `word`: the nearest of `known`, if the number of different letters is small enough for a
/// typing error. None if `word` itself is known.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best: Option<(usize, &str)> = None;
    for name in known {
        if name == word {
            return None;
        }
        if word.len() > MOST_BYTES || name.len() > MOST_BYTES {
            continue;
        }
        let distance = match name.eq_ignore_ascii_case(word) {
            true => 0,
            false => strsim::damerau_levenshtein(word, name),
        };
        // Names that end in different numbers are a series: agent-1 and agent-2 are two users.
        let is_series = without_number(word).is_some_and(|head| without_number(name) == Some(head));
        let letters = word.chars().count().min(name.chars().count());
        let allowed = if letters < 3 { 0 } else { letters.div_ceil(6).min(3) };
        if distance <= allowed && !is_series && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

fn without_number(name: &str) -> Option<&str> {
    let head = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (head.len() < name.len()).then_some(head)
}

/// Whether a command is one word that was probably meant for a shell, e.g. `'make && make install'`. Callers ask only about a
/// command that is not found.
pub fn is_shell_line(command: &[String]) -> bool {
    let [word] = command else { return false };
    word.contains(char::is_whitespace) || SHELL_SIGNS.iter().any(|sign| word.contains(sign))
}

/// The first option behind the command word that the command probably does not have.
pub fn misplaced_option(command: &[String]) -> Option<&str> {
    let arguments = command.iter().skip(1).take_while(|word| *word != "--");
    let name = |word: &'_ String| word.split_once('=').map_or(word.len(), |(name, _)| name.len());
    arguments.map(|word| &word[..name(word)]).find(|name| TELLING_OPTIONS.split(' ').any(|option| option == *name))
}

/// Whether a command that is not found looks like the rest of an option's value, as in `--timeout 10 minutes -- make`.
pub fn has_separator(command: &[String]) -> bool {
    command.iter().skip(1).any(|word| word == "--")
}

/// A database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Database {
    /// A database of a server, as `scheme://host:port/name`: without account, password and options.
    Server(String),
    /// A database in a file.
    File(String),
}

/// The usual ports of servers.
const PORTS: [(&str, &str); 6] = [
    ("postgres", "5432"),
    ("mysql", "3306"),
    ("mariadb", "3306"),
    ("redis", "6379"),
    ("mongodb", "27017"),
    ("sqlserver", "1433"),
];

/// Parses an address: a URL, or the path of a file. `None` if the address names nothing.
pub fn database(text: &str) -> Option<Database> {
    let Some((scheme, rest)) = text.split_once("://") else {
        let path = text.strip_prefix("sqlite:").or_else(|| text.strip_prefix("file:")).unwrap_or(text);
        return Some(path.split('?').next().unwrap_or(path)).filter(|path| !path.is_empty()).map(file);
    };
    let scheme = scheme.to_ascii_lowercase();
    let scheme = scheme.split('+').next().unwrap_or_default();
    let scheme = if scheme == "postgresql" { "postgres" } else { scheme };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    if ["sqlite", "sqlite3", "file"].contains(&scheme) {
        // `sqlite:///a.db` is relative and `sqlite:////a.db` is absolute; `file:///a.db` is absolute.
        let path = if scheme == "file" { rest } else { rest.strip_prefix('/').unwrap_or(rest) };
        return Some(path).filter(|path| !path.is_empty()).map(file);
    }
    let (server, name) = rest.split_once('/').unwrap_or((rest, ""));
    let server = server.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
    let (host, port) = match server.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => (host, Some(port)),
        _ => (server.as_str(), None),
    };
    let host = if ["", "127.0.0.1", "[::1]"].contains(&host) { "localhost" } else { host };
    let usual = PORTS.iter().find(|(known, _)| *known == scheme).map(|(_, port)| *port);
    let port = port.or(usual).map(|port| format!(":{port}")).unwrap_or_default();
    (!scheme.is_empty()).then(|| Database::Server(format!("{scheme}://{host}{port}/{}", name.trim_end_matches('/'))))
}

fn file(path: &str) -> Database {
    Database::File(path.to_owned())
}

/// The directory that a `.git` file names.
pub fn gitdir(text: &str) -> Option<&str> {
    text.strip_prefix("gitdir:").map(str::trim).filter(|path| !path.is_empty())
}

/// The directory that a `commondir` file names.
pub fn commondir(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|path| !path.is_empty())
}

/// The branch that `HEAD` names; `None` if `HEAD` is detached.
pub fn branch(head: &str) -> Option<&str> {
    let target = head.strip_prefix("ref:")?.trim();
    target.strip_prefix("refs/heads/").filter(|name| !name.is_empty())
}

/// The address of the remote of a branch: the remote that the configuration sets for the branch, or else `origin`, or else the
/// only remote.
pub fn remote_url(config: &str, branch: &str) -> Option<String> {
    let entries = entries(config);
    let last = |section: &str, name: &str, key: &str| {
        entries.iter().rfind(|one| one.section == section && one.name == name && one.key == key).map(|one| &one.value)
    };
    let urls: Vec<&Entry> = entries.iter().filter(|one| one.section == "remote" && one.key == "url").collect();
    let of_branch = last("branch", branch, "remote").and_then(|remote| last("remote", remote, "url"));
    let only = match urls.as_slice() {
        [one] => Some(&one.value),
        _ => None,
    };
    of_branch.or_else(|| last("remote", "origin", "url")).or(only).cloned()
}

struct Entry {
    section: String,
    name: String,
    key: String,
    value: String,
}

/// The entries of a configuration of git, without those of included files.
fn entries(config: &str) -> Vec<Entry> {
    let (mut section, mut name, mut found) = (String::new(), String::new(), Vec::new());
    for line in config.lines().map(str::trim) {
        if let Some(head) = line.strip_prefix('[').and_then(|rest| rest.rsplit_once(']')).map(|(head, _)| head) {
            let (word, quoted) = head.split_once(' ').unwrap_or((head, ""));
            section = word.to_ascii_lowercase();
            name = quoted.trim().trim_matches('"').replace("\\\"", "\"").replace("\\\\", "\\");
        } else if let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with(['#', ';'])) {
            let value = value.trim().trim_matches('"').to_owned();
            let key = key.trim().to_ascii_lowercase();
            found.push(Entry { section: section.clone(), name: name.clone(), key, value });
        }
    }
    found
}

/// Place of a remote.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Remote {
    /// On a host, as `host/path`.
    Host(String),
    /// In a directory of this host.
    Path(String),
}

/// Parses the address of a remote. Scheme, account, `.git` and a slash at the end do not count, so `git@example.org:a/b.git`
/// and `https://example.org/a/b` are one remote.
pub fn remote(url: &str) -> Remote {
    let (host, path) = match url.split_once("://") {
        Some(("file", path)) => return Remote::Path(path.to_owned()),
        Some((_, rest)) => rest.split_once('/').unwrap_or((rest, "")),
        // `host:path` of scp(1): the colon comes before any slash.
        None => match url.split_once(':') {
            Some((host, path)) if !host.contains('/') => (host, path),
            _ => return Remote::Path(url.to_owned()),
        },
    };
    let host = host.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    Remote::Host(format!("{host}/{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_port_has_one_spelling() {
        assert_eq!(port("4010"), Some(4010));
        for wrong in ["", "0", "65536", "99999", "+80", "080", "http", "80 "] {
            assert_eq!(port(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn identities_differ_by_device_and_by_inode() {
        let texts = [(1, 23), (12, 3), (1, 24), (2, 23)].map(identity_text);
        assert!(texts.iter().all(|text| text.len() == 16));
        assert_eq!(texts.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
    }

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_slip_of_the_hand_is_recognised() {
        for (word, known, meant) in [
            ("alcie", vec!["bob", "alice"], Some("alice")),
            ("Alice", vec!["alice"], Some("alice")),
            ("alice_projct", vec!["alice_project"], Some("alice_project")),
            ("alice", vec!["alice", "alcie"], None),
            ("bob", vec!["rob"], Some("rob")),
            ("carol", vec!["alice"], None),
            ("a", vec!["b"], None),
            ("agent-2", vec!["agent-1"], None),
            ("agent2", vec!["agent"], Some("agent")),
        ] {
            assert_eq!(nearest(word, known.clone()), meant, "{word} among {known:?}");
        }
    }

    #[test]
    fn options_and_shell_lines_are_told_from_arguments() {
        assert_eq!(misplaced_option(&words("sleep 1 --priority 1")), Some("--priority"));
        assert_eq!(misplaced_option(&words("sleep 1 --priority=1")), Some("--priority"));
        assert_eq!(misplaced_option(&words("make --jobs 4")), None);
        assert_eq!(misplaced_option(&words("npm run x -- --user a")), None);
        assert!(is_shell_line(&["make && make install".to_owned()]));
        assert!(is_shell_line(&["a|b".to_owned()]));
        assert!(!is_shell_line(&words("make install")));
        assert!(has_separator(&words("minutes -- true")));
    }

    proptest! {
        #[test]
        fn a_name_that_is_known_is_never_doubted(names in prop::collection::vec("[a-zA-Z0-9é-]{1,70}", 1..8), at in 0usize..8) {
            let word = names[at % names.len()].clone();
            prop_assert_eq!(nearest(&word, names.iter().map(String::as_str)), None);
        }
    }

    #[test]
    fn spellings_of_a_database_are_one() {
        for text in [
            "postgres://localhost/app",
            "postgresql://me:pw@LOCALHOST:5432/app?sslmode=off",
            "postgresql+psycopg2://127.0.0.1/app",
        ] {
            assert_eq!(database(text), Some(Database::Server("postgres://localhost:5432/app".into())), "{text}");
        }
        for (text, path) in [
            ("app.db", "app.db"),
            ("sqlite:///app.db", "app.db"),
            ("sqlite:////srv/app.db?mode=ro", "/srv/app.db"),
            ("sqlite:app.db", "app.db"),
            ("file:///srv/app.db", "/srv/app.db"),
        ] {
            assert_eq!(database(text), Some(Database::File(path.into())), "{text}");
        }
        assert_eq!((database(""), database("sqlite:")), (None, None));
        assert_ne!(database("redis://h/1"), database("redis://h/2"));
    }

    #[test]
    fn a_password_is_in_no_lane() {
        for text in ["postgres://me:secret@h/app", "mysql://me:sec@secret@h/app"] {
            assert!(!format!("{:?}", database(text)).contains("secret"), "{text}");
        }
    }

    #[test]
    fn spellings_of_a_remote_are_one() {
        for url in [
            "git@example.org:a/b.git",
            "https://example.org/a/b",
            "https://me:secret@Example.org/a/b.git/",
            "ssh://git@example.org/a/b.git",
        ] {
            assert_eq!(remote(url), Remote::Host("example.org/a/b".into()), "{url}");
        }
        for (url, path) in
            [("/srv/x.git", "/srv/x.git"), ("file:///srv/x", "/srv/x"), ("../x", "../x"), ("./a:b", "./a:b")]
        {
            assert_eq!(remote(url), Remote::Path(path.into()), "{url}");
        }
    }

    #[test]
    fn a_branch_has_the_remote_of_its_own_then_origin() {
        let config = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = a:one\n[remote \"fork\"]\n\turl = \"b:two\"\n\
                      [branch \"work\"]\n\tremote = fork\n";
        assert_eq!(remote_url(config, "main").as_deref(), Some("a:one"));
        assert_eq!(remote_url(config, "work").as_deref(), Some("b:two"));
        assert_eq!(remote_url("[remote \"x\"]\nurl=c:d\n", "main").as_deref(), Some("c:d"));
        assert_eq!(remote_url("[core]\n# url = x\n", "main"), None);
    }

    #[test]
    fn head_names_a_branch_or_none() {
        assert_eq!(branch("ref: refs/heads/feature/a\n"), Some("feature/a"));
        assert_eq!(branch("8f1d7c0d8f1d7c0d8f1d7c0d8f1d7c0d8f1d7c0d\n"), None);
        assert_eq!(gitdir("gitdir: ../.git/worktrees/a\n"), Some("../.git/worktrees/a"));
        assert_eq!(gitdir("hello"), None);
    }
}
