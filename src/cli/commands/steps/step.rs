//! `luzia step`: does a part of a task once.

use crate::app::steps::step::{OnError, StepEnd, StepNews, StepOrder, step};
use crate::app::{App, AppError, Code};
use crate::cli::args::number;
use crate::cli::exit::end_code;
use crate::cli::output::console::{Answer, Console, Stop};
use clap::{Args, ValueEnum, ValueHint};

/// `luzia step`.
#[derive(Args, Clone, Debug)]
#[command(
    override_usage = "luzia step [OPTIONS] NAME -- CMD...",
    after_help = STEP_HELP
)]
pub struct StepArgs {
    /// The name of the step, its own within the task
    #[arg(value_name = "NAME")]
    pub name: String,

    /// The effect of a failure of CMD
    #[arg(long, value_enum, value_name = "WHAT", default_value = "fail")]
    pub on_error: Word,

    /// With --on-error retry: the number of further tries
    #[arg(long, value_name = "N", default_value = "3", value_parser = number::<u32>, allow_hyphen_values = true)]
    pub retries: u32,

    /// The command and its arguments
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true, value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<String>,
}

/// The effects of a failure.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    /// The step is not done; its code is passed on
    Fail,
    /// The step is done: exit 0, and the next step has the code in LUZIA_LAST_EXIT
    Store,
    /// The step is tried again after 2, 4, 8 s and so on, then as fail
    Retry,
}

const STEP_HELP: &str = "\
Notes:
  A step that is done is not done again when its task is started again. Its first 64 KiB of standard output are
  printed again, and its exit code is passed on. Standard error goes where it goes, and is not kept.
  What the last try of a failed step wrote is kept, too: luzia logs TASK --step NAME
  Between the end of CMD and its record there is an instant: if luzia is killed then, a further start runs CMD again.
  So CMD runs at least once. It runs exactly once where that instant is not hit, or where CMD itself can be repeated.
  CMD has LUZIA_STEP_NAME, and of the step done last LUZIA_LAST_STEP, LUZIA_LAST_EXIT and LUZIA_LAST_RESULT.
  LUZIA_LAST_RESULT_LEFT_OUT is the number of bytes that LUZIA_LAST_RESULT leaves out.
  A process that CMD leaves behind keeps the step from being tried again until that process ends.

Examples:
  luzia step fetch -- curl -fsS -o page https://example.org
  text=$(luzia step ask -- claude -p 'Summarise page')
  luzia step lint --on-error store -- make lint

A task that goes on where it stood after a crash:
  luzia enqueue --retries 3 -- sh -ec '
      page=$(luzia step fetch -- curl -fsS https://example.org)
      sum=$(luzia step sum -- claude -p \"Summarise: $page\")
      luzia step send -- mail -s \"$sum\" ops
      luzia finish --summary \"$sum\"'

Exit codes:
  the command's own code, or 128+N when signal N killed it; 0 with --on-error store
  1    the task does not run; nothing was run
  2    usage, or the step was done in this very start; nothing was run
  65   the record of the step cannot be read; nothing was run
  75   the step runs already; nothing was run
  125  luzia failed before the command was started
  126  the command cannot be executed
  127  there is no such command";

/// `luzia step`. `around` is the step inside which this process runs.
pub fn run(args: &StepArgs, app: &App, around: Option<&str>, console: &mut Console) -> Answer {
    let on_error = match args.on_error {
        Word::Fail => OnError::Fail,
        Word::Store => OnError::Store,
        Word::Retry => OnError::Retry(args.retries),
    };
    let order = StepOrder { name: &args.name, on_error, command: &args.command, around };
    let mut stop = None;
    let ended = step(app, &order, &mut |news| match news {
        StepNews::Output(bytes) => console.out_bytes(bytes).map_err(|why| {
            stop = Some(why);
            AppError::new(Code::Output, "standard output cannot be written")
        }),
        StepNews::Says(text) => {
            console.say(&text);
            Ok(())
        }
    });
    match (ended, stop) {
        // A reader that has gone is no failure of the step.
        (Ok(_), Some(Stop::Unwritten(error))) => Err(Stop::Unwritten(error).into()),
        (Ok(StepEnd { is_done: true, .. }), _) if on_error == OnError::Store => Ok(0),
        (Ok(StepEnd { end, .. }), _) => Ok(end_code(end)),
        (Err(_), Some(why)) => Err(why.into()),
        (Err(error), None) => Err(error.into()),
    }
}
