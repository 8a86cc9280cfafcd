//! Tasks of several slots under kills, power cuts and failing operations: two that want two of three slots each never run at
//! once, and every slot comes back.

use super::Limits;
use super::life::{Cast, Deed, PLAIN, Wish, complete, few, storm, with_slots};
use super::life_book::USERS;

fn cast(wishes: &[Wish], dispatchers: usize) -> Cast {
    Cast { wishes: vec![wishes.to_vec()], rules: with_slots(4), dispatchers, cancels: Vec::new(), ..few(Deed::Work) }
}

#[test]
fn wide_tasks_exclude_each_other_and_give_all_slots_back_through_kills_and_cuts() {
    let wide = |user: usize| Wish { user: USERS[user], slots: Some(2), ..PLAIN };
    let all = Cast { has_cleaner: true, cancels: vec![1], ..cast(&[wide(0), wide(1), wide(2)], 2) };
    storm(&all, &Limits { kills: 2, ..Limits::default() }, 60);
    storm(&all, &Limits { kills: 1, cuts: 1, errors: 2, ..Limits::default() }, 60);
}

#[test]
fn a_kill_or_a_cut_at_any_operation_of_a_wide_task_leaves_no_slot() {
    let one = [Wish { slots: Some(3), ..PLAIN }];
    complete(&cast(&one, 1), &Limits::bounded(0, 1));
    complete(&cast(&one, 1), &Limits { cuts: 1, images: 1, ..Limits::bounded(0, 0) });
}
