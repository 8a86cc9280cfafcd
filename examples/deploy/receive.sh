#!/bin/sh
# On the host of a deploy: `receive.sh FENCE <ARCHIVE` keeps the archive as the file `release`, unless a newer deploy was here.
# It then exits with 1 and changes nothing.
set -eu

exec 9>>fence.lock
flock 9
last=$(cat fence 2>/dev/null || echo 0)
if [ "$1" -lt "$last" ]; then
    echo "refused: fence $1 is older than $last" >&2
    exit 1
fi
# First the fence, then the archive: from here on an older deploy is refused.
echo "$1" >fence.new
mv fence.new fence
cat >release.new
mv release.new release
