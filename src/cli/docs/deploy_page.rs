//! The manual page luzia-deploy(7): how to operate luzia.

use super::roff::references;
use super::title;

/// The page, as roff.
pub(super) fn page() -> String {
    let related = [
        ("luzia", 1),
        ("luzia-daemon", 1),
        ("luzia-dispatch", 1),
        ("luzia-doctor", 1),
        ("luzia-metrics", 1),
        ("luzia-config", 5),
        ("luzia-spool", 5),
        ("luzia-agents", 7),
        ("luzia-exit-codes", 7),
    ];
    title("luzia-deploy", 7) + TEXT + &references(&related)
}

const TEXT: &str = r#".SH NAME
luzia\-deploy \- operate luzia(1): start tasks, upgrade, back up, move, size, and answer alerts
.SH DESCRIPTION
luzia is one program and one state directory. This page is for the person who looks after them.
.B luzia status
names the state directory in use and the rule that chose it.
.B luzia doctor
looks for problems and names the command that helps.
.SH INSTALL
.B cargo install \-\-locked \-\-path .
builds the program in a checkout, and
.BR luzia\-install\-docs (1)
writes manual pages and completions. For hosts without a compiler
.I packaging/release
builds a .deb, a .rpm, and a tar.gz with the same static program. A package has the pages, the completions and both units of
systemd(1). It depends on no other package, starts nothing and creates no account; its removal leaves the queues. The folder
.I packaging
of this page is
.I /usr/share/luzia/packaging
there.
.SH TWO DEPLOYMENTS
A task starts when a pass looks at the queue. Every task that ends makes a pass, and so do
.BR "luzia run" ", " "luzia dispatch"
and the daemon. Choose one of two ways to have passes at all other times. Passes of several processes at once are safe, so a
mixture is safe as well.
.SS Without a daemon
Locks and
.B luzia run
need nothing else. For tasks that were queued, schedules and retries, cron(8) makes a pass a minute. Take
.I examples/crontab
for one account, or
.I packaging/cron.d/luzia
for the queue of the account luzia in
.IR /var/lib/luzia .
.SS With a daemon
The daemon starts a task at the moment when its turn comes, and makes schedules on time. Each task has a supervisor of its own,
so a daemon that stops or is killed ends no task. As a unit of one account:
.PP
.EX
luzia daemon \-\-install
systemctl \-\-user daemon\-reload
systemctl \-\-user enable \-\-now luzia
loginctl enable\-linger
.EE
.PP
The last line lets the daemon run while the account is logged out. As a unit of the host, with the queue of an account luzia:
.PP
.EX
sudo useradd \-\-system \-\-create\-home luzia
sed "s|/usr/bin/luzia|$(command \-v luzia)|" packaging/systemd/luzia.service |
    sudo tee /etc/systemd/system/luzia.service >/dev/null
