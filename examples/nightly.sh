#!/bin/sh
# Nightly jobs: run this once, in the directory of backup.sh and report.sh. Run it again after a change.
#
# The backup begins at 02:00 and the report at 03:00. Both take the lane `nightly`, so the report waits for a backup that takes long.
# If the host was down at that time, the job runs once when the host is up again. A job that fails gets a second attempt.
# Tasks start when a daemon or a pass starts them: see the file crontab. `luzia list --since yesterday` shows how the night went.
set -eu

luzia cron add backup '0 2 * * *' --replace --fill once --retries 1 --backoff 5m -l nightly -- ./backup.sh
luzia cron add report '0 3 * * *' --replace --fill once --retries 1 --backoff 5m -l nightly -- ./report.sh
luzia cron list
