"""The service of docs/guide/programs.md, with slow, rude and vanishing clients: others get right answers."""

import random
import re
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from material import lines
from row import DONE, Try

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "programs.md"

CLIENTS = 20
"""Clients at a time, more than the service has threads."""

PATIENCE = 120
"""Seconds within which an answer comes."""


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Let a client call the service."""
    service: dict[str, Any] = {"__name__": "service"}
    programs = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    (code,) = (one for one in programs if "FastAPI" in one)
    exec(code, service)
    some = lines("test")
    texts = ["\n".join(chance.sample(some, 3)) for _ in range(tries)]
    wanted = [service["punctuator"](text) for text in texts]
    listener = socket.create_server(("127.0.0.1", 0), backlog=CLIENTS)
    server = uvicorn.Server(uvicorn.Config(service["app"], log_level="critical"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    ways = [chance.choice([plain, slow, plain, gone, half, garbage]) for _ in texts]
    seeds = [random.Random(chance.random()) for _ in texts]
    with ThreadPoolExecutor(CLIENTS) as pool:
        call = partial(_client, listener.getsockname()[1])
        found = list(pool.map(call, ways, texts, wanted, seeds))
    yield from ((f"{way.__name__}: {text!r}", one) for way, text, one in zip(ways, texts, found, strict=True))
    server.should_exit = True
    thread.join(PATIENCE)
    yield "the end", "the server does not end" if thread.is_alive() else DONE


def _client(port: int, way: Any, text: str, wanted: str, chance: random.Random) -> str:
    request = text.encode()
    head = (
        f"POST /restore HTTP/1.1\r\nHost: here\r\nConnection: close\r\nContent-Length: {len(request)}\r\n\r\n"
    )
    try:
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
            return str(way(connection, head.encode() + request, wanted, chance))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def plain(connection: socket.socket, request: bytes, wanted: str, chance: random.Random) -> str:
    """Send all, read all."""
    connection.sendall(request)
    return answered(connection, wanted)


def slow(connection: socket.socket, request: bytes, wanted: str, chance: random.Random) -> str:
    """Send and read a few bytes at a time."""
    for first in range(0, len(request), 20):
        connection.sendall(request[first : first + 20])
        time.sleep(chance.uniform(0, 0.1))
    return answered(connection, wanted, 5)


def gone(connection: socket.socket, request: bytes, wanted: str, chance: random.Random) -> str:
    """Hang up at some time after the request."""
    connection.sendall(request)
    time.sleep(chance.uniform(0, 2))
    return DONE


def half(connection: socket.socket, request: bytes, wanted: str, chance: random.Random) -> str:
    """Hang up in the middle of the request."""
    connection.sendall(request[: chance.randrange(len(request))])
    time.sleep(chance.uniform(0, 1))
    return DONE


def garbage(connection: socket.socket, request: bytes, wanted: str, chance: random.Random) -> str:
    """A request that is none, or is not UTF-8."""
    other = request[:-1] + b"\xff" if chance.random() < 0.5 else chance.randbytes(200) + b"\r\n\r\n"
    connection.sendall(other)
    with suppress(ConnectionResetError):
        status = connection.recv(12)
        return DONE if status in (b"HTTP/1.1 400", b"") else repr(status)
    return DONE


def answered(connection: socket.socket, wanted: str, size: int = 65536) -> str:
    """Compare the answer with the text that the service should return."""
    answer = b"".join(iter(partial(connection.recv, size), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    return DONE if body.decode() == wanted and head.startswith(b"HTTP/1.1 200") else repr(answer[-300:])
