#!/bin/sh
# A CI step that takes its turn: `ci.sh make test`. Two steps of one commit become one task, and steps of other commits wait.
# It exits with the code of the command: 1 stands for a task that was cancelled, 124 for one that ran out of time.
set -u
commit=${CI_COMMIT:-$(git rev-parse --short HEAD)}
id=$(luzia enqueue -u ci --key "build-$commit" --on-conflict skip --timeout 30m -- "$@") || exit
luzia dispatch --quiet >/dev/null
luzia wait "$id" --stream --timeout 2h
