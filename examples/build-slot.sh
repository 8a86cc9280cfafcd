#!/bin/sh
# Build slots for a laptop: `build-slot.sh make -C app`.
#
# At most two builds run at once, and together they use no more processors than there are. The others wait in the order in which
# they came. The exit code is that of the build. `luzia locks` says who builds now.
set -eu

luzia lanes set --quiet build --max 2 --cpu-budget auto
exec luzia lock -l build --close -- "$@"
