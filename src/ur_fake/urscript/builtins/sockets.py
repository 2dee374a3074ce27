"""Sockets that a script opens. Nothing here ever blocks: a read waits cycle by cycle."""

from __future__ import annotations

import math
import select
import socket
import struct
import threading
from typing import Any

from ur_fake.arm.arm import CYCLE
from ur_fake.urscript.tree import ScriptError
from ur_fake.urscript.values import LONGEST_TEXT, number, text_of, whole

DEFAULT = "socket_0"
MOST_SOCKETS = 32
_MOST_NUMBERS = 30  # a read gives at most so many, as the maker's manual says
_CONNECT_SECONDS = 2.0
_CONNECT_CYCLES = 5  # at least: no robot connects at once, and peers count on that
_CHUNK, _BUFFER = 4096, 1 << 18


class Connection:
    """One open socket of a script."""

    def __init__(self, peer: socket.socket) -> None:
        self.peer = peer
        self.received = bytearray()
        self.open = True

    def fill(self) -> None:
        """Take what has arrived."""
        while self.open and len(self.received) < _BUFFER:
            try:
                data = self.peer.recv(_CHUNK)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                self.open = False
                return
            if not data:
                self.open = False
                return
            self.received += data
            if len(data) < _CHUNK:
                return

    def take(self, count: int) -> bytes:
        data = bytes(self.received[:count])
        del self.received[:count]
        return data

    def send(self, data: bytes) -> bool:
        try:
            self.peer.sendall(data)
        except (BlockingIOError, OSError):
            self.open = False
            return False
        return True

    def close(self) -> None:
        self.open = False
        self.peer.close()


def _cycles(timeout: Any) -> float:
    """How many cycles to wait; 0 s and less mean for ever."""
    seconds = number(timeout)
    if not seconds > 0:
        return math.inf
    return max(1, math.ceil(seconds / CYCLE - 1e-9))


def _name(value: Any) -> str:
    if not isinstance(value, str):
        raise ScriptError("the name of a socket is a string")
    return value


def _connection(rt: Any, socket_name: Any) -> Connection | None:
    return rt.sockets.get(_name(socket_name))


def socket_open(rt: Any, address: Any, port: Any, socket_name: Any = DEFAULT) -> Any:
    """Connect; False if nobody answers within two seconds."""
    name = _name(socket_name)
    old = rt.sockets.pop(name, None)
    if old is not None:
        old.close()
    if len(rt.sockets) >= MOST_SOCKETS:
        raise ScriptError(f"a program may have {MOST_SOCKETS} sockets at most")
    target = whole(port)
    if not 0 < target < 65536:
        raise ScriptError(f"socket_open: port 1 to 65535, got {target}")
    left = _cycles(_CONNECT_SECONDS)
    found: list[Any] = []
    host = text_of(address)
    try:
        socket.inet_aton(host)
        found.append(host)
    except OSError:  # a name: looked up beside the cycle
        threading.Thread(target=_look_up, args=(host, found), daemon=True).start()
    while not found:
        left -= 1
        if left < 0:
            return False
        yield
    if found[0] is None:
        return False
    peer = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        peer.setblocking(False)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            peer.connect((found[0], target))
        except BlockingIOError:
            pass
        except OSError:
            return False
        while left > 0:
            _, ready, _ = select.select([], [peer], [], 0)
            if ready:
                if peer.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    return False
                for _ in range(_CONNECT_CYCLES):
                    yield
                rt.sockets[name] = Connection(peer)
                return True
            left -= 1
            yield
        return False
    finally:
        if rt.sockets.get(name) is None or rt.sockets[name].peer is not peer:
            peer.close()


def _look_up(host: str, found: list[Any]) -> None:
    try:
        found.append(socket.gethostbyname(host))
    except (OSError, UnicodeError):
        found.append(None)


def socket_close(rt: Any, socket_name: Any = DEFAULT) -> None:
    connection = rt.sockets.pop(_name(socket_name), None)
    if connection is not None:
        connection.close()


def _wait_for(rt: Any, socket_name: Any, timeout: Any, enough: Any) -> Any:
    """The connection once `enough(received)` is true, else None: too late, or closed."""
    left = _cycles(timeout)
    while True:
        connection = _connection(rt, socket_name)
        if connection is None:
            yield  # a read from no socket takes a cycle, lest a loop of them never waits
            return None
        connection.fill()
        if enough(connection.received):
            rt.current.spent = 0  # who gets data is in no infinite loop
            return connection
        if not connection.open:
            yield
            return None
        left -= 1
        if left < 0:
            return None
        yield


def _count(value: Any) -> int:
    n = whole(value)
    if not 0 < n <= _MOST_NUMBERS:
        raise ScriptError(f"1 to {_MOST_NUMBERS} numbers can be read at a time, got {n}")
    return n


