//! Sorting without code of its own for each type of element: the list is put in the order of sorted numbers of its elements.
//! The standard library takes 2,000 to 5,000 bytes of a program for each type that it sorts (decision 454).

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Sorts a list by the order of its type. Equal elements stay in their order.
pub fn sort<T: Ord>(list: &mut [T]) {
    sort_by(list, T::cmp);
}

/// Sorts a list by an order of its elements. Equal elements stay in their order.
pub fn sort_by<T>(list: &mut [T], order: impl Fn(&T, &T) -> Ordering) {
    let mut places = sorted_places(list.len(), &|one, other| order(&list[one], &list[other]));
    put_in_order(&mut places, &mut |one, other| list.swap(one, other));
}

/// Sorts a list by a key of each element. Elements with equal keys stay in their order.
pub fn sort_by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(list, |one, other| key(one).cmp(&key(other)));
}

/// A map of pairs; of several values for one key the last one stays. `collect` would sort the pairs first.
pub fn map_of<K: Ord, V>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    pairs.into_iter().for_each(|(key, value)| drop(map.insert(key, value)));
    map
}

/// The numbers below `count` in an order of them; empty for fewer than two numbers, which need no order.
fn sorted_places(count: usize, order: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    if count < 2 {
        return Vec::new();
    }
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|one, other| order(*one, *other));
    places
}

/// Moves each element of a list to its place: `places` has at each place the former place of the element that belongs there.
fn put_in_order(places: &mut [usize], swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..places.len() {
        let mut at = start;
        loop {
            let from = std::mem::replace(&mut places[at], at);
            if from == start {
                break;
            }
            swap(at, from);
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_list_is_sorted_as_the_standard_library_sorts_it(keys in proptest::collection::vec(0..20_u8, 0..60)) {
            let list: Vec<(u8, usize)> = keys.iter().copied().zip(0..).collect();
            let (mut ours, mut theirs) = (list.clone(), list);
            sort_by_key(&mut ours, |(key, _)| *key);
            theirs.sort_by_key(|(key, _)| *key);
            prop_assert_eq!(ours, theirs);
        }

        #[test]
        fn a_map_is_that_of_the_standard_library(pairs in proptest::collection::vec((0..20_u8, 0..9_u8), 0..60)) {
            prop_assert_eq!(map_of(pairs.clone()), pairs.into_iter().collect::<BTreeMap<_, _>>());
        }
    }
}
