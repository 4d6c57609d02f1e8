"""oslr serve --http: the answers of the pipes, a kill and a restart, signals, nonsense, refusals, and the description of the messages."""

import json
import re
import shlex
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

import jsonschema
import pytest
from conftest import TOP, command
from test_service import ARGS, Process, fresh, same_state, session

from oslr_nb.practice import service as sv
from oslr_nb.practice import web


class Server(Process):
    "The command at a free port; it can be asked when its first line is there."

    def __init__(self, *args): super().__init__("--http", "0", *args)

    def send(self, data=None, kind=web.JSON, path=""):
        "Status and body of the answer to a POST, or to a GET if there is no data."
        request = urllib.request.Request(self.ready["http"] + path, data, {} if kind is None else {"Content-Type": kind})
        try:
            with urllib.request.urlopen(request) as answer: return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error: return error.code, error.read()

    def end(self, number=signal.SIGTERM): return super().end(number)


@pytest.fixture
def serve():
    "Servers, none of which outlives its test."
    begun = []
    def begin(*args):
        begun.append(Server(*args))
        return begun[-1]
    yield begin
    for server in begun:
        server.p.kill()
        server.p.wait()


def test_the_answers_of_the_pipes_and_what_they_leave(serve, tmp_path):
    "One by one, in lots, killed in between, ended by a signal: the state file is, to the byte, that of a service on pipes."
    whole, lines, answers, _ = session(n=40)
    third, server = len(lines) // 3, serve("--state", tmp_path / "s.npz", "--every", 4)
    for line, answer in zip(lines[:third], answers[:third], strict=True):
        assert server.send(line) == (400 if b'{"error"' in answer else 200, answer)
    server.end(signal.SIGKILL)
    server = serve("--state", tmp_path / "s.npz", "--every", 4)
    assert server.ready["lines"] == third
    assert server.send(b"\n".join(lines[third : 2 * third]), web.LINES) == (200, b"".join(answers[third : 2 * third]))
    assert server.end() == (0, b"", b"")
    server = serve("--state", tmp_path / "s.npz", "--every", 4)
    assert server.send(b"\n".join(lines[2 * third :]) + b"\n", web.LINES) == (200, b"".join(answers[2 * third :]))
    if hasattr(signal, "SIGUSR1"): server.p.send_signal(signal.SIGUSR1)
    assert json.loads(server.send(b'{"op":"quit"}')[1])["lines"] == len(lines) + 1
    assert server.p.wait() == 0 and server.p.communicate() == (b"", b"")
    whole.answer(b'{"op":"quit"}')
    (again := fresh(seed=99)).restore(tmp_path / "s.npz")
    whole.wish = ""
    same_state(whole, again)


def test_many_at_a_time_are_done_one_after_the_other(serve):
    server = serve()

    def play(worker):
        for t in range(20):
            name = f"{worker} {t}"
            assert len(json.loads(server.send(json.dumps({"op": "query", "id": name}).encode())[1])["features"]) == 4
            assert server.send(json.dumps({"op": "values", "id": name, "values": [1, None, 2, 3]}).encode())[0] == 200
            assert server.send(json.dumps({"op": "label", "id": name, "label": t}).encode())[0] == 200

    with ThreadPoolExecutor(8) as pool: list(pool.map(play, range(8)))
    stats = json.loads(server.send(b'{\n "op":\r\n "stats"\n}\n')[1])
    assert stats["rounds"] == 160 and stats["lines"] == 481 and stats["open"] == 0
    server.end()


def test_nonsense_is_refused_in_a_sentence_and_changes_nothing(serve):
    server = serve()
    server.send(b'{"op":"query","id":1}')
    say = lambda *what, **how: (lambda status, body: (status, json.loads(body)["error"]))(*server.send(*what, **how))
    assert say(b"") == (400, "line = '': it must be one JSON object with distinct names and numbers.")
    assert say(b"\xff\x00[")[0] == say(b'{"op":"query","id":1}{"op":"query","id":2}')[0] == say(b'{"op":"dance"}')[0] == 400
    assert say(b'{"op":"values","id":1,"values":[1e99,1,1,1]}')[0] == 400
    assert say(b"[" * (2 * sv.LONGEST)) == (400, f"length of the line: it must be at most {sv.LONGEST + 64 * 4} bytes.")
    many, refused = server.send(b'{"op":"stats"}\n' + b"[" * (2 * sv.LONGEST) + b'\n{"op":"stats"}', web.LINES)
    assert many == 200 and ["error" in json.loads(line) for line in refused.splitlines()] == [False, True, False]
    for kind in (None, "text/plain", ""):
        assert re.fullmatch(r"Content-Type = '.*': it must be application/json, or .*", say(b'{"op":"quit"}', kind)[1])
    assert say(b'{"op":"quit"}', "multipart/form-data; boundary=x") == (400, "body: it must be a message of the type application/json.")
    assert say(b'{"op":"quit"}', path="query") == (404, "path = '/query': it must be /.") and say(path="a/../b")[0] == 404
    host, port = server.ready["http"][7:-1].split(":")
    for method, status in (("PUT", 405), ("DELETE", 405), ("BREW", 405)):
        (line := HTTPConnection(host, int(port))).request(method, "/", b"{}")
        answer = line.getresponse()
        assert (answer.status, json.load(answer)) == (status, {"error": f"method = {method!r}: it must be GET or POST."})
        line.close()
    for raw in (b"no HTTP at all\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\n{}", b"POST / HTTP/1.1\r\n"):
        with socket.create_connection((host, int(port))) as line:
            line.sendall(raw)
            line.shutdown(socket.SHUT_WR)
            assert line.recv(99)[:12] in (b"", b"HTTP/1.1 400")
    stats = json.loads(server.send(b'{"op":"stats"}')[1])
    assert stats["open"] == 1 and stats["rounds"] == 0 and server.end()[0] == 0


