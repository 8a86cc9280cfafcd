//! FLEET: the tasks of several hosts in one PostgreSQL (`docs/fleet.md`). The database decides who may, `policy` decides whose turn
//! it is, each host decides what lives. Compiled with the feature `fleet`.

mod agent;
mod duty;
mod errors;
mod lanes;
mod looks;
mod memory;
mod migrate;
mod places;
mod server;
mod sql;
mod target;
mod tasks;

pub use server::Database;
use server::PATIENCE_MS;
pub use target::Target;

use crate::app::fleet::{
    Again, Fleet, FleetAgent, FleetCounts, FleetHost, InTheWay, Migration, SharedTask, Sink, StoreHealth, StoreState,
    Tail,
};
use crate::app::lifecycle::Accepted;
use crate::app::{AppError, Obstacle};
use crate::model::{LaneName, Name, Status, Task, TaskId, Timestamp};
use crate::policy::analytics::timeline::Hold;
use crate::store::{CancelRequest, LockView};

/// A value of a statement.
type Given<'a> = dyn postgres::types::ToSql + Sync + 'a;

/// The version of the tables that this luzia uses.
const SCHEMA: i32 = 1;

impl Fleet for Database {
    fn name(&self) -> String {
        self.target.to_string()
    }

    fn host_name(&self) -> &str {
        &self.name
    }

    fn be_patient(&self, most_ms: Option<u64>) {
        self.patience_ms.set(most_ms.unwrap_or(u64::MAX).min(PATIENCE_MS));
    }

    fn script(&self) -> &'static str {
        migrate::SCRIPT
    }

    fn migrate(&self, dry_run: bool) -> Result<Migration, AppError> {
        migrate::migrate(self, dry_run)
    }

    fn recover(&self) -> Result<(), AppError> {
        migrate::recover(self)
    }

    fn state(&self) -> Result<StoreState, AppError> {
        migrate::state(self)
    }

    fn health(&self) -> Result<StoreHealth, AppError> {
        migrate::health(self)
    }

    fn enqueue(&self, tasks: &[SharedTask]) -> Result<Result<Vec<Accepted>, InTheWay>, AppError> {
        tasks::enqueue(self, tasks)
    }

    fn tasks(&self, wants: &dyn Fn(Status) -> bool, user: Option<&Name>, sink: Sink) -> Result<(), AppError> {
        tasks::tasks(self, wants, user, sink)
    }

    fn find(&self, id: TaskId) -> Result<Option<Task>, AppError> {
        tasks::find(self, id)
    }

    fn newest(&self, user: Option<&str>) -> Result<Option<TaskId>, AppError> {
        tasks::newest(self, user)
    }

    fn ahead(&self, id: TaskId) -> Result<u64, AppError> {
        tasks::ahead(self, id)
    }

    fn obstacle(&self, task: &Task) -> Result<Option<Obstacle>, AppError> {
        tasks::obstacle(self, task)
    }

    fn obstacles(&self, task: &Task) -> Result<Vec<Obstacle>, AppError> {
        looks::obstacles(self, task)
    }

    fn keepers(&self, lane: Option<&LaneName>) -> Result<Vec<(TaskId, LockView)>, AppError> {
        looks::keepers(self, lane)
    }

    fn note_lease(&self, id: TaskId, lock_id: &str, expires_at: Timestamp) -> Result<bool, AppError> {
        let given = [&tasks::number_of(id) as &Given, &lock_id, &expires_at.0];
        Ok(self.with(|client| client.query_one(sql::NOTE_LEASE, &given))?.get(0))
    }

    fn waiting_in(&self, lane: &LaneName) -> Result<(u64, Option<TaskId>), AppError> {
        looks::waiting_in(self, lane)
    }

    fn counts(&self) -> Result<FleetCounts, AppError> {
        tasks::counts(self)
    }

    fn hosts(&self) -> Result<Vec<FleetHost>, AppError> {
        tasks::hosts(self)
    }

    fn end_queued(&self, ended: &Task) -> Result<bool, AppError> {
        tasks::end_queued(self, ended)
    }

    fn requeue(&self, id: TaskId, again: &Again) -> Result<Option<Task>, AppError> {
        tasks::requeue(self, id, again)
    }

    fn change_waiting(&self, seen: &Task, changed: &Task) -> Result<bool, AppError> {
        tasks::change_waiting(self, seen, changed)
    }

    fn kept(&self) -> Result<String, AppError> {
        Ok(self.with(|client| client.query_one(sql::KEPT, &[]))?.get(0))
    }

    fn wish_end(&self, id: TaskId, request: &CancelRequest) -> Result<Option<String>, AppError> {
        tasks::wish_end(self, id, request)
    }

    fn tail(&self, id: TaskId) -> Result<Tail, AppError> {
        tasks::tail(self, id)
    }

    fn holds_since(&self, since: Timestamp) -> Result<Vec<Hold>, AppError> {
        looks::holds_since(self, since)
    }

    fn listen(&self, host: i32, heard: &mut dyn FnMut(bool) -> bool) -> Result<(), AppError> {
        self.listen(host, heard)
    }

    fn agent(&self, lease_ms: u64, labels: Vec<String>) -> Box<dyn FleetAgent + '_> {
        Box::new(agent::Agent::new(self, lease_ms, labels))
    }
}
