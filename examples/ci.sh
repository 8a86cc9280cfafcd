#!/bin/sh
# CI on one runner: `ci.sh make test`, in the checkout of a commit. CI_JOB_NAME names the step.
#
# Steps run one at a time. The same step of the same commit, asked for twice at once, runs once: both callers get its output and
# its exit code. That is the code of the command, 1 for a task that was cancelled, 124 for one that took longer than 30 minutes.
set -eu

key=${CI_JOB_NAME:-build}-${CI_COMMIT:-$(git rev-parse --short HEAD)}
exec luzia run -u ci --key "$key" --on-conflict join --timeout 30m -- "$@"
