#!/usr/bin/env python3
"""Tests of messages.py, check_layers.py, check_messages.py, embed_web.py and of the words that chaos takes."""
import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest

TOOLS = os.path.dirname(os.path.abspath(__file__))


class Folder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return path

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def run_tool(self, tool, *args):
        return subprocess.run([sys.executable, "-B", os.path.join(TOOLS, tool), *args], capture_output=True, text=True,
                              check=False)


class Messages(Folder):
    def make(self, english, chinese):
        return self.run_tool("messages.py", self.write("en.json", english), self.write("zh.json", chinese), self.folder)

    def assert_refused(self, english, chinese, sentence):
        result = self.make(english, chinese)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, f"messages: {sentence}\n")
        self.assertFalse(os.path.exists(os.path.join(self.folder, "messages.h")))

    def test_a_struct_has_its_fields_typed_and_in_the_order_of_english(self):
        result = self.make({"task.waits_long": "{n} {n?GPU|GPUs} for {d:duration}, {who}, {b:bytes} {x:real} {t:time}"},
                           {"task.waits_long": "{who} {t} {d} {n:int} {b} {x}"})
        self.assertEqual(result.stderr, "")
        header = self.read("msg/task.h")
        self.assertIn("struct TaskWaitsLong {\n"
                      '  static constexpr const char* kId = "task.waits_long";\n'
                      "  int64_t n = 0;\n  Duration d{};\n  std::string who;\n  int64_t b = 0;\n  double x = 0;\n"
                      "  Time t{};\n  operator Message() const;\n};", header)
        self.assertEqual(self.read("catalogue.inc"),
                         '{"task.waits_long", "{n:int} {n?GPU|GPUs} for {d:duration}, {who:text}, {b:bytes} {x:real} '
                         '{t:time}", "{who:text} {t:time} {d:duration} {n:int} {b:bytes} {x:real}"},\n')

    def test_a_choice_alone_may_stay_out_of_chinese(self):
        self.assertEqual(self.make({"a.b": "the {n?card|cards}"}, {"a.b": "显卡"}).stderr, "")

    def test_files_that_stay_the_same_are_not_written_again(self):
        self.make({"a.b": "x"}, {"a.b": "y"})
        before = os.stat(os.path.join(self.folder, "msg/a.h")).st_ino
        self.make({"a.b": "x"}, {"a.b": "z"})
        self.assertEqual(os.stat(os.path.join(self.folder, "msg/a.h")).st_ino, before)
        self.assertIn('"z"', self.read("catalogue.inc"))

    def test_an_id_missing_in_one_language_is_refused(self):
        self.assert_refused({"a.b": "x", "a.c": "x"}, {"a.b": "y"},
                            "a.c: there is no Chinese text; add both with tools/add_message.py.")
        self.assert_refused({}, {"a.b": "y"}, "a.b: there is no English text; add both with tools/add_message.py.")

    def test_placeholders_that_differ_are_refused(self):
        self.assert_refused({"a.b": "{x}"}, {"a.b": "y"}, "a.b: the placeholder {x} is missing in Chinese.")
        self.assert_refused({"a.b": "x"}, {"a.b": "{y}"}, "a.b: the placeholder {y} is missing in English.")
        self.assert_refused({"a.b": "{x:int}"}, {"a.b": "{x:bytes}"},
                            "a.b: the placeholder {x} is said to be bytes and int; give it one type in both languages.")

    def test_what_is_no_placeholder_is_refused(self):
        self.assert_refused({"a.b": "{x:number}"}, {"a.b": "{x}"},
                            "a.b in English: {x:number} has the unknown type 'number'; types are text, int, duration, "
                            "bytes, real, time.")
        self.assert_refused({"a.b": "{x"}, {"a.b": "x"}, "a.b in English: a lone '{'; write it twice for a brace.")
        self.assert_refused({"a.b": "x"}, {"a.b": "{1,2}"},
                            "a.b in Chinese: {1,2} is no placeholder; a name is lower-case letters, digits and _.")
        self.assert_refused({"a.b": "{n?one}"}, {"a.b": "x"},
                            "a.b in English: {n?one} must give two texts, as {n?GPU|GPUs}.")
        self.assert_refused({"a.b": "{class}"}, {"a.b": "{class}"},
                            "a.b in English: {class}: 'class' is a word of C++; choose another name.")

    def test_two_ids_with_one_struct_name_are_refused(self):
        self.assert_refused({"a.b_c": "x", "a_b.c": "x"}, {"a.b_c": "x", "a_b.c": "x"},
                            "a_b.c: a.b_c makes the same name ABC; rename one.")

    def test_an_id_that_stands_twice_is_refused(self):
        english = self.write("en.json", '{"a.b": "x", "a.b": "y"}')
        result = self.run_tool("messages.py", english, english, self.folder)
        self.assertEqual(result.stderr, f"messages: {english}: a.b is there twice; keep one.\n")


