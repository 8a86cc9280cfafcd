#!/bin/sh
# A GPU for each command: `gpu.sh python train.py`.
#
# The lane has a slot for each GPU that nvidia-smi(1) lists. The command waits for a free one and sees that one only.
# The exit code is that of the command. `luzia locks` says who has which.
set -eu

gpus=$(nvidia-smi --query-gpu=index --format=csv,noheader)
gpus=$(echo "$gpus" | paste -s -d , -)
luzia lanes set --quiet resource:gpu --values "$gpus"
exec luzia lock -l resource:gpu -- sh -c 'exec env CUDA_VISIBLE_DEVICES="$LUZIA_SLOT_GPU" "$@"' sh "$@"
