"""The door: codes, browsers that are signed in, and what the threat list says about both."""
import json
import os
import pathlib
import stat

import pytest

import yard as yards
from yard import JSON, check


def sign_in(yard, code):
    return check("POST", "/api/v1/session", yard.far("POST", "/api/v1/session", json.dumps({"code": code}).encode(), JSON))


def tasks(yard, headers):
    return yard.far("GET", "/api/v1/tasks", headers=headers).status


def test_a_code_signs_one_browser_in_and_works_once(yard):
    minted = check("POST", "/api/v1/session/code", yard.post("/api/v1/session/code", {}))
    assert minted.json["url"] == yard.url
    first = sign_in(yard, minted.json["code"])
    assert first.status == 200 and first.json["signed_in"] is True
    name, *attributes = first.headers["set-cookie"].split("; ")
    assert name.startswith(f"trainyard_{first.json['instance']}=")
    assert set(attributes) == {"Path=/", "Max-Age=2592000", "HttpOnly", "SameSite=Strict"}
    again = sign_in(yard, minted.json["code"])
    assert again.status == 401 and again.json["message"]["id"] == "api.code_refused"
    cookie = {"Cookie": name}
    assert check("GET", "/api/v1/tasks", yard.far("GET", "/api/v1/tasks", headers=cookie)).status == 200
    known = check("GET", "/api/v1/session", yard.far("GET", "/api/v1/session", headers=cookie))
    assert known.json["signed_in"] is True and known.headers["set-cookie"].startswith(name + ";")
    assert check("GET", "/api/v1/session", yard.far("GET", "/api/v1/session")).json["signed_in"] is False


def test_only_the_socket_mints_codes_and_takes_the_yard_down(yard):
    browser = yard.sign_in()
    for headers in ({}, browser):
        assert yard.far("POST", "/api/v1/session/code", b"{}", {**JSON, **headers}).status == 401
        assert yard.far("POST", "/api/v1/down", b"{}", {**JSON, **headers}).status == 401


@pytest.mark.parametrize("body", [b"", b"{}", b'{"code":""}', b'{"code":"x"}', b'{"code":null}', b'{"code":1}', b'{"cod":"x"}', b"[]", b"{",
                                  b'{"code":"' + b"x" * 5000 + b'"}', b'{"code":"\\u0000"}'])
def test_what_is_no_code_is_refused_and_locks_nobody_out(yard, body):
    for _ in range(3):
        assert check("POST", "/api/v1/session", yard.far("POST", "/api/v1/session", body, JSON)).status in (401, 422)
    assert tasks(yard, yard.sign_in()) == 200


def test_guessing_is_slowed_and_the_owner_gets_in_all_the_same(yard):
    code = yard.code()
    seen = {sign_in(yard, "x" * 32).status for _ in range(40)}
    assert seen == {401, 429}
    assert sign_in(yard, code).status == 429
    assert sign_in(yard, yard.code()).status == 200


def test_two_cookies_of_our_name_are_none(yard):
    cookie = yard.sign_in()["Cookie"]
    assert tasks(yard, {"Cookie": cookie}) == 200
    assert tasks(yard, {"Cookie": f"a=b; {cookie}"}) == 200
    assert tasks(yard, {"Cookie": f"{cookie}; {cookie}"}) == 401
    assert tasks(yard, {"Cookie": f"{cookie.split('=')[0]}=x; {cookie}"}) == 401
    raw = f"GET /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
    assert yards.status_of(yard.raw(raw.encode())) == 401


def test_the_cookie_of_another_yard_opens_nothing(yard):
    other = yards.Yard().start()
    try:
        theirs = other.sign_in()
        assert tasks(other, theirs | {"Origin": other.origin}) == 200
        assert tasks(yard, {"Cookie": theirs["Cookie"]}) == 401
        ours = yard.sign_in()["Cookie"].split("=")[0]
        assert tasks(yard, {"Cookie": ours + "=" + theirs["Cookie"].split("=")[1]}) == 401
        both = f"{theirs['Cookie']}; {yard.sign_in()['Cookie']}"
        assert tasks(yard, {"Cookie": both}) == 200 and tasks(other, {"Cookie": both}) == 200
    finally:
        other.stop()


