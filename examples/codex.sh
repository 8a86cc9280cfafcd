#!/bin/sh
# Starts of codex: `codex.sh CHAT PROMPT`.
#
# Prompts of one chat run one after the other, in the order in which they came. At most two chats are served at once, and
# codex starts at most ten times a minute. A prompt that takes an hour is ended (124). Otherwise the exit code is that of codex.
set -eu

luzia lanes set --quiet codex --max 2 --rate 10/1m
exec luzia run --thread "$1" -l codex --timeout 1h -- codex exec "$2"
