#!/usr/bin/env python3
"""Check that every message of the catalogue is used: check_messages.py [ROOT]

C++ uses one as msg::TaskUnknown or by its id in quotes, the page by its id in quotes.
Ids that begin with `web.` are the page's own and are checked there. Exits 1 naming those nobody uses.
"""
import os
import re
import sys

from messages import read_catalogue, struct_name

USE = re.compile(r'\bmsg::([A-Za-z0-9]+)|["\'`]([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+)["\'`]')


def uses(root):
    """Struct names and ids that stand in the sources."""
    found = set()
    for part, endings in (("src", (".h", ".cc")), ("web/src", (".ts", ".tsx"))):
        for folder, _, files in os.walk(os.path.join(root, part)):
            for file in files:
                # A test that uses a message does not make it one that people meet.
                if not file.endswith(endings) or file.endswith("_test.cc"):
                    continue
                with open(os.path.join(folder, file), encoding="utf-8") as source:
                    for struct, identifier in USE.findall(source.read()):
                        found.add(struct or identifier)
    return found


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..")
    found = uses(root)
    unused = [identifier for identifier in read_catalogue(os.path.join(root, "messages", "en.json"))
              if not identifier.startswith("web.") and identifier not in found and struct_name(identifier) not in found]
    for identifier in unused:
        print(f"{identifier}: nobody uses this message; use it, or take it out of both catalogues.")
    sys.exit(1 if unused else 0)


if __name__ == "__main__":
    main()
