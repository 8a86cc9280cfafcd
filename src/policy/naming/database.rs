//! The database that an address names.

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
