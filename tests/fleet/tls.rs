//! A server that is reached by the network: it is used only if it proves that it is the one of the URL.

use crate::server::{Server, as_account};
use crate::support::{Place, Ran, skip, until};
use serde_json::json;
use std::net::TcpListener;
use std::process::Command;

/// Makes two authorities, and certificates of the first one: of the right name, of another one, and one that is over at once.
const CERTIFICATES: &str = r#"
    set -e
    cd "$1"
    new() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "$@" 2>/dev/null; }
    sign() {
        new -subj "/CN=$2" -keyout "$1.key" -out "$1.csr"
        printf 'basicConstraints=CA:FALSE\nsubjectAltName=DNS:%s\n' "$2" >"$1.ext"
        openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days "$3" -extfile "$1.ext" -out "$1.pem" 2>/dev/null
    }
    for ca in ca other; do new -x509 -days 30 -subj "/CN=$ca" -keyout $ca.key -out $ca.pem; done
    sign good localhost 30
    sign strange db.example.org 30
    sign old localhost 0
    echo text >text.pem
"#;

/// A server at a loopback address, and a state directory of one host.
struct Net {
    server: Server,
    port: u16,
    place: Place,
}

impl Net {
    fn new(test: &str) -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let Some(server) = Server::start("127.0.0.1", port) else {
            skip(test, "PostgreSQL: postgresql, with create_main_cluster = false");
            return None;
        };
        let mut script = Command::new("sh");
        let made = as_account(script.args(["-c", CERTIFICATES, "sh"]).arg(server.folder())).status();
        if !made.is_ok_and(|status| status.success()) {
            skip(test, "openssl");
            return None;
        }
        server.client("postgres").unwrap().batch_execute("CREATE ROLE plain SUPERUSER LOGIN").unwrap();
        Some(Self { server, port, place: Place::configured(&json!({ "slots": { "max": 2 } })) })
    }

    /// Gives the server a certificate.
    fn has(&self, name: &str) {
        let file = format!("{}/{name}", self.server.folder().display());
        let set =
            format!("ALTER SYSTEM SET ssl_cert_file = '{file}.pem'; ALTER SYSTEM SET ssl_key_file = '{file}.key'");
        let mut client = self.server.client("postgres").unwrap();
        for statement in set.split("; ").chain(["ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()"]) {
            client.batch_execute(statement).unwrap();
        }
    }

    fn url(&self, host: &str, more: &str) -> String {
        format!("postgres://luzia@{host}:{}/postgres?{more}", self.port)
    }

    /// The member of a URL that names an authority.
    fn trusts(&self, name: &str) -> String {
        format!("sslrootcert={}/{name}.pem", self.server.folder().display())
    }

    fn luzia(&self, url: &str, args: &[&str]) -> Ran {
        self.place.spawn(self.place.command(&[&["--store", url], args].concat()).env_remove("SSL_CERT_FILE")).end()
    }

    /// Waits until `store status` is refused with an exit code and words: the server reads its settings anew some time after it
    /// was asked to.
    #[track_caller]
    fn refused(&self, url: &str, code: i32, words: &str) {
        let mut last = String::new();
        for _ in 0..100 {
            let ran = self.luzia(url, &["--json", "store", "status"]);
            if ran.code == code && ran.err.contains(words) && ran.out.is_empty() {
                return;
            }
            last = format!("{ran:?}");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{url}: {words}: {last}");
    }

    /// Waits until the server is used.
    #[track_caller]
    fn used(&self, url: &str) {
        until(&format!("{url} is used"), || (self.luzia(url, &["store", "status"]).code == 0).then_some(()));
    }
}

#[test]
fn a_server_is_used_only_if_its_certificate_has_its_name_and_is_of_a_trusted_authority() {
    let Some(net) = Net::new("a_server_is_used_only_if") else { return };
    net.luzia(&net.server.url("luzia", "postgres"), &["store", "migrate"]).coded(0);
    let trusted = net.url("localhost", &net.trusts("ca"));
    net.refused(&trusted, 78, "has no TLS");
    net.refused(&trusted, 78, "STORE_UNTRUSTED");
    let plain = |user: &str| format!("postgres://{user}@127.0.0.1:{}/postgres?sslmode=disable", net.port);
    net.used(&plain("plain"));
    net.has("good");
    net.used(&trusted);
    // This account has no way in without TLS, so the connection before had it.
    net.refused(&plain("luzia"), 77, "no encryption");
    net.refused(&net.url("localhost", &net.trusts("other")), 78, "no trusted authority");
    net.refused(&net.url("127.0.0.1", &net.trusts("ca")), 78, "certificate of its server is invalid");
    net.refused(&net.url("localhost", &net.trusts("text")), 78, "no certificate in PEM form");
    net.refused(&net.url("localhost", &net.trusts("absent")), 78, "no certificate in PEM form");
    // Without an authority in the URL those of the host count.
    net.refused(&net.url("localhost", ""), 78, "STORE_UNTRUSTED");
    let mut command = net.place.command(&["--store", &net.url("localhost", ""), "store", "status"]);
    net.place.spawn(command.env("SSL_CERT_FILE", net.server.folder().join("ca.pem"))).end().coded(0);
    net.has("strange");
    net.refused(&trusted, 78, "localhost");
    net.used(&net.url("db.example.org", &format!("hostaddr=127.0.0.1&{}", net.trusts("ca"))));
    net.has("old");
    net.refused(&trusted, 78, "expired");
}

#[test]
fn a_host_that_reaches_its_store_by_tls_runs_tasks() {
    let Some(net) = Net::new("a_host_that_reaches_its_store_by_tls") else { return };
    net.has("good");
    let url = net.url("localhost", &format!("sslmode=verify-full&{}", net.trusts("ca")));
    until("the tables are made", || (net.luzia(&url, &["store", "migrate"]).code == 0).then_some(()));
    let _daemon = net.place.spawn(net.place.command(&["daemon"]).env("LUZIA_STORE", &url));
    let ran = net.luzia(&url, &["run", "-u", "alice", "--", "echo", "hello"]).coded(0);
    assert_eq!(ran.out, "hello\n");
}
