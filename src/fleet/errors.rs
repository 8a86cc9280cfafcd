//! Errors of the database in the words of luzia.

use super::Target;
use super::target::tls;
use crate::app::{AppError, Code};
use postgres::Error;
use postgres::error::SqlState;
use std::error::Error as _;

/// The refusal of `enqueue` because of a key; the message is the number of the task that has it.
pub(super) const KEY_TAKEN: &str = "LZ002";
/// The refusal of `enqueue` because of keys that are to be replaced; the message has the numbers of the tasks that have them.
pub(super) const TO_REPLACE: &str = "LZ003";

/// The reason of the client that has no password for a server that wants one. It has no code.
const NO_PASSWORD: &str = "password missing";
const PASSWORD: &str = "PGPASSFILE or PGPASSWORD has the password";

/// Whether a repetition may succeed: the connection was lost, the server restarts, or another transaction was in the way.
pub(super) fn is_passing(error: &Error) -> bool {
    let Some(code) = error.code() else { return true };
    ["57P01", "57P02", "57P03", "40001", "40P01", "55P03", "08006", "08003", "08000"].contains(&code.code())
}

/// The reason of an error without the words of the client around it.
fn reason(error: &Error) -> String {
    match error.as_db_error() {
        Some(error) => error.message().to_owned(),
        None => error.source().map_or_else(|| error.to_string(), ToString::to_string),
    }
}

/// The error of a database that cannot be asked.
pub(super) fn of(error: &Error, target: &Target) -> AppError {
    if let Some(distrusted) = tls::distrusted(error, target) {
        return distrusted;
    }
    let why = reason(error);
    let refused = |code: Code, what: &str| AppError::new(code, format!("the store {target} {what}: {why}"));
    let Some(state) = error.code() else {
        if why == NO_PASSWORD {
            return refused(Code::NoPermission, "wants a password").hint(PASSWORD);
        }
        return refused(Code::StoreAway, "does not answer").hint(
            "nothing was changed, unless the error says so; what runs goes on. Try again when the server is back",
        );
    };
    match state.code().get(..2).unwrap_or_default() {
        "28" => refused(Code::NoPermission, "does not let this account in")
            .hint(format!("{PASSWORD}; the server's pg_hba.conf says who may connect")),
        "53" if *state == SqlState::DISK_FULL => refused(Code::DiskFull, "has no space left")
            .hint("nothing was changed; tasks that run go on as long as the lease of their host"),
        _ if *state == SqlState::INSUFFICIENT_PRIVILEGE => refused(Code::NoPermission, "does not permit it")
            .hint("the owner of the schema luzia grants the rights; `luzia store migrate --sql` names its parts"),
        "3D" => refused(Code::StoreSchema, "has no such database").hint("createdb(1) makes one"),
        "3F" => absent(target),
        "42" if ["42P01", "42883"].contains(&state.code()) => absent(target),
        "53" | "57" | "08" | "55" | "40" => refused(Code::StoreAway, "cannot answer now").hint("try again"),
        _ => refused(Code::StoreFailed, "failed").hint("nothing was changed"),
    }
}

/// The error of a database without the tables of luzia.
pub(super) fn absent(target: &Target) -> AppError {
    AppError::new(Code::StoreSchema, format!("the database of the store {target} has no tables of luzia"))
        .hint("`luzia store migrate` makes them")
        .next("luzia store migrate")
}

/// The error of a database whose schema is of another version.
pub(super) fn other_version(target: &Target, found: i32) -> AppError {
    let own = super::SCHEMA;
    let error = AppError::new(
        Code::StoreSchema,
        format!("the store {target} has version {found} of the schema, and this luzia uses version {own}"),
    );
    match found < own {
        true => error.hint("`luzia store migrate` brings it up to date").next("luzia store migrate"),
        false => error.hint("use a newer luzia; nothing was changed"),
    }
}
