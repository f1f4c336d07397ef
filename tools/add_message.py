#!/usr/bin/env python3
"""Add or change one message in both catalogues, kept sorted: add_message.py [--web] ID ENGLISH CHINESE

With --web it goes into messages/web, the page's own. Without texts the id is taken out.
"""
import fcntl
import json
import os
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "messages")


def main():
    words = sys.argv[1:]
    folder = FOLDER
    if words[:1] == ["--web"]:
        folder, words = os.path.join(FOLDER, "web"), words[1:]
    if len(words) not in (1, 3):
        sys.exit(__doc__)
    identifier, english, chinese = words if len(words) == 3 else (words[0], None, None)
    with open(os.path.join(FOLDER, ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name, text in (("en.json", english), ("zh-CN.json", chinese)):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                messages = json.load(file)
            if text is None:
                messages.pop(identifier, None)
            else:
                messages[identifier] = text
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump(dict(sorted(messages.items())), file, ensure_ascii=False, indent=2)
                file.write("\n")
            os.replace(path + ".new", path)


main()
