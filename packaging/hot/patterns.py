"""Prints a linker script: the functions that at least three of some runs called, those of most runs first.

Arguments: profiles of callgrind, and the map of lld last. The hash at the end of a name changes with each build, so a
pattern takes its place; it may match functions of the same name for other types.
"""

import re
import sys
from collections import Counter

LEAST = 3
HASH = re.compile(r"17h[0-9a-f]{16}E$")
MEMBER = re.compile(r"(?:\S*/)?(lib\w+\.a)\((\S+\.o)\):\((\S+)\)$")


def called(profile):
    with open(profile, errors="replace") as text:
        return re.findall(r"^c?fn=\(\d+\) ([^\s']+)", text.read(), re.M)


def members(path):
    """The archive, object and section of each function of the C library."""
    found, at = {}, None
    with open(path) as lines:
        for line in lines:
            columns = line.split(None, 4)
            if len(columns) < 5 or not columns[3].isdigit():
                continue
            what = columns[4].strip()
            if ":(" in what:
                at = MEMBER.match(what)
            elif at:
                found.setdefault(what, "*%s:%s(%s)" % at.groups())
    return found


def main():
    *profiles, path = sys.argv[1:]
    count, archive = Counter(), members(path)
    for profile in profiles:
        count.update(list(dict.fromkeys(called(profile))))
    patterns = {}
    for name, runs in sorted(count.items(), key=lambda item: -item[1]):
        if runs < LEAST:
            break
        if HASH.search(name):
            patterns["*(.text.%s)" % HASH.sub("17h*", name)] = None
        elif name.startswith("_R"):
            patterns["*(.text.%s)" % re.sub(r"Cs[0-9A-Za-z]+_(?=\d)", "Cs*_", name)] = None
        elif name in archive:
            patterns[archive[name]] = None
    print("/* Made by packaging/hot/run. */")
    print("SECTIONS { .text.hot : {", *patterns, "} }", "INSERT BEFORE .text;", sep="\n")


main()