sudo systemctl daemon\-reload
sudo systemctl enable \-\-now luzia
sudo \-u luzia luzia enqueue \-u alice \-\- true
.EE
.PP
The second command is for a checkout: a package has put the unit into its place. The program has to be at a path that the
account luzia can read, e.g.
.IR /usr/local/bin .
A queue belongs to one account: other accounts queue through
.BR sudo (8),
or have a queue of their own. A daemon starts only tasks that were queued in its own sandbox, so do not add options such as
.B ProtectSystem=
to the unit (see
.IR packaging/systemd/hardening.conf ).
.SH UPGRADE
Tasks may run meanwhile.
.IP 1. 3
Put the new program in the place of the old one by rename(2), as
.B cargo install
and package managers do. A running task keeps the supervisor that it has. Every later task gets one of the new program.
.IP 2. 3
Start the daemon again, if there is one:
.BR "systemctl \-\-user restart luzia" .
Servers of
.B luzia mcp
are replaced when their agents start again.
.IP 3. 3
.B luzia doctor
says whether every record reads.
.PP
To go back, put the old program in the place of the new one in the same way. Each version keeps the members of records that it does
not know, and warns of unknown keys of the configuration. A record of a newer format is left alone:
.B luzia dispatch
exits with 65, and
.B luzia doctor
names the file. Such a task waits until the newer program is back. A task in a kind of queue that the old program does not know
waits as well.
.SH BACKUP
A queue is restored from a copy that was taken while nothing ran:
.PP
.EX
luzia pause \-\-all \-\-reason backup
luzia wait \-\-all \-\-state running
luzia list\-locks
cp \-a ~/.local/state/luzia /backup/luzia
luzia resume \-\-all
.EE
.PP
.B luzia wait
exits with 66 when no task runs, which is right here. The locks that are left belong to
.BR "luzia lock" ,
sessions and leases. In the copy those of processes are free, and the others end by their time. The copy holds the pause, so nothing
in it starts before you say so.
.PP
A copy beside its original harms nothing. It can be looked at:
.PP
.EX
luzia \-\-state\-dir /backup/luzia list \-a
luzia \-\-state\-dir /backup/luzia doctor
.EE
.PP
A pass in a copy would start what is pending there, which the original may start too. So resume nothing in a copy.
.SH RESTORE
Only on the same host, and only when the original is gone for good: no task of it runs, and nothing is at its path. Stop the daemon
and the line of cron first.
.PP
.EX
cp \-a /backup/luzia ~/.local/state/luzia
luzia doctor \-\-fix \-\-yes
luzia list
luzia resume \-\-all
.EE
.PP
The second line makes the copy a state directory of its own. Tasks that ended after the backup run again, so cancel those that must
not. Ids of tasks and fences that were given after the backup are given again: a store that keeps the greatest fence has to forget it.
.SH MOVE
.B mv
within one file system needs no stop: tasks that run go on. Put nothing at the old path while they do. Name the new path to every
caller, by
.B LUZIA_STATE_DIR
or
.BR \-\-state\-dir :
a caller with another directory has another queue, without exclusion. Across file systems a move is a backup and a restore: pause, wait,
.BR mv ,
.BR "luzia doctor \-\-fix" ,
resume. To another host nothing is moved. Let the queue run dry there with
.B luzia dispatch \-\-drain
and queue new work on the new host.
.SH SIZE
.TP
Tasks at once
One for each processor, at least 4.
.B luzia lanes set global \-\-max 8
sets another number at once,
.B slots.max
in the configuration for good.
.TP
Memory
About 4 MB for a daemon. All processes of luzia share the program; a supervisor adds less than 1 MB for each running task.
.TP
Disk
A pending task is one file of 4 KiB. A finished one is five files and about 14 KiB, without its output. Of its output the newest
.B logs.max_bytes
(256 MiB) are kept. So the default of 10,000 finished tasks takes 140 MB and 50,000 inodes, and outputs.
.TP
Retention
.B retention.days
(7) and
.B retention.tasks
(10,000) bound the finished tasks. Passes remove the oldest. luzia never removes
.IR spool/corrupt .
.TP
File system
A local one, e.g. ext4 or xfs. luzia refuses NFS, SMB and FUSE. Each start of a task waits for the disk three times, so a slow disk
bounds the starts per second.
.TP
Length of the queue
A million pending tasks of 10,000 users were tried; a pass then takes 24 ms.
.SH ALERTS
.B luzia metrics \-\-textfile FILE
writes the numbers for the node exporter of Prometheus, e.g. once a minute by cron(8).
.I packaging/prometheus/luzia.rules.yml
has five alerts, and
.I packaging/grafana/luzia.json
a dashboard.
.TP
.B LuziaLaneStuck
A task has waited for a lane for more than an hour.
.B luzia explain \-l LANE
says who holds the lane, whether the holder lives, and what to do. Every waiting task waits for the lane
.B global
too, so look at the other lanes first.
.TP
.B LuziaNothingDispatches
Tasks are pending, and nothing starts them.
.B luzia dispatch
starts them now. Then look after the daemon,
.BR "systemctl \-\-user status luzia" ,
or after the line of cron: its
.B PATH
has to name the folder of luzia.
.TP
.B LuziaTasksFail
More than half of the tasks of the last hour failed.
.B luzia list \-\-state failed \-\-since 1h
lists them, and
.B luzia logs TASK
prints what one of them said. After the repair,
.B luzia retry \-\-state failed \-\-since 1h
queues all of them again.
.TP
.B LuziaLocksOfTheDead
A lock has a holder that is dead or late, for a quarter of an hour.
.B luzia list\-locks \-\-state stale,orphan,overdue
shows the lock and the proof. For
.I stale
and
.IR orphan ,
.B luzia cleanup\-stale \-n
says what would be done, and
.B luzia cleanup\-stale
does it: it ends what a dead task left running and frees the lane. The next pass does so too, so this alert also says that no pass is made.
An
.I overdue
holder lives, and nothing takes its lane away;
.B luzia explain \-l LANE
names the command that would end it.
.TP
.B LuziaRecordsSetAside
A record is damaged, after a defect of the disk or by the hand of another program. The task was accepted and will not run.
.B luzia doctor
names the file below
.IR spool/corrupt .
Read it, queue the work again, and move the file away. Then look at the disk.
.SH FILES
.TP
.I packaging/systemd
The units, and the options for a hardened one.
.TP
.I packaging/cron.d
Passes by cron(8) for the account luzia.
.TP
.I packaging/prometheus
The rules of the alerts.
.TP
.I packaging/config
Configurations to begin with.
.SH ENVIRONMENT
.TP
.B LUZIA_STATE_DIR
The state directory, where the usual places are not meant. Every caller needs it, also the daemon and cron.
.SH SEE ALSO
"#;
