#!/bin/sh
# Three agents in one work tree: `three-agents.sh PROMPT PROMPT PROMPT`, called in a git repository.
#
# The agents think and edit at the same time. Their builds run one at a time, in the lane `build`: each `make` and `cargo build`
# is a link to luzia, so no agent has to remember it. Their commits run one at a time, in the lane of the work tree:
# agent-prompt.md tells each agent how. The exit code is 0 when every agent ended with 0.
set -eu

for tool in make cargo; do
    luzia shim list --quiet | cut -f 1 | grep -qx "$tool" || luzia shim add --quiet "$tool" --lane build
done
eval "$(luzia shim env)"

rules=$(sed -n 's/^> //p' "$(dirname "$0")/agent-prompt.md")
agents=
for prompt in "$@"; do
    claude -p "$prompt" --append-system-prompt "$rules" &
    agents="$agents $!"
done
code=0
for agent in $agents; do
    wait "$agent" || code=1
done
exit "$code"
