#!/usr/bin/env python3
"""Make C++ of the two catalogues: messages.py EN ZH OUTDIR

Writes OUTDIR/msg/PREFIX.h for each first word of an id (one struct an id; a new message compiles again only what
includes its prefix), OUTDIR/messages.h with all of them, OUTDIR/messages.cc (their way to a Message) and
OUTDIR/catalogue.inc (id, English, Chinese, sorted by id). A file whose content stays is left alone.

A text holds placeholders: {name} or {name:text}, {n:int}, {d:duration}, {b:bytes}, {x:real}, {t:time}, and
{n?GPU|GPUs}, which chooses by the integer n (1 takes the first). {{ and }} are braces.
A bare {name} takes the type that is said elsewhere for that name, in either language; else it is text.
"""
import json
import os
import re
import sys

TYPES = {
    "text": ("std::string", ""),
    "int": ("int64_t", " = 0"),
    "duration": ("Duration", "{}"),
    "bytes": ("int64_t", " = 0"),
    "real": ("double", " = 0"),
    "time": ("Time", "{}"),
}
STORED = {"duration": "ToMillis({})", "time": "ToMillis({}.time_since_epoch())"}
KEYWORDS = frozenset(
    """alignas alignof and asm auto bool break case catch char class concept const constexpr continue decltype default
    delete do double else enum explicit export extern false float for friend goto if inline int long mutable namespace
    new not nullptr operator or private protected public register requires return short signed sizeof static struct
    switch template this throw true try typedef typeid typename union unsigned using virtual void volatile while xor
    bitand bitor compl""".split())

NAME = re.compile(r"[a-z][a-z0-9_]*")
IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")
PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class Fault(Exception):
    """A sentence for the one who edits the catalogue."""


def read_catalogue(path):
    def unique(pairs):
        seen = {}
        for key, value in pairs:
            if key in seen:
                raise Fault(f"{path}: {key} is there twice; keep one.")
            seen[key] = value
        return seen

    with open(path, encoding="utf-8") as file:
        try:
            texts = json.load(file, object_pairs_hook=unique)
        except ValueError as error:
            raise Fault(f"{path}: not JSON: {error}.") from error
    for identifier, text in texts.items():
        if not IDENTIFIER.fullmatch(identifier):
            raise Fault(f"{path}: the id {identifier!r} must be lower-case words with dots, as task.unknown.")
        if not isinstance(text, str) or not text:
            raise Fault(f"{path}: {identifier} must be a text that is not empty.")
    return texts


def split(text, where):
    """The text as a list of str and (name, type or None, choices or None)."""
    pieces, end = [], 0
    for match in PIECE.finditer(text):
        pieces.append(text[end:match.start()])
        end = match.end()
        body = match.group(1)
        if body is None:
            if len(match.group()) == 1:
                raise Fault(f"{where}: a lone {match.group()!r}; write it twice for a brace.")
            pieces.append(match.group()[0])
            continue
        if "?" in body:
            name, _, choices = body.partition("?")
            kind, choices = "int", choices.split("|")
            if len(choices) != 2:
                raise Fault(f"{where}: {{{body}}} must give two texts, as {{n?GPU|GPUs}}.")
        else:
            name, colon, kind = body.partition(":")
            kind, choices = (kind if colon else None), None
            if kind is not None and kind not in TYPES:
                raise Fault(f"{where}: {{{body}}} has the unknown type {kind!r}; types are {', '.join(TYPES)}.")
        if not NAME.fullmatch(name):
            raise Fault(f"{where}: {{{body}}} is no placeholder; a name is lower-case letters, digits and _.")
        if name in KEYWORDS:
            raise Fault(f"{where}: {{{body}}}: {name!r} is a word of C++; choose another name.")
        pieces.append((name, kind, choices))
    pieces.append(text[end:])
    return [piece for piece in pieces if piece != ""]


