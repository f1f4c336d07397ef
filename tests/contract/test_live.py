"""The live stream of docs/formats/live.md, spoken byte by byte."""
import json

import pytest

import yard as yards
from stream import Stream
from yard import JSON, check, find_operation, resolve


@pytest.fixture
def stream(yard):
    one = Stream(yard, yard.sign_in())
    yield one
    one.close()


def validate(yard, route, value):
    """A value is the body of its route, so the contract's schema of that holds."""
    check("GET", route, yards.Answer(200, {"content-type": "application/json"}, json.dumps(value).encode()))


def last_event(yard):
    return yard.near("GET", "/api/v1/events?limit=10000").json["next"]


def test_a_browser_is_greeted(yard):
    session, before = yard.far("GET", "/api/v1/session").json, last_event(yard)
    stream = Stream(yard, yard.sign_in())
    assert stream.hello["instance"] == session["instance"] and stream.hello["version"]
    assert before <= stream.hello["seq"] <= last_event(yard)
    stream.send({"ping": 7})
    assert stream.next() == {"pong": 7}


def test_a_stranger_and_a_foreign_page_get_no_stream(yard):
    browser = yard.sign_in()
    cookie = {"Cookie": browser["Cookie"]}

    def refused(headers, without=()):
        stream = Stream(yard, headers, without=without)
        answer = check("GET", "/api/v1/live", stream.answer())
        stream.close()
        return answer.status

    assert refused({}) == 401
    assert refused({"Origin": yard.origin}) == 401
    assert refused(cookie) == 403  # no Origin: no browser, or one that hides who asks
    for origin in ("null", "http://evil.test", "http://localhost:1", f"http://127.0.0.1:{yard.port}.evil.test"):
        assert refused({**cookie, "Origin": origin}) == 403
    assert refused({**browser, "Host": f"evil.test:{yard.port}"}) == 421
    assert refused({**browser, "Host": "localhost:18888"}) == 403
    assert refused({**browser, "Cookie": f"{browser['Cookie']}; {browser['Cookie']}"}) == 401
    assert refused({**browser, "Sec-Fetch-Site": "cross-site"}) == 403
    tunnel = Stream(yard, {**cookie, "Host": "localhost:18888", "Origin": "http://localhost:18888"})
    assert tunnel.status == 101
    tunnel.close()


def test_what_is_no_handshake_is_told_so(yard):
    browser = yard.sign_in()
    plain = check("GET", "/api/v1/live", yard.far("GET", "/api/v1/live", headers=browser))
    assert plain.status == 426 and plain.headers["upgrade"] == "websocket"
    for headers, status in (({"Sec-WebSocket-Version": "8"}, 426), ({"Sec-WebSocket-Key": "x"}, 400), ({"Upgrade": "h2c"}, 426)):
        stream = Stream(yard, {**browser, **headers})
        assert check("GET", "/api/v1/live", stream.answer()).status == status
        stream.close()
    stream = Stream(yard, browser, without=["Sec-WebSocket-Key"])
    assert stream.answer().status == 400
    stream = Stream(yard, browser, path="/api/v1/live?lang=fr")
    assert stream.answer().status == 422
    assert yard.alive()


@pytest.mark.parametrize("topic,route", [("yard", "/api/v1/status"), ("devices", "/api/v1/devices"), ("running", "/api/v1/tasks?state=running")])
def test_a_topic_is_the_body_of_its_route(yard, stream, topic, route):
    stream.send({"sub": [topic]})
    value = stream.next(topic)["value"]
    validate(yard, route, value)
    assert set(value) == set(yard.near("GET", route).json)


def test_a_task_is_followed_to_its_end(yard, stream):
    task = yard.submit("sh", "-c", "echo one; exec sleep 600")
    stream.send({"sub": [f"task/{task}", f"log/{task}/1/-", "queue", "running"]})
    running = stream.until(f"task/{task}", lambda frame: frame.get("value", {}).get("state") == "running")
    validate(yard, f"/api/v1/tasks/{task}", running["value"])
    # Asked for before there was a log, it may have been refused: then again.
    stream.send({"sub": [f"log/{task}/1/-"]})
    grown = stream.until(f"log/{task}/1/-", lambda frame: frame.get("value") == {"size": 4, "ended": False})
    assert grown["seq"] > 0
    yard.post("/api/v1/tasks/cancel", {"tasks": [task]})
    stream.until(f"task/{task}", lambda frame: frame.get("value", {}).get("state") == "ended")
    stream.send({"sub": [f"log/{task}/1/-"]})
    stream.until(f"log/{task}/1/-", lambda frame: frame.get("value") == {"size": 4, "ended": True})


