/* The second name of a lock file (docs/locks.md, "Removed lock files"): another program removes lock files while their holders live.
 *
 * Two processes want a lane of one slot. Under its guard each looks, judges, breaks what is dead, makes the lock file, gives it
 * its second name, works, and gives the lane back. Each may be killed before every step; the kernel then frees its guard.
 * A remover unlinks the lock file at any moment. A looker without the guard puts a lock file back that has a second name only.
 * A name holds the number of the process that made the file, 0 is no file.
 *
 * Checked:
 *  S1 never do two living processes work in the lane
 *  S2 a lane that was given back by a process that lives on is not held in its name
 *
 * Mutants: -DM_NO_PUT_BACK  an acquirer does not look at the second name (S1)
 *          -DM_BLIND        the maker does not see that the lock file was removed before it had its second name (S1)
 *          -DM_LOCK_FIRST   a release removes the lock file before the second name (S2)
 */
#define N 2
#define REMOVALS 2

byte lock, second;            /* what the two names hold */
byte guard;                   /* who is in the guard */
bool alive[N + 1], inside[N + 1], done[N + 1];

inline put_back() {
    if :: lock == 0 && second != 0 -> lock = second :: else -> skip fi
}

inline die(me) {
    alive[me] = false; inside[me] = false;
    if :: guard == me -> guard = 0 :: else -> skip fi
}

proctype Holder(byte me) {
    byte seen;
    atomic { guard == 0 -> guard = me }
    if :: atomic { die(me); goto over } :: skip fi;
    atomic { seen = lock }
    if
#ifndef M_NO_PUT_BACK
    :: atomic { seen == 0 -> put_back(); seen = second }                       /* the second name speaks for the lock file */
#endif
    :: else -> skip
    fi;
    if
    :: atomic { seen != 0 && alive[seen] -> guard = 0; goto over }             /* held */
    :: atomic { seen == 0 || !alive[seen] -> second = 0 }                      /* a break removes the second name first */
    fi;
    if :: atomic { die(me); goto over } :: skip fi;
    atomic { lock = 0 }
    if :: atomic { die(me); goto over } :: skip fi;
    atomic { lock = me }                                                       /* O_EXCL under the guard */
    if :: atomic { die(me); goto over } :: skip fi;
    if
    :: atomic { lock == me -> second = me }                                    /* link(2) */
#ifdef M_BLIND
    :: atomic { lock != me -> skip }
#else
    :: atomic { lock != me -> guard = 0; goto over }                           /* removed meanwhile: nothing was taken */
#endif
    fi;
    if :: atomic { die(me); goto over } :: skip fi;
    atomic { inside[me] = true; guard = 0; assert(!(inside[1] && inside[2])) } /* S1 */
    if :: atomic { die(me); goto over } :: skip fi;
    atomic { inside[me] = false }                                              /* I5: it stops before it releases */
    atomic { guard == 0 -> guard = me }
    if :: atomic { die(me); goto over } :: skip fi;
    /* The sidecar says that the lock is its own. */
#ifdef M_LOCK_FIRST
    atomic { if :: lock == me -> lock = 0 :: else -> skip fi }
#else
    atomic { second = 0 }
#endif
    if :: atomic { die(me); goto over } :: skip fi;
#ifdef M_LOCK_FIRST
    atomic { second = 0 }
#else
    atomic { if :: lock == me -> lock = 0 :: else -> skip fi }
#endif
    atomic { done[me] = true; guard = 0; assert(lock != me && second != me) }  /* S2 */
over: skip
}

proctype Remover() {
    byte n = 0;
    do
    :: n < REMOVALS -> atomic { lock = 0; n++ }
    :: break
    od
}

/* Looks without the guard: one step finds no lock file, a later one links. */
proctype Looker() {
    if
    :: atomic { lock == 0 -> skip }; atomic { put_back() }
    :: skip
    fi
}

init {
    atomic {
        alive[1] = true; alive[2] = true;
        run Holder(1); run Holder(2); run Remover(); run Looker()
    }
    (_nr_pr == 1);
    /* S2, also when the looker came last */
    assert(!(done[1] && (lock == 1 || second == 1)));
    assert(!(done[2] && (lock == 2 || second == 2)))
}
