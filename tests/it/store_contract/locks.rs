//! Locks of lanes.

use super::{holders, lane, lease, over_a_store};
use luzia::policy::staleness::judge;
use luzia::store::{Acquired, By, Denial, Release, Released};

#[test]
fn a_lane_has_one_holder_until_that_releases_it() {
    over_a_store(|here, there| {
        assert!(!there.store.is_taken(&lane("thread:1")));
        let Acquired::Granted { grants, .. } = lease(here, "a", &["thread:1"]) else { panic!("it is free") };
        assert!(there.store.is_taken(&lane("thread:1")) && !there.store.is_taken(&lane("thread:2")));
        assert!(
            matches!(lease(there, "b", &["thread:1"]), Acquired::Denied(Denial::Held(view)) if view.holder() == Some("a"))
        );
        assert!(matches!(lease(there, "b", &["thread:2"]), Acquired::Granted { .. }), "another lane is free");
        let release =
            |which: &Release, by| there.store.release(&lane("thread:1"), which, by, 3_600_000, judge).unwrap();
        assert!(matches!(release(&Release::Holder("b".into()), By::Holder), Released::NotYours(_)));
        assert_eq!(holders(&there.store, "thread:1"), ["a"]);
        let ours = Release::LockId(grants[0].lock_id.0.clone());
        assert!(matches!(release(&ours, By::Holder), Released::Removed(_)));
        assert!(matches!(release(&ours, By::Holder), Released::Free), "a second time finds nothing");
        assert_eq!(holders(&here.store, "thread:1"), [""; 0]);
    });
}

#[test]
fn all_lanes_are_granted_or_none() {
    over_a_store(|here, there| {
        lease(here, "a", &["thread:3"]);
        assert!(matches!(lease(there, "b", &["thread:1", "thread:2", "thread:3"]), Acquired::Denied(Denial::Held(_))));
        for free in ["thread:1", "thread:2"] {
            assert_eq!(holders(&here.store, free), [""; 0], "{free}");
        }
        let Acquired::Granted { grants, .. } = lease(there, "b", &["thread:1", "thread:2"]) else { panic!("free") };
        let lanes: Vec<String> = grants.iter().map(|grant| grant.lane.to_string()).collect();
        assert_eq!(lanes, ["thread:1", "thread:2"], "in the order of the request");
    });
}

#[test]
fn what_a_holder_has_is_refreshed_together_with_what_it_takes() {
    over_a_store(|here, there| {
        let Acquired::Granted { grants: old, .. } = lease(here, "a", &["thread:2"]) else { panic!("it is free") };
        lease(here, "b", &["thread:3"]);
        assert!(matches!(lease(there, "a", &["thread:1", "thread:2", "thread:3"]), Acquired::Denied(Denial::Held(_))));
        assert_eq!(holders(&here.store, "thread:1"), [""; 0]);
        let Acquired::Granted { grants, refreshed, .. } = lease(there, "a", &["thread:1", "thread:2"]) else {
            panic!("one is free, and it has the other")
        };
        assert_eq!((grants.len(), &grants[1], refreshed), (2, &old[0], vec![lane("thread:2")]));
        let Acquired::Refreshed(all) = lease(here, "a", &["thread:1", "thread:2"]) else { panic!("it has both") };
        assert_eq!(all, grants);
    });
}

#[test]
fn each_grant_of_a_lane_has_a_greater_fence_and_a_refresh_keeps_it() {
    over_a_store(|here, there| {
        let mut last = 0;
        for site in [here, there, here] {
            let Acquired::Granted { grants, .. } = lease(site, "a", &["thread:1"]) else { panic!("it is free") };
            assert!(grants[0].fence.0 > last, "{} after {last}", grants[0].fence);
            last = grants[0].fence.0;
            let Acquired::Refreshed(mut again) = lease(there, "a", &["thread:1"]) else { panic!("the same holder") };
            let again = again.remove(0);
            assert_eq!((again.fence.0, &again.lock_id), (last, &grants[0].lock_id));
            assert_eq!(there.store.current_grant(&lane("thread:1"), &again.lock_id.0).unwrap(), Some(again.clone()));
            let which = Release::LockId(again.lock_id.0);
            here.store.release(&lane("thread:1"), &which, By::Holder, 3_600_000, judge).unwrap();
        }
    });
}
