"""Prints a linker script: the functions that some commands called, those of most commands first, and side by side those of the
same commands.

Arguments: the map of lld for glibc, and profiles of callgrind, of programs for glibc and for musl. lld keeps one of equal functions;
the map names the section that each is in. GNU ld, which links for musl, keeps all. A pattern takes the place of what changes with
each build; it may match functions of the same name for other types.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

# The end of a name: a hash that changes with each build, and a number where parts of the program have functions of one name.
HASH, NUMBER = re.compile(r"17h[0-9a-f]{16}E.*$"), re.compile(r"\.\d+$")
MEMBER = re.compile(r"(?:\S*/)?(lib\w+\.a)\((\S+\.o)\):\((\S+)\)$")
FUNCTION = re.compile(r"\S*:\((\.text\.\S+)\)$")
# The first function; all of musl that the program has, for its map names no objects; a system call that valgrind(1) does not know.
FURTHER = ["*crt1.o(.text .text.*)", "*libc.a:*.lo(.text .text.*)", "*(.text._ZN6rustix2fs7openat27openat2*)"]


def profile(path):
    """The verb of a profile, and the functions that were called."""
    read = path.read_text(errors="replace")
    words = re.search(r"^cmd:\s+(.*)$", read, re.M).group(1).split()
    verb = words[3] if words[1:2] == ["--state-dir"] else words[1] if words[1:] else words[0]
    return verb, re.findall(r"^c?fn=\(\d+\) ([^\s']+)", read, re.M)


def pattern(section):
    """The pattern for a section of a map; None where it is no function."""
    if found := MEMBER.match(section):
        return "*%s:%s(%s)" % found.groups()
    found = FUNCTION.match(section)
    if not found:
        return None
    name = found.group(1)
    if HASH.search(name):
        return "*(%s)" % HASH.sub("17h*", name)
    return "*(%s*)" % re.sub(r"Cs[0-9A-Za-z]+_(?=\d)", "Cs*_", NUMBER.sub("", name))


def patterns(path):
    """The pattern for the section of each function of a map."""
    found, at = {}, None
    with open(path) as lines:
        for line in lines:
            columns = line.split(None, 4)
            if len(columns) < 5 or not columns[3].isdigit():
                continue
            what = columns[4].strip()
            if ":(" in what:
                at = pattern(what)
            elif at:
                found.setdefault(what, at)
    return found


def main():
    known, verbs = patterns(sys.argv[1]), defaultdict(set)
    for verb, names in map(profile, map(Path, sys.argv[2:])):
        for name in names:
            own = pattern(f":(.text.{name})") if name.startswith(("_ZN", "_R")) else None
            for found in filter(None, (own, known.get(name))):
                verbs[found].add(verb)
    ordered = sorted(verbs, key=lambda one: (-len(verbs[one]), sorted(verbs[one]), one))
    print("/* Made by packaging/hot/run. */")
    print("SECTIONS { .text.hot : {", *FURTHER, *ordered, "} }", "INSERT BEFORE .text;", sep="\n")


main()
