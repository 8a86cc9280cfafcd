//! The values, gates and budgets of lanes, and their effect on a command.

use super::text;
use crate::model::capacity::{Budget, Choice, Gate, Readings, SlotValues};
use crate::policy::capacity::{MAKEFLAGS, Server, judge, knows_fifos, list, listed, variables};

/// The condition of a gate.
pub fn gate(bytes: &[u8]) {
    let Ok(gate) = Gate::parse(&text(bytes)) else { return };
    assert_eq!(Gate::parse(&gate.to_string()).as_ref(), Ok(&gate), "{gate}");
    assert_eq!(judge(&gate, &Readings::default(), true), None, "nothing that is unknown shuts it");
    for read in [0, 1000, 99_999, u32::MAX] {
        let one = Some(read);
        let readings = Readings { pressure_cpu: one, pressure_memory: one, pressure_io: one, load: one, memory: one };
        // One that is shut by its first bound is not open by its second.
        let was_open = judge(&gate, &readings, false);
        assert!(was_open.is_none() || judge(&gate, &readings, true).is_some(), "{gate}");
        assert_eq!(
            was_open.as_ref().map(|busy| busy.readings.len()),
            was_open.as_ref().map(|busy| busy.conditions.len())
        );
    }
}

/// The values of slots, ranges, budgets, lists of processors and the options of make.
pub fn slots(bytes: &[u8]) {
    let said = text(bytes);
    let listed_values = SlotValues::list(said.split(',').map(str::to_owned).collect());
    for values in [listed_values, SlotValues::ports(&said)].into_iter().flatten() {
        assert_eq!(values.all().len(), usize::try_from(values.count()).expect("few"));
        let first = values.get(0).expect("at least one");
        assert_eq!(values.choose(&[], &mut |_| None), Choice::Slot(0, first.clone()));
        let taken = [(0, Some(first.clone()))];
        assert!(!matches!(values.choose(&taken, &mut |_| None), Choice::Slot(_, again) if again == first));
        assert!(
            matches!(values.choose(&[], &mut |_| Some(None)), Choice::Occupied(all) if all.count == values.count())
        );
        assert_eq!(values.overlap(&values).is_some(), matches!(values, SlotValues::Ports(..)));
    }
    if let Some(budget) = Budget::parse(&said) {
        assert_eq!(Budget::parse(&budget.to_string()), Some(budget));
        assert!(budget.cpus(0) > 0);
    }
    if let Some(cpus) = listed(&said) {
        let mut sorted = cpus;
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(listed(&list(&sorted)), Some(sorted));
    }
    let _ = knows_fifos(&said);
    let server = Server { fifo: "/s/fifo", make_knows_fifos: true };
    let given = variables(2, 4, Some(server), &|name| (name == MAKEFLAGS).then(|| said.clone()));
    let flags = given.iter().find(|(name, _)| name == MAKEFLAGS).map_or("", |(_, flags)| flags);
    let options = flags.split(" -- ").next().unwrap_or_default();
    assert_eq!(options.split_whitespace().filter(|word| word.starts_with("--jobserver")).count(), 1, "{flags}");
}
