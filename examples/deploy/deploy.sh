#!/bin/sh
# A deploy lock with fences: `deploy.sh HOST ARCHIVE`.
#
# One deploy to a host runs at a time. `luzia guard` ends the upload if the lock is lost meanwhile, e.g. by `luzia release --force`.
# Each deploy has a fence, a number greater than that of every deploy before. receive.sh on the host refuses a smaller number than
# the last, so even a deploy that wakes up late cannot overwrite a newer one. The exit code is that of receive.sh.
set -eu

upload='exec ssh "$1" ./receive.sh "$LUZIA_FENCE" <"$2"'
exec luzia lock -l "deploy:$1" -- luzia guard -- sh -c "$upload" sh "$1" "$2"
