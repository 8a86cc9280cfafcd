//! Parsers of the files of a git repository: `.git`, `commondir`, `HEAD` and `config`.

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
