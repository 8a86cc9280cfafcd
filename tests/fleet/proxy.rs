//! A server between luzia and PostgreSQL that loses answers: the statement is carried out, and the connection ends before its
//! answer.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The statement whose answers are lost, and how many of them.
#[derive(Default)]
struct Plan {
    statement: Mutex<(String, usize)>,
    lost: AtomicUsize,
    is_shut: AtomicBool,
    refused: AtomicUsize,
    open: Mutex<Vec<UnixStream>>,
}

/// A folder with a socket that looks like that of the server.
pub struct Proxy {
    folder: tempfile::TempDir,
    plan: Arc<Plan>,
}

impl Proxy {
    /// A proxy of the server with a socket.
    pub fn new(server: PathBuf) -> Self {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let plan = Arc::new(Plan::default());
        let own = Arc::clone(&plan);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if own.is_shut.load(Ordering::SeqCst) {
                    own.refused.fetch_add(1, Ordering::SeqCst);
                    continue;
                }
                own.open.lock().unwrap().push(client.try_clone().unwrap());
                let (plan, server) = (Arc::clone(&own), UnixStream::connect(&server).unwrap());
                std::thread::spawn(move || pass_on(&client, &server, &plan));
            }
        });
        Self { folder, plan }
    }

    /// The folder of its socket.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Loses the next answers to statements with this text.
    pub fn lose_answers_to(&self, statement: &str, times: usize) {
        *self.plan.statement.lock().unwrap() = (statement.to_owned(), times);
    }

    /// Cuts all connections and lets no new one through, or lets them through again.
    pub fn shut(&self, is_shut: bool) {
        self.plan.is_shut.store(is_shut, Ordering::SeqCst);
        for client in self.plan.open.lock().unwrap().drain(..) {
            let _ = client.shutdown(std::net::Shutdown::Both);
        }
    }

    /// Number of connections that were not let through.
    pub fn refused(&self) -> usize {
        self.plan.refused.load(Ordering::SeqCst)
    }

    /// How many answers were lost.
    pub fn lost(&self) -> usize {
        self.plan.lost.load(Ordering::SeqCst)
    }
}

/// Passes bytes on in both directions. Once the statement was prepared, what answers its execution is dropped.
fn pass_on(client: &UnixStream, server: &UnixStream, plan: &Plan) {
    let is_doomed = Arc::new(Mutex::new(false));
    let (from_server, to_client, doomed) =
        (server.try_clone().unwrap(), client.try_clone().unwrap(), is_doomed.clone());
    std::thread::spawn(move || copy(&from_server, &to_client, &mut |_| !*doomed.lock().unwrap()));
    let mut is_prepared = false;
    copy(client, server, &mut |bytes| {
        let mut wanted = plan.statement.lock().unwrap();
        let names = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        if is_prepared && wanted.1 > 0 {
            // What follows the preparation is the execution. It is carried out, and nobody hears of it.
            *is_doomed.lock().unwrap() = true;
            wanted.1 -= 1;
            plan.lost.fetch_add(1, Ordering::SeqCst);
        }
        is_prepared = !wanted.0.is_empty() && names(&wanted.0);
        true
    });
}

/// Copies until one side ends, or until `goes_on` says no: then both connections end, shortly after.
fn copy(from: &UnixStream, to: &UnixStream, goes_on: &mut dyn FnMut(&[u8]) -> bool) {
    let mut buffer = vec![0; 65_536];
    let (mut source, mut target) = (from, to);
    while let Ok(count @ 1..) = source.read(&mut buffer) {
        if !goes_on(&buffer[..count]) {
            std::thread::sleep(Duration::from_millis(20));
            break;
        }
        if target.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(std::net::Shutdown::Both), to.shutdown(std::net::Shutdown::Both));
}
