#!/bin/sh
# npm and pip take turns: `eval "$(./npm-pip.sh)"`, e.g. in ~/.profile.
#
# From then on `npm` and `pip` on PATH are links to luzia. Two installs in one directory run one after the other; installs in
# other directories do not wait. `npm run dev` and `pip --version` never wait. `luzia shim rm npm pip` takes the links away.
set -eu

for tool in npm pip; do
    luzia shim list --quiet | cut -f 1 | grep -qx "$tool" || luzia shim add --quiet "$tool" --lane @dir
done
luzia shim env
