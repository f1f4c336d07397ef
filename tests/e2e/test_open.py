"""`trainyard open`, with a browser of paper: a script that notes how it was called and what it was given."""
import html
import http.client
import json
import os
import re
import stat
import urllib.parse

import pytest

from yarding import until


@pytest.fixture
def desktop(tmp_path, down_yard):
    """The environment of a desktop whose xdg-open writes down its argv, and a copy and the mode of the file."""
    folder = tmp_path / "programs"
    folder.mkdir()
    script = folder / "xdg-open"
    script.write_text(f'#!/bin/sh\ncp "$1" {tmp_path}/given\nstat -c %a "$1" > {tmp_path}/mode\n'
                      f'echo noise; echo noise >&2\nprintf "%s\\n" "$@" > {tmp_path}/argv.new\nmv {tmp_path}/argv.new {tmp_path}/argv\n')
    script.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin", "DISPLAY": ":0"}


def listen(yard):
    yard.up("--devices", "cpu:1")


def sign_in(url, code):
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    connection.request("POST", "/api/v1/session", json.dumps({"code": code}), {"Content-Type": "application/json"})
    return connection.getresponse().status


def link_in(text):
    url, code = re.search(r"(http://\S+?)/#code=([0-9A-Za-z]+)", text).groups()
    return url, code


def openers(yard):
    return [name for name in os.listdir(yard.home) if name.startswith("open-")]


def test_the_browser_is_led_by_a_file_and_no_argv_holds_the_code(down_yard, desktop, tmp_path):
    listen(down_yard)
    said = down_yard("open", env=desktop)
    argv = until(lambda: (tmp_path / "argv").exists() and (tmp_path / "argv").read_text()).splitlines()
    url, code = link_in(html.unescape((tmp_path / "given").read_text()))
    assert url == down_yard.json("status")["url"] and url in said.out
    assert code not in said.out + said.err and "noise" not in said.out + said.err
    assert len(argv) == 1 and code not in argv[0] and argv[0].startswith(down_yard.home)
    assert (tmp_path / "mode").read_text().strip() == "600"
    assert "no-referrer" in (tmp_path / "given").read_text()
    assert len(openers(down_yard)) == 1
    assert sign_in(url, code) == 200
    until(lambda: not openers(down_yard))  # it was used
    assert sign_in(url, code) == 401


def test_it_starts_the_yard(down_yard, desktop, tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("listen: 127.0.0.1:0\ndevices: cpu:1\n")
    answer = down_yard("open", "--print", "--config", str(config))
    assert sign_in(*link_in(answer.out)) == 200
    assert answer.out.count("\n") == 1


def test_under_ssh_it_says_how_to_come_from_there(down_yard, desktop):
    listen(down_yard)
    said = down_yard("open", env={**desktop, "SSH_CONNECTION": "10.0.0.9 50000 10.0.0.5 22"})
    port = down_yard.json("status")["url"].rsplit(":", 1)[1]
    assert f"ssh -L {port}:127.0.0.1:{port} " in said.out and "@10.0.0.5" in said.out
    url, code = link_in(said.out)
    assert url == f"http://127.0.0.1:{port}" and sign_in(url, code) == 200
    assert not openers(down_yard)
    chinese = down_yard("--lang", "zh", "open", env={"SSH_CONNECTION": "10.0.0.9 50000 10.0.0.5 2222"})
    assert "-p 2222" in chinese.out and "电脑" in chinese.out


@pytest.mark.parametrize("env,why", [({}, "no display"), ({"DISPLAY": ":0", "PATH": "/nonexistent"}, "no xdg-open")])
def test_without_a_browser_it_prints_the_link(down_yard, env, why):
    listen(down_yard)
    said = down_yard("open", env=env)
    assert why in said.out
    assert sign_in(*link_in(said.out)) == 200


def test_json(down_yard, desktop):
    listen(down_yard)
    told = json.loads(down_yard("open", "--json", env=desktop).out)
    assert set(told) == {"url", "link", "expires_at", "tunnel"} and told["tunnel"] is None
    assert sign_in(*link_in(told["link"])) == 200


def test_a_yard_without_an_address_says_so(down_yard, desktop):
    down_yard("up", "--listen", "none", "--devices", "cpu:1")
    said = down_yard("open", env=desktop, code=1)
    assert "--listen" in said.err and not openers(down_yard)
    assert down_yard("open", "page", code=2).err


def test_what_was_left_over_goes_with_the_next_start(down_yard, desktop, tmp_path):
    listen(down_yard)
    down_yard("open", env=desktop)
    until(lambda: (tmp_path / "argv").exists())
    assert len(openers(down_yard)) == 1
    down_yard("down")
    down_yard.up()
    assert not openers(down_yard)
    assert stat.S_IMODE(os.stat(down_yard.home).st_mode) == 0o700
