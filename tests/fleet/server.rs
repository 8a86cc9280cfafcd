//! A PostgreSQL server of the tests' own, by a Unix socket in a temporary directory. It ends with this process.

use crate::support::{Place, Ran, is_root, skip, until};
use postgres::{Client, NoTls};
use serde_json::Value;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The unprivileged account for the server: nobody.
const ACCOUNT: u32 = 65_534;

/// Makes a cluster, runs it, and removes it when standard input ends: with the process of the tests, however that ends.
const SCRIPT: &str = r#"
    set -e
    "$1/initdb" -D "$2/data" -A trust -U luzia --no-sync >"$2/initdb.log" 2>&1
    { echo "local all locked scram-sha-256"; echo "local all all trust"
      echo "hostssl all luzia 127.0.0.1/32 trust"; echo "hostnossl all plain 127.0.0.1/32 trust"; } >"$2/data/pg_hba.conf"
    "$1/postgres" -D "$2/data" -k "$2" -c listen_addresses="$3" -p "$4" -c fsync=off -c max_connections=100 \
        -c deadlock_timeout=200ms -c log_min_messages=error >"$2/server.log" 2>&1 &
    server=$!
    read end || true
    kill -QUIT $server 2>/dev/null || true
    wait $server || true
    rm -rf "$2/data" "$2"/*.log
"#;

/// A server.
pub struct Server {
    folder: tempfile::TempDir,
    port: u16,
    _script: Child,
    databases: AtomicUsize,
}

/// The folder with the programs of the newest server that is installed.
fn programs() -> Option<PathBuf> {
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
    versions.sort();
    std::env::split_paths(&on_path).chain(versions.into_iter().rev()).find(|folder| folder.join("initdb").exists())
}

/// Has a command run as the account of the server.
pub fn as_account(command: &mut Command) -> &mut Command {
    if is_root() {
        command.uid(ACCOUNT).gid(ACCOUNT);
    }
    command.current_dir("/").stdin(Stdio::piped()).process_group(0)
}

impl Server {
    /// The server that all tests share; `None`, and said, where none is installed.
    pub fn shared(test: &str) -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Server>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| Self::start("", 5432)).as_ref();
        if shared.is_none() {
            skip(test, "PostgreSQL: postgresql, with create_main_cluster = false");
        }
        shared
    }

    /// A server that listens at an address, too.
    pub fn start(address: &str, port: u16) -> Option<Self> {
        let programs = programs()?;
        let folder = tempfile::Builder::new().prefix("luzia-fleet-").tempdir_in("/tmp").unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "sh"]).arg(programs).arg(folder.path()).arg(address).arg(port.to_string());
        let script = as_account(&mut command).spawn().unwrap();
        let server = Self { _script: script, folder, port, databases: AtomicUsize::new(0) };
        until("the server answers", || server.client("postgres").ok());
        Some(server)
    }

    /// The folder of its socket.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A connection of the owner.
    pub fn client(&self, database: &str) -> Result<Client, postgres::Error> {
        Client::connect(&self.url("luzia", database), NoTls)
    }

    /// The URL by the socket.
    pub fn url(&self, user: &str, database: &str) -> String {
        format!("postgres:///{database}?host={}&port={}&user={user}", self.folder().display(), self.port)
    }
}

/// A database of a test, and a state directory of one host.
pub struct Fleet {
    server: &'static Server,
    database: String,
    /// The host.
    pub place: Place,
}

impl Fleet {
    /// An empty database.
    pub fn empty(test: &str) -> Option<Self> {
        let server = Server::shared(test)?;
        let database = format!("d{}", server.databases.fetch_add(1, Ordering::Relaxed));
        server.client("postgres").unwrap().batch_execute(&format!("CREATE DATABASE {database}")).unwrap();
        Some(Self { server, database, place: Place::new() })
    }

    /// A database with the tables of luzia.
    pub fn new(test: &str) -> Option<Self> {
        let fleet = Self::empty(test)?;
        fleet.luzia(&["store", "migrate"]).coded(0);
        Some(fleet)
    }

    /// The URL for an account of the server.
    pub fn url_of(&self, user: &str) -> String {
        self.server.url(user, &self.database)
    }

    /// The URL for the owner.
    pub fn url(&self) -> String {
        self.url_of("luzia")
    }

    /// The socket of the server.
    pub fn socket(&self) -> PathBuf {
        self.server.folder().join(".s.PGSQL.5432")
    }

    /// The URL by a socket in another folder.
    pub fn url_at(&self, folder: &Path) -> String {
        format!("postgres:///{}?host={}&user=luzia", self.database, folder.display())
    }

    /// A connection of the test's own.
    pub fn client(&self) -> Client {
        self.server.client(&self.database).unwrap()
    }

    /// Does something in the database.
    pub fn sql(&self, statements: &str) {
        self.client().batch_execute(statements).unwrap();
    }

    /// A backup of the database.
    pub fn backup(&self) -> Vec<u8> {
        let made = Command::new("pg_dump").args(["-d", &self.url()]).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        made.stdout
    }

    /// Puts a backup in the place of the database.
    pub fn restore(&self, backup: &[u8]) {
        let (own, new) = (&self.database, format!("{}_restored", self.database));
        let mut server = self.server.client("postgres").unwrap();
        server.batch_execute(&format!("CREATE DATABASE {new}")).unwrap();
        let mut psql = Command::new("psql");
        psql.args(["-qX", "-v", "ON_ERROR_STOP=1", "-d", &self.server.url("luzia", &new)]);
        let mut reading = psql.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        reading.stdin.take().unwrap().write_all(backup).unwrap();
        assert!(reading.wait().unwrap().success());
        server.batch_execute(&format!("DROP DATABASE {own} WITH (FORCE)")).unwrap();
        server.batch_execute(&format!("ALTER DATABASE {new} RENAME TO {own}")).unwrap();
    }

    /// Calls luzia with this store.
    #[track_caller]
    pub fn luzia(&self, args: &[&str]) -> Ran {
        self.with(&self.url(), args)
    }

    /// Calls luzia with another store.
    #[track_caller]
    pub fn with(&self, url: &str, args: &[&str]) -> Ran {
        self.place.spawn(self.place.command(args).env("LUZIA_STORE", url)).end()
    }

    /// Calls luzia with this store, which must end with 0; its document, which must be what its schema says.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        let document = self.luzia(&[&["--json"], args].concat()).coded(0).json();
        check(&self.place, &document);
        document
    }

    /// Calls luzia with a store, which must refuse it with an exit code and a word; its message and its hint.
    #[track_caller]
    pub fn refused(&self, url: &str, args: &[&str], exit: i32, word: &str) -> String {
        let ran = self.with(url, &[&["--json"], args].concat()).coded(exit);
        let error: Value = serde_json::from_str(&ran.err).unwrap_or_else(|_| panic!("{ran:?}"));
        assert_eq!(error["code"], word, "{error}");
        assert_eq!(ran.out, "", "{error}");
        check(&self.place, &error);
        format!("{} {}", error["message"].as_str().unwrap(), error["hint"].as_str().unwrap_or_default())
    }
}

/// Checks a document against its schema.
#[track_caller]
pub fn check(place: &Place, document: &Value) {
    let name = document["schema"].as_str().unwrap().trim_start_matches("luzia.").trim_end_matches("/v1").to_owned();
    let schema: Value = serde_json::from_str(&place.ok(&["schema", &name]).out).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}\n{document:#}");
}
