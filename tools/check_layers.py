#!/usr/bin/env python3
"""Check that includes go downward: check_layers.py [SOURCE_FOLDER]

Reads src/layers.txt, then every #include of src/. Says file and line of each that the map does not allow,
and of heavy libraries in headers: Asio, Beast, SQLite, and of Boost.JSON all but fwd.hpp.
Beast may be instantiated by two .cc files at most. Exits 1 when something was found.
"""
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
HEAVY = re.compile(r"boost/(asio|beast)\b|sqlite3\.h$|fmt/|boost/json(?!/fwd\.hpp$)")
MOST_BEAST = 2
GENERATED = {"msg": "base", "catalogue.inc": "words"}  # made by tools/messages.py


def read_map(path):
    allowed = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            room, colon, rest = line.partition(":")
            if not colon:
                sys.exit(f"{path}:{number}: a line is 'room: rooms it may include'.")
            # Downward by construction: a room may name only rooms that stand above its own line.
            for other in rest.split():
                if other not in allowed and other not in ("testing", "sim"):
                    sys.exit(f"{path}:{number}: {room} names {other}, which is not above it.")
            allowed[room.strip()] = set(rest.split())
    return allowed


def includes(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1), match.group(2)


def check_file(path, name, room, allowed):
    """Sentences about one file."""
    test = name.endswith("_test.cc")
    for number, quoted, angled in includes(path):
        where = f"{name}:{number}"
        target = quoted or angled
        if name.endswith(".h") and HEAVY.search(target):
            yield f"{where}: {target} in a header; include it in a .cc."
        if angled:
            continue
        other = GENERATED.get(quoted) or GENERATED.get(quoted.split("/")[0]) or quoted.split("/")[0]
        if quoted not in GENERATED and ("/" not in quoted or quoted.startswith(".")):
            yield f'{where}: write the room too, as "{room}/{os.path.basename(quoted)}".'
        elif other not in allowed:
            yield f"{where}: {other} is no room of layers.txt."
        elif other != room and other not in allowed[room] and not (test and other == "testing"):
            yield f"{where}: {room} may not include {other}; layers.txt allows it {' '.join(sorted(allowed[room])) or 'nothing'}."


def check(source):
    allowed = read_map(os.path.join(source, "layers.txt"))
    faults, beast = [], []
    for folder, folders, files in sorted(os.walk(source)):
        folders.sort()
        for file in sorted(files):
            if not file.endswith((".h", ".cc")):
                continue
            path = os.path.join(folder, file)
            name = os.path.relpath(path, source)
            room = name.split(os.sep)[0]
            if room not in allowed:
                faults.append(f"{name}: {room} is no room of layers.txt.")
                continue
            faults += check_file(path, name, room, allowed)
            if name.endswith(".cc") and any((angled or "").startswith("boost/beast") for _, _, angled in includes(path)):
                beast.append(name)
    if len(beast) > MOST_BEAST:
        faults.append(f"Beast is in {len(beast)} files, at most {MOST_BEAST} may have it: {', '.join(beast)}.")
    return faults


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    faults = check(sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..", "src"))
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