@pytest.mark.parametrize("http", ["", "80000", "-1", "http://localhost:80", "nowhere.invalid:0", "192.0.2.1:0", "٣",
                                  "a" * 64 + ".b:1", "8000 "])
def test_addresses_that_are_none(http, tmp_path):
    done = command("serve", *ARGS, "--state", tmp_path / "s.npz", "--http", http)
    assert done.exit_code == 2 and done.output.startswith(f"http = {http!r:.50}") and done.output.count("\n") == 1, done.output
    assert not list(tmp_path.iterdir())


def test_a_port_that_is_taken(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = command("serve", *ARGS, "--http", taken.getsockname()[1])
        assert done.exit_code == 2 and "it must be a free port" in done.output and done.output.count("\n") == 1


def test_what_cannot_be_kept_is_not_answered(tmp_path):
    "The journal cannot be written, and then the state file cannot be either: the service ends with code 1."
    code = f"""
import oslr_nb.practice.service as sv, oslr_nb.practice.web as web
from functools import partial
def full(*_): raise sv.sqlite3.OperationalError("full")
def none(*_): raise OSError("full")
class Full(web.Web):
    def run(self):
        self.state.commit, sv.write_file = full, none
        return super().run()
raise SystemExit(sv.serve(10, 4, state={str(tmp_path / 's.npz')!r}, seed=3, loop=partial(Full, web.listen("0"))))"""
    p = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    server = object.__new__(Server)
    server.ready = json.loads(p.stdout.readline())
    status, said = server.send(b'{"op":"query","id":1}')
    assert status == 503 and "it must be a file that can be written" in json.loads(said)["error"]
    out, err = p.communicate()
    assert (p.returncode, out) == (1, b"") and b"its journal must be a file that can be written" in err and b"Traceback" not in err


def test_the_description_takes_what_the_service_takes():
    "Each example is right by the schema and to the service; each message that one of them would mistake is refused by both."
    found = web.openapi()
    schema = found["paths"]["/"]["post"]["requestBody"]["content"][web.JSON]["schema"] | {"components": found["components"]}
    jsonschema.Draft202012Validator.check_schema(schema)
    valid = jsonschema.Draft202012Validator(schema).is_valid
    examples = [e for s in found["components"]["schemas"].values() for e in s["examples"]]
    assert [e["op"] for e in examples] == list(sv.OPS) and all(map(valid, examples))

    def read(message):
        try:
            _, fields = sv.read_request(json.dumps(message).encode())
            for name, value in fields.items(): (sv.CHECKS | {"label": sv.check_class})[name](name, value)
        except ValueError: return False
        return True

    changes = ({}, {"id": None}, {"id": "x" * 201}, {"id": 2**63}, {"level": 0.9}, {"query": 7}, {"label": "1"}, {"values": [True]},
               {"values": {"a": None, "b": "Rome", "c": 2}}, {"values": ["1"]}, {"more": 1}, {"op": "no"})
    messages = [e | more for e in examples for more in changes]
    messages += [{k: v for k, v in e.items() if k != name} for e in examples for name in e]
    assert [valid(m) for m in messages] == [read(m) for m in messages] and 10 < sum(map(valid, messages)) < len(messages) - 50


def test_the_page_has_every_message(serve):
    server = serve()
    status, text = server.send()
    assert status == 200 and json.loads(server.send(path="openapi.json")[1]) == web.openapi()
    assert all(f"{{&quot;op&quot;: &quot;{op}&quot;".encode() in text for op in sv.OPS) and b"http" not in text
    server.end()


def test_the_image_copies_what_is_there_and_starts_what_there_is(tmp_path):
    text = (TOP / "Dockerfile").read_text()
    for words in re.findall("^COPY (.*)", text, re.M):
        assert all((TOP / name).exists() for name in words.split()[:-1])
    for words in (json.loads(re.search("^ENTRYPOINT (.*)", text, re.M)[1]), shlex.split(re.search("^RUN (oslr .*)", text, re.M)[1])):
        assert words[0] == "oslr" and command(*words[1:], "--help").exit_code == 0