def socket_read_binary_integer(
    rt: Any, number: Any, socket_name: Any = DEFAULT, timeout: Any = 2.0
) -> Any:
    """[count, integers...]: 32 bits each, network order; [0, -1, ...] if they do not come."""
    n = _count(number)
    connection = yield from _wait_for(rt, socket_name, timeout, lambda got: len(got) >= 4 * n)
    if connection is None:
        return (0,) + (-1,) * n
    return (n, *struct.unpack(f">{n}i", connection.take(4 * n)))


def socket_read_byte_list(
    rt: Any, number: Any, socket_name: Any = DEFAULT, timeout: Any = 2.0
) -> Any:
    """[count, bytes...]."""
    n = _count(number)
    connection = yield from _wait_for(rt, socket_name, timeout, lambda got: len(got) >= n)
    if connection is None:
        return (0,) + (-1,) * n
    return (n, *connection.take(n))


def socket_read_ascii_float(
    rt: Any, number: Any, socket_name: Any = DEFAULT, timeout: Any = 2.0
) -> Any:
    """[count, floats...] of "(1, 2.5, ...)"; nan where there is none."""
    n = _count(number)
    connection = yield from _wait_for(rt, socket_name, timeout, lambda got: b")" in got)
    if connection is None:
        return (0,) + (math.nan,) * n
    text = connection.take(connection.received.index(b")") + 1).decode("ascii", "replace")
    values: list[float] = []
    for part in text[text.find("(") + 1 : -1].split(",")[:n]:
        try:
            values.append(float(part))
        except ValueError:
            values.append(math.nan)
    return (len(values), *values, *(math.nan,) * (n - len(values)))


def socket_read_line(rt: Any, socket_name: Any = DEFAULT, timeout: Any = 2.0) -> Any:
    """Up to the next line end, which is taken off; "" if it does not come."""
    connection = yield from _wait_for(
        rt, socket_name, timeout, lambda got: b"\n" in got or len(got) > LONGEST_TEXT
    )
    if connection is None:
        return ""
    end = connection.received.find(b"\n")
    line = connection.take(end + 1 if end >= 0 else LONGEST_TEXT)
    return line.rstrip(b"\r\n").decode("latin-1")[:LONGEST_TEXT]


def socket_read_string(
    rt: Any,
    socket_name: Any = DEFAULT,
    prefix: Any = "",
    suffix: Any = "",
    interpret_escape: Any = False,
    timeout: Any = 2.0,
) -> Any:
    """What has arrived; with `prefix` and `suffix`, what stands between them."""
    first = _escaped(prefix, interpret_escape)
    last = _escaped(suffix, interpret_escape)

    def enough(got: bytearray) -> bool:
        start = got.find(first) if first else 0
        if start < 0:
            return False
        return bool(got) if not last else got.find(last, start + len(first)) >= 0

    connection = yield from _wait_for(rt, socket_name, timeout, enough)
    if connection is None:
        return ""
    start = connection.received.find(first) + len(first) if first else 0
    end = connection.received.find(last, start) if last else len(connection.received)
    end = min(end, start + LONGEST_TEXT)
    text = bytes(connection.received[start:end])
    connection.take(end + len(last))
    return text.decode("latin-1")


def _escaped(value: Any, interpret: Any) -> bytes:
    text = text_of(value)
    if interpret:
        text = text.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t")
    return text.encode("latin-1", "replace")


def socket_send_string(rt: Any, str: Any, socket_name: Any = DEFAULT) -> bool:
    return _send(rt, socket_name, text_of(str).encode("latin-1", "replace"))


def socket_send_line(rt: Any, str: Any, socket_name: Any = DEFAULT) -> bool:
    return _send(rt, socket_name, text_of(str).encode("latin-1", "replace") + b"\n")


def socket_send_byte(rt: Any, value: Any, socket_name: Any = DEFAULT) -> bool:
    return _send(rt, socket_name, bytes([whole(value) & 0xFF]))


def socket_send_int(rt: Any, value: Any, socket_name: Any = DEFAULT) -> bool:
    return _send(rt, socket_name, struct.pack(">I", whole(value) & 0xFFFFFFFF))


def _send(rt: Any, socket_name: Any, data: bytes) -> bool:
    connection = _connection(rt, socket_name)
    return connection is not None and connection.send(data)


def socket_set_var(rt: Any, name: Any, value: Any, socket_name: Any = DEFAULT) -> None:
    """Tell the peer: "SET name value"."""
    _send(rt, socket_name, f"SET {text_of(name)} {whole(value)}\n".encode("latin-1", "replace"))


def socket_get_var(rt: Any, name: Any, socket_name: Any = DEFAULT) -> Any:
    """Ask the peer: "GET name"; it answers "name value". 0 if it does not."""
    wanted = text_of(name)
    _send(rt, socket_name, f"GET {wanted}\n".encode("latin-1", "replace"))
    line = yield from socket_read_line(rt, socket_name, 2.0)
    words = line.split()
    try:
        return int(words[1]) if len(words) == 2 and words[0] == wanted else 0
    except ValueError:
        return 0
