"""The chokepoint: who may come in, by which name, from which page. Rows of the threat list, one by one."""
import base64
import hashlib
import json
import os
import re
import stat

import pytest

from yard import JSON, NDJSON, check, operations, status_of

METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "PROPFIND", "get", "post", "TRACE"]
EXTRA = ["/api", "/api/v1", "/api/v1/", "/api/v1/nothing", "/metrics", "/debug", "/assets/app.js", "/api/v1/tasks/1/nothing",
         "/%2e%2e/etc/passwd", "/api/v1/tasks/%252e%252e%252f", "//api/v1/tasks", "/API/V1/TASKS"]


def paths():
    return [path.replace("{task}", "1").replace("{asset}", "x.js") for path in sorted({path for _, path, _ in operations()})] + EXTRA


def public(path):
    return {method for method, known, operation in operations() if known.replace("{task}", "1") == path and operation["x-access"] == "public"}


@pytest.mark.parametrize("path", paths())
def test_a_stranger_gets_the_public_routes_and_nothing_else(yard, path):
    for method in METHODS:
        for headers in ({}, JSON, NDJSON, {**JSON, "X-Remote-User": "admin", "Authorization": "Bearer x", "Cookie": "session=x"}):
            answer = yard.far(method, path, b"" if method not in ("GET", "HEAD", "OPTIONS") else None, headers)
            if method in public(path) or (method == "HEAD" and "GET" in public(path)):
                absent = path.startswith(("/favicon", "/assets"))  # of a program that was built without the page
                assert answer.status in (200, 401, 415) or (absent and answer.status == 404), (method, answer)
            else:
                assert answer.status in (400, 401, 404, 405, 415, 421), (method, path, headers, answer)
            if answer.status == 405:
                assert answer.headers["allow"]
    tasks = yard.near("GET", "/api/v1/tasks").json
    assert tasks["items"] == []


def test_loopback_grants_nothing(yard):
    assert yard.far("GET", "/api/v1/tasks").status == 401
    assert yard.far("POST", "/api/v1/tasks", b'{"command":["true"],"workdir":"/"}', JSON).status == 401
    assert yard.far("POST", "/api/v1/down", b"{}", JSON).status == 401