def types_of(identifier, languages):
    """{name: type} in the order of English, from the pieces of each language."""
    placeholders = {}
    for language, pieces in languages.items():
        for piece in pieces:
            if isinstance(piece, tuple):
                placeholders.setdefault(piece[0], {}).setdefault(language, []).append(piece)
    types = {}
    for name, uses in placeholders.items():
        for language in languages:
            others = [use for other in uses if other != language for use in uses[other]]
            if language not in uses and any(choices is None for _, _, choices in others):
                raise Fault(f"{identifier}: the placeholder {{{name}}} is missing in {language}.")
        said = {kind for each in uses.values() for _, kind, _ in each if kind}
        if len(said) > 1:
            raise Fault(f"{identifier}: the placeholder {{{name}}} is said to be {' and '.join(sorted(said))}; "
                        "give it one type in both languages.")
        types[name] = said.pop() if said else "text"
    return types


def canonical(pieces, types):
    """The text again, with every type said, so that the renderer needs no look across languages."""
    text = ""
    for piece in pieces:
        if isinstance(piece, str):
            text += piece.replace("{", "{{").replace("}", "}}")
        elif piece[2]:
            text += "{%s?%s}" % (piece[0], "|".join(piece[2]))
        else:
            text += "{%s:%s}" % (piece[0], types[piece[0]])
    return text


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def struct_name(identifier):
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[._]", identifier))


def generate(english, chinese):
    for identifier in sorted(set(english) ^ set(chinese)):
        language = "Chinese" if identifier in english else "English"
        raise Fault(f"{identifier}: there is no {language} text; add both with tools/add_message.py.")
    headers = {}
    bodies = ["// Made by tools/messages.py from messages/.", '#include "messages.h"', "", "namespace ty::msg {"]
    table, names = [], {}
    for identifier in sorted(english):
        languages = {"English": split(english[identifier], f"{identifier} in English"),
                     "Chinese": split(chinese[identifier], f"{identifier} in Chinese")}
        types = types_of(identifier, languages)
        name = struct_name(identifier)
        if name in names:
            raise Fault(f"{identifier}: {names[name]} makes the same name {name}; rename one.")
        names[name] = identifier
        header = headers.setdefault(identifier.split(".")[0], [])
        header += ["", f"struct {name} {{",
                   f"  static constexpr const char* kId = {quoted(identifier)};"]
        header += [f"  {TYPES[kind][0]} {field}{TYPES[kind][1]};" for field, kind in types.items()]
        header += ["  operator Message() const;", "};"]
        pairs = ", ".join("{%s, %s}" % (quoted(field), STORED.get(kind, "{}").format(field))
                          for field, kind in types.items())
        bodies.append(f"{name}::operator Message() const {{ return {{kId, {{{pairs}}}}}; }}")
        table.append("{%s, %s, %s}," % tuple(map(quoted, (
            identifier, canonical(languages["English"], types), canonical(languages["Chinese"], types)))))
    bodies += ["}  // namespace ty::msg"]
    made = "// Made by tools/messages.py from messages/: one struct an id, convertible to Message."
    files = {"messages.cc": bodies, "catalogue.inc": table,
             "messages.h": [made, "#pragma once", "", *(f'#include "msg/{prefix}.h"' for prefix in headers)]}
    for prefix, structs in headers.items():
        files[f"msg/{prefix}.h"] = [made, "#pragma once", "", '#include "base/message.h"', '#include "base/time.h"', "",
                                    "namespace ty::msg {", *structs, "", "}  // namespace ty::msg"]
    return files


def write(path, lines):
    content = "\n".join(lines) + "\n"
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == content:
                return
    except FileNotFoundError:
        pass
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(content)
    os.replace(path + ".new", path)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    english, chinese, folder = sys.argv[1:]
    try:
        files = generate(read_catalogue(english), read_catalogue(chinese))
    except Fault as fault:
        sys.exit(f"messages: {fault}")
    os.makedirs(os.path.join(folder, "msg"), exist_ok=True)
    for name, lines in files.items():
        write(os.path.join(folder, name), lines)


if __name__ == "__main__":
    main()