def test_a_change_by_a_browser_comes_from_our_own_page(yard):
    browser = yard.sign_in()
    ask = lambda headers: yard.far("POST", "/api/v1/queue/resume", b"{}", {**JSON, "Cookie": browser["Cookie"], **headers})
    assert ask({"Origin": yard.origin}).status == 200
    assert ask({}).status == 403
    for origin in ("null", "http://evil.test", "http://localhost:1"):
        assert ask({"Origin": origin}).status == 403
    assert ask({"Origin": yard.origin, "Sec-Fetch-Site": "cross-site"}).status == 403
    assert yard.far("POST", "/api/v1/queue/resume", b"{}", {**browser, "Content-Type": "text/plain"}).status == 415
    assert ask({"Origin": "http://evil.test", "Host": "evil.test"}).status == 421
    assert ask({"Origin": "http://localhost:18888", "Host": "localhost:18888"}).status == 200  # the near end of a tunnel


def test_browsers_stay_in_over_restarts_of_any_kind(tmp_path):
    yard = yards.Yard().start()
    try:
        browser, gone = yard.sign_in(), yard.sign_in()
        assert yard.far("DELETE", "/api/v1/session", b"", {**JSON, **gone}).status == 200
        code = yard.code()
        kept = pathlib.Path(yard.state, "browsers.json")
        assert stat.S_IMODE(os.stat(kept).st_mode) == 0o600
        assert browser["Cookie"].split("=")[1] not in kept.read_text()
        yard.kill()
        yard.start()
        assert tasks(yard, {"Cookie": browser["Cookie"]}) == 200
        assert tasks(yard, {"Cookie": gone["Cookie"]}) == 401
        assert sign_in(yard, code).status == 401  # codes are kept nowhere
        for damage in (kept.read_bytes()[:-20], b"", b"\xff" * 100, b'{"format":1}'):
            yard.kill()
            kept.write_bytes(damage)
            yard.start()
            assert tasks(yard, {"Cookie": browser["Cookie"]}) == 401
            assert tasks(yard, {"Cookie": yard.sign_in()["Cookie"]}) == 200
        assert "browsers.json" in pathlib.Path(yard.home, "daemon.out").read_text()
    finally:
        yard.stop()


def test_an_open_page_finds_the_yard_again_on_its_port():
    yard = yards.Yard().start()  # on port 0: any that is free
    try:
        for last in (False, False, True):  # somebody else may have taken it meanwhile
            port = yard.port
            yard.kill()
            yard.start()
            if yard.port == port or last:
                break
        assert yard.port == port
    finally:
        yard.stop()


def test_signing_out(yard):
    one, two, three = yard.sign_in(), yard.sign_in(), yard.sign_in()
    out = check("DELETE", "/api/v1/session", yard.far("DELETE", "/api/v1/session", b"", {**JSON, **one}))
    assert out.status == 200 and out.json["signed_in"] is False and "Max-Age=0" in out.headers["set-cookie"]
    assert [tasks(yard, browser) for browser in (one, two, three)] == [401, 200, 200]
    assert yard.far("DELETE", "/api/v1/session", b"", JSON).status == 401
    assert yard.near("DELETE", "/api/v1/session", b"", JSON).status == 200
    assert [tasks(yard, browser) for browser in (two, three)] == [401, 401]


def test_no_secret_of_the_door_is_written_down(yard):
    code = yard.code()
    token = yard.sign_in(code)["Cookie"].split("=")[1]
    for path in pathlib.Path(yard.home).rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert code.encode() not in data and token.encode() not in data, path