@pytest.mark.parametrize("host,status", [
    ("localhost", 200), ("localhost:1", 200), ("127.0.0.1:65535", 200), ("[::1]:7788", 200), ("LocalHost", 200),
    ("evil.test", 421), ("localhost.evil.test", 421), ("127.0.0.1.nip.io", 421), ("0.0.0.0", 421), ("localhost.", 421),
    ("localhost/openapi.json?x=", 421), ("evil.test:80@localhost", 400),
    ("[::1", 400), ("[::1]x", 400), ("localhost:", 400), (":80", 400), ("localhost:port", 400), ("localhost:99999", 400), ("", 400),
])
def test_the_host_must_be_ours(yard, host, status):
    answer = yard.raw(f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    assert status_of(answer) == status, answer
    assert yard.alive()


def test_one_host_is_wanted(yard):
    assert status_of(yard.raw(b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n")) == 400
    assert status_of(yard.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n")) == 400
    assert status_of(yard.raw(b"GET http://evil.test/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")) == 400


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PATCH", "PROPFIND"])
@pytest.mark.parametrize("path", ["/", "/healthz", "/api/v1/tasks", "/api/v1/session"])
def test_a_foreign_host_is_refused_before_anything_else(yard, method, path):
    assert yard.far(method, path, headers={"Host": f"evil.test:{yard.port}", **JSON}).status == 421


@pytest.mark.parametrize("origin", ["null", "http://evil.test", "http://localhost:1", "", "file://", "http://127.0.0.1:PORT.evil.test"])
def test_the_origin_must_equal_the_host(yard, origin):
    headers = {**JSON, "Host": f"127.0.0.1:{yard.port}", "Origin": origin.replace("PORT", str(yard.port))}
    assert yard.far("POST", "/api/v1/session", b"{}", headers).status == 403
    assert yard.far("GET", "/healthz", headers=headers).status == 403
    headers["Origin"] = f"http://127.0.0.1:{yard.port}"
    assert yard.far("GET", "/healthz", headers=headers).status == 200


@pytest.mark.parametrize("site,status", [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)])
def test_only_our_own_pages_fetch(yard, site, status):
    assert yard.far("GET", "/healthz", headers={"Sec-Fetch-Site": site}).status == status


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "PROPFIND", "post", "delete"])
@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx"])
def test_whatever_may_change_something_must_be_json(yard, method, kind):
    headers = {} if kind is None else {"Content-Type": kind}
    for ask in (yard.far, yard.near):
        assert ask(method, "/api/v1/tasks", b"{}", headers).status == 415
        assert ask(method, "/api/v1/session", b"{}", headers).status == 415


def test_reading_changes_nothing(yard):
    before = yard.near("GET", "/api/v1/events?limit=10000").json["next"]
    for path in paths():
        yard.near("GET", path)
    for verb in ("cancel", "hold", "release", "retry", "remove", "priority", "bulk"):
        assert yard.near("GET", f"/api/v1/tasks/{verb}").status == 405
    for verb in ("hold", "release"):
        assert yard.near("GET", f"/api/v1/devices/{verb}").status == 405
    assert yard.near("GET", "/api/v1/events?limit=10000").json["next"] == before


def test_host_and_origin_do_not_matter_on_the_socket(yard):
    assert yard.near("GET", "/api/v1/status", headers={"Host": "evil.test", "Origin": "null"}).status == 200


def test_the_socket_is_for_its_owner(yard):
    about = os.lstat(yard.socket)
    assert stat.S_ISSOCK(about.st_mode) and stat.S_IMODE(about.st_mode) == 0o600
    assert stat.S_IMODE(os.stat(yard.state).st_mode) == 0o700


def test_every_answer_carries_the_headers(yard):
    for answer in (yard.far("GET", "/"), yard.far("GET", "/api/v1/tasks"), yard.near("GET", "/api/v1/status"), yard.far("GET", "/healthz")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cache-control"] in ("no-store", "no-cache")
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert "script-src" not in answer.headers["content-security-policy"] or "script-src 'self';" in answer.headers["content-security-policy"]
        assert "unsafe-eval" not in answer.headers["content-security-policy"]
        assert not any(name.startswith("access-control-") for name in answer.headers)


@pytest.mark.parametrize("path,status", [("/", 200), ("/tasks/1", 200), ("/api/v1/session", 403), ("/api/v1/tasks", 403)])
def test_a_link_from_elsewhere_leads_to_a_page_and_to_nothing_else(yard, path, status):
    visit = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert yard.far("GET", path, headers=visit).status == status
    for spoilt in ({"Sec-Fetch-Dest": "iframe"}, {"Sec-Fetch-Mode": "no-cors"}):
        assert yard.far("GET", path, headers={**visit, **spoilt}).status == 403
    assert yard.far("POST", path, b"{}", {**visit, **JSON}).status == 403


def test_the_style_of_the_page_is_the_one_its_policy_names(yard):
    page = yard.far("GET", "/")
    if b"<script" in page.body:
        pytest.skip("the program holds the built page")
    style = re.search(rb"<style>(.*?)</style>", page.body).group(1)
    digest = base64.b64encode(hashlib.sha256(style).digest()).decode()
    assert f"'sha256-{digest}'" in page.headers["content-security-policy"]
    assert b"<script" not in page.body


@pytest.mark.parametrize("path", ["/api/v1/tasks/..", "/api/v1/tasks/%2e%2e", "/api/v1/tasks/%2e%2e%2f%2e%2e%2fetc%2fpasswd/log",
                                  "/api/v1/tasks/%252e%252e%252f/log", "/api/v1/tasks/%00/log", "/api/v1/tasks/..%5c..%5c/log",
                                  "/../../../etc/passwd", "/api/v1/tasks/%ff"])
def test_no_path_leads_out(yard, path):
    answer = yard.raw(f"GET {path} HTTP/1.1\r\nConnection: close\r\n\r\n".encode(), near=True)
    assert status_of(answer) in (400, 404), answer


def test_a_log_that_has_become_a_link_is_not_read(yard):
    task = yard.submit("echo", "x")
    done = yard.ended(task)
    log = done["log_path"]
    os.remove(log)
    os.symlink("/etc/passwd", log)
    answer = check("GET", f"/api/v1/tasks/{task}/log", yard.near("GET", f"/api/v1/tasks/{task}/log"))
    assert answer.status == 403 and b"root:" not in answer.body
    os.remove(log)
    os.mkfifo(log)
    assert yard.near("GET", f"/api/v1/tasks/{task}/log").status == 403
    assert yard.near("GET", f"/api/v1/tasks/{task}/tail").status == 403


def test_hostile_names_and_words_stay_text(yard):
    words = ["echo", "$(touch /tmp/ty-p)", "`id`", "{{7*7}}", "a\nb", "--", ";", "\u001b[2J"]
    task = yard.submit(*words)
    assert yard.ended(task)["spec"]["command"] == words
    assert yard.near("GET", f"/api/v1/tasks/{task}/log").body == (" ".join(words[1:]) + "\n").encode()
    assert not os.path.exists("/tmp/ty-p")


def test_bytes_that_are_not_text_are_kept(yard):
    word = {"base64": base64.b64encode(b"\xff\xfe").decode()}
    answer = yard.post("/api/v1/tasks", {"command": ["printf", "%s", word], "workdir": "/tmp"})
    task = answer.json["id"]
    assert yard.ended(task)["spec"]["command"][2] == word
    assert yard.near("GET", f"/api/v1/tasks/{task}/log").body == b"\xff\xfe"


def test_no_secret_is_told(yard):
    task = yard.submit("true", variables={"WANDB_API_KEY": "hunter2"}, environment={"variables": {"HF_TOKEN": "hunter3", "PATH": "/usr/bin:/bin"}})
    yard.ended(task)
    for path in (f"/api/v1/tasks/{task}", "/api/v1/tasks?state=all", "/api/v1/events?limit=10000", f"/api/v1/tasks/{task}/head"):
        assert b"hunter" not in yard.near("GET", path).body, path
    assert "hunter" not in open(yard.home + "/daemon.out", errors="replace").read()
    assert json.loads(yard.near("GET", f"/api/v1/tasks/{task}").body)["spec"]["variables"]["WANDB_API_KEY"] != ""
