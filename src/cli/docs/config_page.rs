//! The manual page luzia-config(5), from the table that reads the configuration.

use super::roff::{references, text};
use super::title;
use crate::app::config_reference;

/// The page, as roff.
pub(super) fn page() -> String {
    let mut page = title("luzia-config", 5);
    page += HEAD;
    for key in config_reference() {
        page += &format!(".TP\n\\fB{}\\fR\n{}\n", text(&key.path), text(key.meaning));
        for (word, value) in [("Value", key.form.as_str()), ("Default", &key.default), ("Takes effect", key.effect)] {
            page += &format!(".br\n{word}: {}.\n", text(value));
        }
        page += &format!(".br\nExample: \\fB{}\\fR\n", text(&key.example));
    }
    page += TAIL;
    page += &references(&[("luzia", 1), ("luzia-config", 1), ("luzia-lanes", 1), ("luzia-spool", 5)]);
    page
}

const HEAD: &str = r#".SH NAME
luzia\-config \- the configuration file of luzia(1): every key, its default, and when a change takes effect
.SH DESCRIPTION
The configuration is one JSON object in a file of at most 1 MiB. The file belongs to the account or to root, and other
accounts cannot write to it. Without a file the defaults apply.
.PP
A change takes effect without a restart: daemons and supervisors read a changed file before they start anything else. While
the file is invalid, no new task starts; running tasks finish, and
.BR cancel ,
.BR wait ,
.BR logs ,
.B renew
and
.B release
still work.
.PP
A key that luzia does not know is ignored with a warning, so that a newer configuration can be read by an older luzia. A
value of the wrong form, and a key that is given twice, are errors; they are named by line and column.
.B null
stands for a key that is left out.
.PP
.B luzia config check \-\-strict
also fails where a key has no effect.
.B luzia config show
prints the values in force as a file to start from, and
.B luzia config schema
prints a JSON Schema (draft 2020\-12) for editors. In the schema a key that luzia does not know is an error.
.SH KEYS
A dot leads into an inner object.
.I NAME
stands for a name of your choice: that of a project below
.BR projects ,
and below
.B lanes
a lane such as
.B deploy
or
.BR user:alice ,
or a pattern that ends in *, such as
.BR session:* .
"#;

const TAIL: &str = r#".SH FILES
The first of these counts. One that is named must exist; of the others, the first that exists counts:
.TP
\fB\-\-config\fR \fIFILE\fR
If it is given, it must exist.
.TP
.B $LUZIA_CONFIG
If it is set, the file must exist.
.TP
.B $XDG_CONFIG_HOME/luzia/config.json
The configuration of the account;
.B ~/.config
stands for XDG_CONFIG_HOME where that is not set.
.TP
.B /etc/luzia/config.json
The configuration of the host.
.SH ENVIRONMENT
.TP
.B LUZIA_CONFIG
The configuration file, unless
.B \-\-config
is given.
.TP
.B XDG_CONFIG_HOME
The folder of configurations of the account.
.SH EXAMPLES
.nf
{
  "v": 1,
  "slots": { "max": 8 },
  "lanes": {
    "deploy": { "max": 1 },
    "session:*": { "max": 2, "lock_timeout_seconds": 600 }
  },
  "retention": { "days": 30 }
}
.fi
.SH SEE ALSO
"#;