class Layers(Folder):
    def check(self, files):
        self.write("layers.txt", "# rooms\nbase:\nmodel: base\nyard: base model\ntesting: base model yard\n")
        for name, content in files.items():
            self.write(name, content)
        result = self.run_tool("check_layers.py", self.folder)
        self.assertEqual(result.returncode, 1 if result.stdout else 0, result.stderr)
        return result.stdout.splitlines()

    def test_downward_includes_pass(self):
        self.assertEqual(self.check({
            "yard/a.cc": '#include <boost/json.hpp>\n#include "model/a.h"\n#include "msg/task.h"\n#include "yard/a.h"\n',
            "model/a.h": '#include <boost/json/fwd.hpp>\n#include "base/a.h"\n',
            "model/a_test.cc": '#include "testing/a.h"\n'}), [])

    def test_an_upward_include_is_named_with_file_and_line(self):
        self.assertEqual(self.check({"model/a.h": '#pragma once\n#include "yard/a.h"\n'}),
                         ["model/a.h:2: model may not include yard; layers.txt allows it base."])

    def test_heavy_libraries_in_headers_are_refused(self):
        for library in ("boost/asio.hpp", "boost/beast/http.hpp", "boost/json.hpp", "boost/json/value.hpp", "sqlite3.h"):
            with self.subTest(library):
                self.assertEqual(self.check({"model/a.h": f"#include <{library}>\n"}),
                                 [f"model/a.h:1: {library} in a header; include it in a .cc."])

    def test_beast_in_three_files_is_one_too_many(self):
        beast = "#include <boost/beast/core.hpp>\n"
        self.assertEqual(self.check({"yard/a.cc": beast, "yard/b.cc": beast}), [])
        self.assertEqual(self.check({"yard/c.cc": beast}),
                         ["Beast is in 3 files, at most 2 may have it: yard/a.cc, yard/b.cc, yard/c.cc."])

    def test_a_room_outside_the_map_is_named(self):
        self.assertEqual(self.check({"attic/a.cc": ""}), ["attic/a.cc: attic is no room of layers.txt."])
        self.assertIn("model/b.cc:1: cellar is no room of layers.txt.", self.check({"model/b.cc": '#include "cellar/a.h"\n'}))


class Uses(Folder):
    def check(self, source):
        self.write("messages/en.json", {"a.struct_use": "x", "a.id_use": "x", "web.title": "x"})
        self.write("src/model/a.cc", source)
        return self.run_tool("check_messages.py", self.folder)

    def test_struct_and_id_count_as_use_and_web_is_left_alone(self):
        result = self.check('return msg::AStructUse{}; if (id == "a.id_use") return;')
        self.assertEqual((result.returncode, result.stdout), (0, ""))

    def test_what_nobody_uses_is_named(self):
        result = self.check("return msg::AStructUse{};")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout,
                         "a.id_use: nobody uses this message; use it, or take it out of both catalogues.\n")


class Chaos(unittest.TestCase):
    def test_a_number_of_kills_below_one_is_refused_in_words(self):
        for number in ("0", "-5", "x"):
            done = subprocess.run([sys.executable, "-B", os.path.join(TOOLS, "chaos"), "--kills", number],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(f"a whole number from 1 on, not {number}", done.stderr)


class Embed(Folder):
    def embed(self):
        result = self.run_tool("embed_web.py", os.path.join(self.folder, "dist"), os.path.join(self.folder, "gen/web.cc"),
                               os.path.join(self.folder, "gen/web"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return self.read("gen/web.cc")

    def test_without_a_build_the_table_is_empty(self):
        self.assertNotIn("incbin", self.embed())

    def test_the_forms_that_lie_beside_a_file_are_taken_and_a_missing_gzip_is_made(self):
        self.write("dist/index.html", "<!doctype html>")
        self.write("dist/assets/a-1.js", "x" * 1000)
        self.write("dist/assets/a-1.js.gz", "zipped")
        self.write("dist/assets/a-1.js.br", "smaller")
        self.write("dist/assets/a-1.js.map", "{}")
        self.write("dist/assets/f-1.woff2", "font")
        source = self.embed()
        rows = [line.strip() for line in source.splitlines() if line.strip().startswith('{"')]
        self.assertEqual([row.split('"')[1] for row in rows], ["index.html", "assets/a-1.js", "assets/f-1.woff2"])
        self.assertEqual([row.count("View(") for row in rows], [2, 3, 1])
        self.assertIn("dist/assets/a-1.js.br", source)
        self.assertIn("gen/web/index.html.gz", source)
        with gzip.open(os.path.join(self.folder, "gen/web/index.html.gz")) as file:
            self.assertEqual(file.read(), b"<!doctype html>")

    def test_another_content_is_another_source(self):
        self.write("dist/index.html", "one")
        one = self.embed()
        self.assertEqual(one, self.embed())
        self.write("dist/index.html", "two")
        self.assertNotEqual(one, self.embed())


if __name__ == "__main__":
    unittest.main()
