"""Who may come in, asked with raw sockets."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cockpit.conftest import PATIENCE, hear, tell
from ur_admittance import ConfigError
from ur_admittance.cockpit import access as limits
from ur_admittance.cockpit.access import AccessPolicy, Allowance


def test_everybody_on_this_machine_may_look(page) -> None:
    link = page()
    assert hear(link, "hello")["robot"] == "bench"
    assert hear(link, "frame")["mode"] == "active"


@pytest.mark.parametrize(
    ("token", "origin"),
    [
        (None, ""),
        ("wrong", ""),
        ("", ""),
        ("right", None),
    ],
    ids=["no token", "wrong token", "empty token", "no Origin"],
)
def test_nothing_is_changed_without_the_token_and_an_origin_of_ours(
    served, board, page, token, origin
) -> None:
    """Row 58: no change, no motion and no reset without the token and an Origin of ours."""
    link = page(served.access.token if token == "right" else token, origin)
    before, refused = board.config(), served.cockpit.refused
    for do in ("stop", "tare", "undo", "preset", "record", "reset", "drag"):
        tell(link, do=do, name="hand-guiding", confirmed=True)
        assert "open the address" in hear(link, "refused", do=do)["why"]
    tell(link, do="set", changes={"admittance.mass": [9.0] * 6})
    hear(link, "refused", do="set")
    assert served.cockpit.refused >= refused + 8
    assert board.request() is None
    assert board.config() == before


def test_a_token_and_an_origin_of_ours_may_stop_the_arm(served, board, page) -> None:
    link = page(served.access.token)
    assert hear(link, "trust")["trusted"]
    tell(link, do="stop")
    tell(link, do="save")
    hear(link, "yaml")
    assert board.request() == ("stop", "asked in the cockpit")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https:"])
def test_a_page_from_elsewhere_is_not_even_shown_anything(served, page, origin) -> None:
    """Row 58: a foreign Origin."""
    from websockets.exceptions import InvalidStatus

    with pytest.raises(InvalidStatus) as refused:
        page(served.access.token, origin)
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "", "localhost:1"])
def test_a_request_that_calls_this_server_by_another_name_is_refused(served, host) -> None:
    assert served.get("/", host=host).startswith(b"HTTP/1.1 403")


def test_two_hosts_or_two_origins_are_refused(served) -> None:
    own = f"Host: 127.0.0.1:{served.port}\r\n"
    assert served.get("/", more=own).startswith(b"HTTP/1.1 403")
    origins = f"Origin: {served.origin}\r\nOrigin: http://evil.example\r\n"
    assert served.get("/", more=origins).startswith(b"HTTP/1.1 403")


def test_the_page_loads_nothing_from_elsewhere_and_is_in_no_frame(served) -> None:
    head = served.get("/").partition(b"\r\n\r\n")[0].decode()
    assert "default-src 'none'" in head and "frame-ancestors 'none'" in head
    assert "unsafe-eval" not in head and "http" not in head.partition("\r\n")[2].lower()


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/..%2fserver.py",
        "/page/../../server.py",
        "/reports/../x/index.html",
        "/reports/..%2f..%2fsecret/index.html",
        "/reports/a/..%2fsecret.html",
        "/reports/a/secret.mcap",
        "/reports/%00/index.html",
        "//etc/passwd",
        "/no-such-page",
    ],
)
def test_no_path_leads_out_of_the_page_and_the_reports(served, path) -> None:
    """Row 62: in what is asked for."""
    secret = served.folder / "a.report"
    secret.mkdir(parents=True)
    (secret / "secret.mcap").write_text("secret")
    (served.folder / "secret.html").write_text("secret")
    answer = served.get(path)
    assert answer.startswith(b"HTTP/1.1 404") and b"secret" not in answer.partition(b"\r\n\r\n")[2]


def test_a_report_is_shown(served) -> None:
    folder = served.folder / "first push.report"
    folder.mkdir(parents=True)
    (folder / "index.html").write_text("<p>a report")
    answer = served.get("/reports/first%20push/index.html")
    assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"<p>a report")


def test_a_comparison_is_shown_and_made_of_recordings_only(served, page) -> None:
    folder = served.folder / "first push.against" / "second"
    folder.mkdir(parents=True)
    (folder / "index.html").write_text("<p>both")
    answer = served.get("/comparisons/first%20push/second/index.html")
    assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"<p>both")
    assert served.get("/comparisons/..%2f/second/index.html").startswith(b"HTTP/1.1 404")
    link = page(served.access.token)
    tell(link, do="compare", one="first push", other="../second")
    assert "there is no recording 'first push'" in hear(link, "refused", do="compare")["why"]
    (served.folder / "first push.mcap").touch()
    tell(link, do="compare", one="first push", other="../second")
    assert "letters" in hear(link, "refused", do="compare")["why"]


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/1.1\r\n" + b"X: " + b"a" * 20_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 500 + b"\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 50000000\r\n\r\n",
        b"GET " + b"/" * 50_000,
        b"\0" * 50_000 + b"\r\n\r\n",
    ],
    ids=["TLS", "long header", "many headers", "post", "long line", "zeros"],
)
def test_what_is_no_request_is_dropped_and_the_next_is_served(served, data) -> None:
    """Row 57: garbage, and what is too long."""
    try:
        answer = served.raw(data, last=True)
    except OSError:
        answer = b""
    assert b" 200 " not in answer
    assert served.get("/").startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "message",
    ["", "{", "[]", "null", '{"do": 1}', "[" * 10_000, b"\xff\xfe", "x" * 20_000],
    ids=["empty", "half", "list", "null", "number", "deep", "bytes", "oversized"],
)
def test_a_page_that_sends_what_is_no_request_is_let_go(served, board, page, message) -> None:
    """Row 57: garbage from a page that is trusted."""
    from websockets.exceptions import ConnectionClosed

    link, other = page(served.access.token), page()
    hear(link, "trust")
    before = board.config()
    link.send(message)
    with pytest.raises(ConnectionClosed):
        hear(link, "never said")
    assert hear(other, "frame")["state"] in ("running", "silent")
    assert board.config() == before and board.request() is None


def test_a_page_that_sends_too_much_is_let_go(served, page) -> None:
    """Row 57: a flood."""
    from websockets.exceptions import ConnectionClosed

    link = page(served.access.token)

    def flood() -> None:
        for _ in range(100_000):
            tell(link, do="mark", text="x")

    with pytest.raises(ConnectionClosed):
        flood()
    assert hear(page(), "frame")


def test_a_thousand_connections_are_cut_to_a_few_and_then_it_goes_on(served, page) -> None:
    """Row 57: a thousand connections."""
    first = page()
    hear(first, "frame")
    links = []
    for _ in range(1000):
        link = socket.create_connection(("127.0.0.1", served.port))
        link.settimeout(PATIENCE)
        links.append(link)
        if len(links) > 200:  # of those that are open and say nothing, the oldest goes
            links.pop(0).close()
    assert served.cockpit._open <= limits.CONNECTIONS
    assert hear(first, "frame")
    for link in links:
        link.close()
    tries = 0
    while not (answer := _try(served)).startswith(b"HTTP/1.1 200"):  # as those above are noticed
        tries += 1
        assert tries < 10_000, answer
    assert served.cockpit.refused > 100


def _try(served) -> bytes:
    try:
        return served.get("/")
    except OSError:
        return b""


def test_no_more_pages_than_there_may_be_are_shown_frames(served, page) -> None:
    from websockets.exceptions import InvalidStatus

    links = [page() for _ in range(limits.PAGES)]
    for link in links:
        hear(link, "frame")
    with pytest.raises(InvalidStatus) as refused:
        page()
    assert refused.value.response.status_code == 503


def test_a_page_that_does_not_read_costs_no_memory_and_no_time(served, page) -> None:
    """Row 57: a slow reader."""
    frozen, other = page(), page()
    hear(frozen, "hello")
    (one,) = [
        p for p in list(served.cockpit.pages) if p.connection.remote_address == frozen.local_address
    ]
    for _ in range(3000):
        served.loop.call_soon_threadsafe(one.show, "x" * 1000)
    for _ in range(30):
        hear(other, "frame")
    assert len(one.waiting) <= 100 and len(one.frame) <= 5000


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "everywhere", ""])
def test_an_address_that_is_no_address_of_this_machine_is_refused(host) -> None:
    with pytest.raises(ConfigError, match="--host"):
        AccessPolicy(host)


def test_only_loopback_may_look_without_the_token() -> None:
    assert AccessPolicy("127.0.0.1").loopback and AccessPolicy("::1").loopback
    assert not AccessPolicy("192.168.1.5").loopback
    assert AccessPolicy("192.168.1.5", 80).hosts == {"192.168.1.5:80"}


def test_tokens_are_long_and_never_the_same_and_shown_in_no_log() -> None:
    one, two = AccessPolicy(), AccessPolicy()
    assert len(one.token) >= 24 and one.token != two.token
    assert one.token not in repr(one)
    assert one.knows(one.token) and not one.knows(two.token)


@given(st.one_of(st.none(), st.text(), st.integers(), st.lists(st.text())))
def test_nothing_else_is_the_token(guess) -> None:
    assert not AccessPolicy(token="the one and only token").knows(guess)


def test_an_allowance_is_a_burst_and_then_a_rate() -> None:
    allowance = Allowance(rate=10.0, burst=5)
    allowance._then = 0.0
    assert [allowance.take(0.0) for _ in range(6)] == [True] * 5 + [False]
    assert not allowance.take(0.05)
    allowance = Allowance(rate=10.0, burst=5)
    allowance._then = 0.0
    for n in range(200):
        assert allowance.take(0.1 * n)
