/* Who may take a lane from a holder that it perhaps cannot see (docs/guarantees.md, rows j5 and j5b of the judge).
 *
 * Pid namespaces: 0 is the initial one; 1 and 2 are its children, and siblings of each other. A process of namespace 0
 * sees all processes; one of 1 or 2 sees its own namespace only, and nothing where its /proc belongs to another one.
 * A namespace ends with all its processes.
 *
 * The holder is a task (-DTASK) or a `luzia lock` (default), started in some namespace. It has a keeper (the supervisor,
 * or `luzia lock` itself), a command, and a process that the command leaves behind. Each has the kernel lock open, and the
 * command and what it leaves behind may close it. Any of them may be killed at any moment.
 *
 * Judges in each namespace look and take the lane when the judge of luzia says that its holder is dead. One atomic step is
 * one look; a judge that recovers a task ends first what it sees of its tree, as a sweep does.
 *
 * Checked:
 *  N1 a judge never takes a lane while a process that has the kernel lock open lives
 *  N2 a judge never takes a lane of a task while any process of its tree lives
 *  N3 a judge never takes a lane of `luzia lock` while luzia or its command lives in its sight
 *  N4 when every process of the holder is dead, the judge of the initial namespace takes the lane; for `luzia lock` each does
 *
 * Mutants: -DM_NO_WITNESS   a task is recovered by a judge that is blind
 *          -DM_FOREIGN_PROC a judge believes a /proc of another namespace
 *          -DM_SIBLING_GONE a sibling says that a namespace is gone because it sees no process of it
 *          -DM_NO_PROBE     a free lock file is proof also where luzia or its command is seen alive
 *          -DM_FREE_NO_PROOF a free lock file is proof in its own namespace only (breaks N4)
 */
#define KEEPER 0
#define COMMAND 1
#define LEFT 2
#define LOOKS 3

byte home;                    /* the namespace in which the holder was started */
bool alive[3];                /* keeper, command, what it left behind */
bool open_lock[3];            /* which of them have the kernel lock open */
bool home_exists;             /* whether the namespace of the holder still exists */
bool taken;                   /* the lane has been taken from the holder */

#define LOCKED ((alive[KEEPER] && open_lock[KEEPER]) || (alive[COMMAND] && open_lock[COMMAND]) || (alive[LEFT] && open_lock[LEFT]))
#define LIVES (alive[KEEPER] || alive[COMMAND] || alive[LEFT])
/* Whether a judge in namespace n with a /proc of its own sees the processes of the holder. */
#define IN_SIGHT(n) (n == 0 || (n == home && home_exists))

/* policy::witness: whether a judge would not see the tree if it lived. */
inline witness(n, is_proc_own, blind) {
    if
#ifdef M_FOREIGN_PROC
    :: !is_proc_own -> blind = false
#else
    :: !is_proc_own -> blind = true
#endif
    :: is_proc_own && (n == home || n == 0) -> blind = false       /* here, above, or gone */
#ifdef M_SIBLING_GONE
    :: is_proc_own && n != home && n != 0 -> blind = false
#else
    :: is_proc_own && n != home && n != 0 -> blind = true
#endif
    fi
}

/* Takes the lane, which is what must be right. */
inline take(n, is_proc_own) {
    assert(!LOCKED);                                                       /* N1 */
#ifdef TASK
    assert(!LIVES);                                                        /* N2 */
#else
    assert(!(is_proc_own && IN_SIGHT(n) && (alive[KEEPER] || alive[COMMAND]))); /* N3 */
#endif
    taken = true
}

proctype Judge(byte n) {
    byte looks = 0; bool blind, own;
    do
    :: looks < LOOKS -> atomic {
        looks++; blind = true;
        if :: own = true :: n != 0 -> own = false fi;
        if
        :: taken || LOCKED -> skip                                         /* j3: alive */
        :: else ->
#ifdef TASK
            witness(n, own, blind);
#ifdef M_NO_WITNESS
            blind = false;
#endif
            if
            :: blind -> skip
            :: else ->
                /* A sweep ends what it sees. */
                if
                :: own && IN_SIGHT(n) -> alive[COMMAND] = false; alive[LEFT] = false; alive[KEEPER] = false
                :: else -> skip
                fi;
                take(n, own)
            fi
#else
            if
#ifndef M_NO_PROBE
            :: own && IN_SIGHT(n) && (alive[KEEPER] || alive[COMMAND]) -> skip
#endif
#ifdef M_FREE_NO_PROOF
            :: !(own && IN_SIGHT(n)) -> skip
            :: own && IN_SIGHT(n) && !(alive[KEEPER] || alive[COMMAND]) -> take(n, own)
#else
            :: else -> take(n, own)
#endif
            fi
#endif
        fi }
    :: looks >= LOOKS -> break
    od
}

/* Everything that may happen to the holder, in any order, or not at all. */
proctype Fate() {
    byte p;
    do
    :: atomic { open_lock[COMMAND] -> open_lock[COMMAND] = false }
    :: atomic { open_lock[LEFT] -> open_lock[LEFT] = false }
    :: atomic { alive[KEEPER] -> alive[KEEPER] = false }
    :: atomic { alive[COMMAND] -> alive[COMMAND] = false }
    :: atomic { alive[LEFT] -> alive[LEFT] = false }
    :: atomic { home != 0 && home_exists ->                                   /* the namespace ends with its processes */
        home_exists = false;
        p = 0; do :: p < 3 -> alive[p] = false; p++ :: p >= 3 -> break od }
    :: break
    od
}

init {
    byte n = 0;
    atomic {
        if :: home = 0 :: home = 1 fi;
        home_exists = true;
        do :: n < 3 -> alive[n] = true; open_lock[n] = true; n++ :: n >= 3 -> break od;
        run Judge(0); run Judge(1); run Judge(2); run Fate()
    }
    (_nr_pr == 1);
    /* N4: everybody has looked; now all are dead and each that should take the lane, does. */
    atomic {
        n = 0; do :: n < 3 -> alive[n] = false; n++ :: n >= 3 -> break od;
        if :: home_exists = false :: skip fi;
        taken = false;
#ifdef TASK
        run Judge(0)
#else
        if :: run Judge(0) :: run Judge(1) :: run Judge(2) fi
#endif
    }
    (_nr_pr == 1);
    assert(taken)
}
