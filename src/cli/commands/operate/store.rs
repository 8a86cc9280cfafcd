//! `luzia store`: the tables of a database with the tasks of several hosts.

use crate::app::AppError;
use crate::app::fleet::{Fleet, Migration, Store, StoreState};
use crate::cli::output::console::Console;
use crate::cli::output::table::Table;
use clap::{Args, Subcommand};
use serde_json::json;

/// Make the tables of a PostgreSQL database in which several hosts share their tasks, or show its state. --store, LUZIA_STORE
/// or `store` in the configuration names the database. It needs PostgreSQL 14 or later, and a luzia that was built with the
/// feature `fleet`.
///
/// The URL is postgres:///DATABASE?host=/FOLDER for a Unix socket, or postgres://127.0.0.1:PORT/DATABASE. It holds no password:
/// PGPASSFILE or PGPASSWORD does.
#[derive(Args, Clone, Debug)]
#[command(long_about, subcommand_required = true, subcommand_value_name = "VERB", after_help = STORE_HELP)]
pub struct StoreArgs {
    /// The action.
    #[command(subcommand)]
    pub verb: StoreVerb,
}

/// The verbs of `luzia store`.
#[derive(Subcommand, Clone, PartialEq, Eq, Debug)]
pub enum StoreVerb {
    /// Make the tables of luzia, or bring them up to date, in one transaction
    #[command(after_help = MIGRATE_HELP)]
    Migrate {
        /// Print the statements for another program, and connect to nothing
        #[arg(long, conflicts_with = "dry_run")]
        sql: bool,
        /// Say what would be done; nothing is changed
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
    /// Accept a database that was restored from an older backup, so that its hosts join again
    ///
    /// Hosts refuse a database that is older than what they have seen of it: it has forgotten tasks that were queued or have ended.
    /// Make sure first that no newer copy of the database can be had. After this verb the database is right: a task that it does not
    /// know is ended on its host. A task whose end it has forgotten runs again, unless its host has the record of the same start.
    /// New tasks have numbers above all that a host has seen.
    #[command(after_help = RECOVER_HELP)]
    Recover,
    /// Show the versions of server and tables, and how many hosts and tasks there are
    #[command(after_help = STATUS_HELP)]
    Status,
}

const STORE_HELP: &str = "\
Examples:
  luzia store migrate --store 'postgres:///luzia?host=/run/postgresql'
  luzia store migrate --sql
  luzia store status

Exit codes:
  0    done
  2    usage, or a luzia without the feature fleet; nothing was changed
  69   the database does not answer
  74   the server has no space left
  77   the database does not let this account in
  78   the tables are absent, or of another version";

const MIGRATE_HELP: &str = "\
Examples:
  luzia store migrate
  luzia store migrate --dry-run --json
  luzia store migrate --sql

Exit codes:
  0    the tables are of this version
  2    usage
  69   the database does not answer, or another migration is at work; nothing was changed
  77   the account may not make tables; nothing was changed
  78   the tables are of a newer luzia; nothing was changed";

const RECOVER_HELP: &str = "\
Examples:
  luzia store recover

Exit codes:
  0    the hosts join again
  69   the database does not answer; nothing was changed
  78   the tables are absent, or of another version";

const STATUS_HELP: &str = "\
Examples:
  luzia store status
  luzia store status --json

Exit codes:
  0    shown
  69   the database does not answer
  78   the tables are absent, or of another version";

/// `luzia store`.
pub fn run(verb: &StoreVerb, store: &dyn Fn() -> Result<Store, AppError>, console: &mut Console) -> anyhow::Result<()> {
    let store = store()?;
    match verb {
        StoreVerb::Migrate { sql: true, .. } => console.out(store.script())?,
        StoreVerb::Migrate { dry_run, .. } => migrated(&*store, store.migrate(*dry_run)?, *dry_run, console)?,
        StoreVerb::Recover => recovered(&*store, console)?,
        StoreVerb::Status => status(&*store, &store.state()?, console)?,
    }
    Ok(())
}

fn migrated(store: &dyn Fleet, done: Migration, dry_run: bool, console: &mut Console) -> anyhow::Result<()> {
    let Migration { from, to } = done;
    let changed = done.is_needed() && !dry_run;
    let document = || json!({ "store": store.name(), "from": from, "to": to, "changed": changed, "dry_run": dry_run });
    if console.json("store-migrate", document)? {
        return Ok(());
    }
    console.say(&match (done.is_needed(), dry_run) {
        (false, _) => format!("the tables are of version {to} already; nothing was changed"),
        (true, true) => format!("nothing was changed; the tables of version {to} would be made"),
        (true, false) => format!("the tables of version {to} are made"),
    });
    Ok(())
}

fn recovered(store: &dyn Fleet, console: &mut Console) -> anyhow::Result<()> {
    store.recover()?;
    if !console.json("store-recover", || json!({ "store": store.name() }))? {
        console.say("the database is accepted as it is; hosts that have seen more of it join again");
    }
    Ok(())
}

fn status(store: &dyn Fleet, state: &StoreState, console: &mut Console) -> anyhow::Result<()> {
    let StoreState { server, schema, hosts, living_hosts, queued, active, duty } = state;
    let document = || {
        json!({
            "store": store.name(), "server": server, "schema_version": schema, "hosts": hosts, "living_hosts": living_hosts,
            "queued": queued, "active": active, "duty": duty,
        })
    };
    if console.json("store-status", document)? {
        return Ok(());
    }
    let mut table = Table::of(&["WHAT", "NOW"]);
    table.row(["store".to_owned(), store.name()]);
    table.row(["server".to_owned(), format!("PostgreSQL {server}")]);
    table.row(["tables".to_owned(), format!("version {schema}")]);
    table.row(["hosts".to_owned(), format!("{living_hosts} of {hosts} with a lease in force")]);
    table.row(["tasks".to_owned(), format!("{queued} wait for a host, {active} have one")]);
    table.row(["duty".to_owned(), duty.clone().unwrap_or_else(|| "no host decides whose turn it is".to_owned())]);
    Ok(console.table(&table)?)
}
