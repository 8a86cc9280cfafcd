//! Lanes in the database: their rules, their pauses and their holders.

use super::{Database, sql};
use crate::app::AppError;
use crate::app::fleet::lanes::{FleetLanes, SharedLane};
use crate::model::Timestamp;

impl FleetLanes for Database {
    fn lanes(&self, name: Option<&str>, prefix: &str, most_counted: usize) -> Result<Vec<SharedLane>, AppError> {
        let most = i32::try_from(most_counted).unwrap_or(i32::MAX);
        let rows = self.with(|client| client.query(sql::LANES, &[&name, &prefix, &most]))?;
        let lane = |row: &postgres::Row| SharedLane {
            name: row.get(0),
            rules: row.get(1),
            used: row.get::<_, i64>(2).unsigned_abs(),
            waiting: row.get::<_, i64>(3).unsigned_abs(),
            pause: row.get(4),
            limited_until: limited_until(self, row.get(5)),
            is_counted: row.get(6),
        };
        Ok(rows.iter().map(lane).collect())
    }

    fn in_force(&self, name: &str) -> Result<SharedLane, AppError> {
        let row = self.with(|client| client.query_one(sql::IN_FORCE, &[&name]))?;
        let limited_ms: Option<i64> = row.get(2);
        let limited_until = limited_until(self, limited_ms.unwrap_or(0));
        Ok(SharedLane { rules: row.get(0), pause: row.get(1), limited_until, ..SharedLane::of(name) })
    }

    fn set_lane(&self, lane: &str, seen: &str, rules: &str) -> Result<bool, AppError> {
        Ok(self.with(|client| client.query_one(sql::SET_LANE, &[&lane, &seen, &rules]))?.get(0))
    }

    fn pauses(&self) -> Result<Vec<(String, String)>, AppError> {
        let rows = self.with(|client| client.query(sql::PAUSES, &[]))?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    fn pause_lane(&self, lane: &str, until: Option<Timestamp>, pause: &str) -> Result<String, AppError> {
        let until = until.map(|at| at.0);
        Ok(self.with(|client| client.query_one(sql::PAUSE_LANE, &[&lane, &until, &pause]))?.get(0))
    }

    fn resume_lane(&self, lane: &str) -> Result<Vec<String>, AppError> {
        Ok(self.with(|client| client.query(sql::RESUME_LANE, &[&lane]))?.iter().map(|row| row.get(0)).collect())
    }
}

/// The moment until which the rate of a lane allows nothing, by the clock of this host.
pub(super) fn limited_until(database: &Database, limited_ms: i64) -> Option<Timestamp> {
    (limited_ms > 0).then(|| database.host.now().plus_ms(limited_ms))
}
