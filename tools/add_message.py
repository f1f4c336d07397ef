#!/usr/bin/env python3
"""Add or change one message in both catalogues, kept sorted: add_message.py ID ENGLISH CHINESE"""
import fcntl
import json
import os
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "messages")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    identifier, english, chinese = sys.argv[1:]
    with open(os.path.join(FOLDER, ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name, text in (("en.json", english), ("zh-CN.json", chinese)):
            path = os.path.join(FOLDER, name)
            with open(path, encoding="utf-8") as file:
                messages = json.load(file)
            messages[identifier] = text
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump(dict(sorted(messages.items())), file, ensure_ascii=False, indent=2)
                file.write("\n")
            os.replace(path + ".new", path)


main()