def test_sentences_come_in_the_language_that_was_chosen(yard):
    for language, answer in (("zh", "zh-CN"), ("en", "en")):
        stream = Stream(yard, {**yard.sign_in(), "Accept-Language": "fr"}, path=f"/api/v1/live?lang={language}")
        stream.send({"sub": ["yard", "task/987654"]})
        assert stream.next("yard")["value"]["language"] == answer
        assert stream.next("task/987654")["problem"]["detail"]
        stream.close()
    stream = Stream(yard, {**yard.sign_in(), "Accept-Language": "zh-CN"})
    stream.send({"sub": ["yard"]})
    assert stream.next("yard")["value"]["language"] == "zh-CN"
    stream.close()


def test_a_topic_that_is_not_there_has_a_problem(yard, stream):
    problem = resolve(find_operation("GET", "/api/v1/status")["responses"]["default"])
    for topic, status in (("task/987654", 404), ("nothing", 404), ("log/1/99/-", 404), ("../etc/passwd", 404), ("task/<b>", 404)):
        stream.send({"sub": [topic]})
        frame = stream.next(topic)
        assert frame["problem"]["status"] == status
        check("GET", "/api/v1/status", yards.Answer(status, {"content-type": next(iter(problem["content"]))}, json.dumps(frame["problem"]).encode()))


def test_events_are_replayed_and_followed(yard, stream):
    task = yard.submit("true")
    yard.ended(task)
    stream.send({"sub": ["events"], "since": 0})
    seen = []

    def collect(frame):
        seen.extend(frame["value"]["items"])
        return frame["value"]["next"] >= last
    last = last_event(yard)
    stream.until("events", collect)
    assert seen[:last] == yard.near("GET", "/api/v1/events?limit=10000").json["items"][:last]
    task = yard.submit("true")
    yard.ended(task)
    last = last_event(yard)
    stream.until("events", collect)
    assert [event["seq"] for event in seen] == sorted({event["seq"] for event in seen})
    stream.send({"sub": ["events"], "since": 10**15})
    assert stream.until("events", lambda frame: "resync" in frame)["resync"] is True


@pytest.mark.parametrize("frame", ["", "x", "[]", "{}", '{"sub":"yard"}', '{"foo":1}', '{"ping":1,"sub":[]}', "[" * 60000])
def test_another_frame_ends_the_stream(yard, frame):
    stream = Stream(yard, yard.sign_in())
    stream.send(frame)
    assert stream.closed() == 1008
    assert yard.alive()


def test_a_frame_that_is_too_long_or_no_text_ends_the_stream(yard):
    for frame, opcode in ((json.dumps({"sub": ["x" * 70000]}), 1), (b"\0" * (1 << 20), 1), (b'{"ping":1}', 2)):
        stream = Stream(yard, yard.sign_in())
        try:
            stream.send(frame, opcode)
        except ConnectionError:
            pass  # it had read enough
        assert stream.closed() in (1008, None)
        stream.close()
    stream = Stream(yard, yard.sign_in())
    stream.connection.sendall(b"\xff" * 100)  # no frame at all
    stream.rest()
    stream = Stream(yard, yard.sign_in())
    stream.connection.sendall(b"\x81\x05hello")  # without a mask
    stream.rest()
    assert yard.alive()


def test_signing_out_ends_the_streams_of_that_browser(yard):
    one, two = yard.sign_in(), yard.sign_in()
    first, second, near = Stream(yard, one), Stream(yard, two), Stream(yard, near=True)
    assert yard.far("DELETE", "/api/v1/session", b"", {**JSON, **one}).status == 200
    assert first.closed() == 4401
    second.send({"ping": 1})
    assert second.next() == {"pong": 1}
    assert yard.near("DELETE", "/api/v1/session", b"", JSON).status == 200
    assert second.closed() == 4401
    near.send({"ping": 1})
    assert near.next() == {"pong": 1}
    near.close()


def test_there_are_sixty_four_streams_at_most(yard):
    browser = yard.sign_in()
    streams = [Stream(yard, browser) for _ in range(64)]
    refused = Stream(yard, browser)
    assert check("GET", "/api/v1/live", refused.answer()).status == 503
    for stream in streams:
        stream.close()
    yard.near("DELETE", "/api/v1/session", b"", JSON)
    while True:  # those that were closed are noticed one by one
        again = Stream(yard, near=True)
        if again.status == 101:
            break
        again.close()
    again.close()


def test_ten_tabs_see_the_same(yard):
    browser = yard.sign_in()
    streams = [Stream(yard, browser) for _ in range(10)]
    for stream in streams:
        stream.send({"sub": ["queue"]})
        stream.next("queue")
    yard.post("/api/v1/queue/pause", {})
    for stream in streams:
        stream.until("queue", lambda frame: frame["value"]["paused"])
        stream.close()
    yard.post("/api/v1/queue/resume", {})


def test_the_yard_says_goodbye():
    own = yards.Yard().start()
    try:
        streams = [Stream(own, own.sign_in()), Stream(own, near=True)]
        streams[0].send({"sub": ["yard", "events"]})
        own.post("/api/v1/down", {})
        assert [stream.closed() for stream in streams] == [1001, 1001]
        own.process.wait(20)
    finally:
        own.stop()
