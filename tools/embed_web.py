#!/usr/bin/env python3
"""Put the built page into the program: embed_web.py DIST OUTPUT.cc FOLDER

Writes a source whose table (src/http/assets.h) names every file of DIST; the bytes come by .incbin, plain, as gzip
and as brotli where FILE.gz and FILE.br lie beside a file. Where there is no FILE.gz one is made in FOLDER.
Without DIST the table is empty and the program shows its own first page.
"""
import gzip
import hashlib
import os
import sys

TYPES = {
    ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8", ".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png",
    ".ico": "image/x-icon", ".woff2": "font/woff2", ".woff": "font/woff", ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}
COMPRESSIBLE = {".html", ".js", ".mjs", ".css", ".json", ".svg", ".txt", ".webmanifest", ".ico"}
SIBLINGS = (".gz", ".br")


def files_of(dist):
    """Paths below DIST that the page may ask for, sorted."""
    for folder, folders, names in os.walk(dist):
        folders.sort()
        for name in sorted(names):
            if not name.endswith(SIBLINGS) and not name.endswith(".map") and not name.startswith("."):
                yield os.path.relpath(os.path.join(folder, name), dist).replace(os.sep, "/")


def forms_of(dist, path, folder):
    """The plain, gzip and brotli file of one path; None where there is none."""
    plain = os.path.join(dist, path)
    zipped, brotli = plain + ".gz", plain + ".br"
    if not os.path.exists(zipped):
        zipped = None
        if os.path.splitext(path)[1] in COMPRESSIBLE:
            zipped = os.path.join(folder, path + ".gz")
            os.makedirs(os.path.dirname(zipped), exist_ok=True)
            with open(plain, "rb") as source, open(zipped, "wb") as target:
                target.write(gzip.compress(source.read(), 9, mtime=0))
    return plain, zipped, brotli if os.path.exists(brotli) else None


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    dist, output, folder = sys.argv[1:]
    rows, blobs = [], []

    def embed(file):
        if file is None:
            return "{}"
        symbol = f"ty_web_{len(blobs)}"
        blobs.append((symbol, os.path.abspath(file)))
        return f"View({symbol}, {symbol}_end)"

    for path in files_of(dist):
        with open(os.path.join(dist, path), "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()[:20]
        kind = TYPES.get(os.path.splitext(path)[1], "application/octet-stream")
        plain, zipped, brotli = map(embed, forms_of(dist, path, folder))
        rows.append(f"      {{{quote(path)}, {quote(kind)}, {quote(digest)}, {plain}, {zipped}, {brotli}}},\n")

    os.makedirs(os.path.dirname(os.path.abspath(output)), exist_ok=True)
    with open(output, "w", encoding="utf-8") as file:
        file.write("// Made by tools/embed_web.py.\n#include <vector>\n\n#include \"http/assets.h\"\n\n")
        for symbol, source in blobs:
            lines = [".pushsection .rodata.ty_web,\"a\"", f"{symbol}:", f".incbin {quote(source)}", f"{symbol}_end:", ".byte 0", ".popsection", ""]
            file.write("__asm__(" + quote("\n".join(lines)).replace("\n", "\\n") + ");\n")
            file.write(f"extern \"C\" const char {symbol}[], {symbol}_end[];\n")
        file.write("\nnamespace ty {\n\n")
        if rows:
            file.write("static std::string_view View(const char* begin, const char* end) {\n"
                       "  return {begin, static_cast<size_t>(end - begin)};\n}\n\n")
        file.write("std::span<const Asset> EmbeddedAssets() {\n  static const std::vector<Asset> assets = {\n")
        file.writelines(rows)
        file.write("  };\n  return assets;\n}\n\n}  // namespace ty\n")


main()
