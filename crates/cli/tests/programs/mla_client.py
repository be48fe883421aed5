"""A client of MultipathLatencyAnalyzer's datagrams, of one path: pings until it is answered, sends so many datagrams of a length in
groups, and prints what came back, as JSON. Written from the wire alone, to be set upon a server that somebody else wrote.

    python3 mla_client.py HOST PORT DATAGRAMS BYTES
"""

import json
import select
import socket
import struct
import sys
import time

GROUPING = 30
TICK_S = 0.01
PATIENCE_S = 60


def micros():
    return time.monotonic_ns() // 1_000


def datagram(number, length):
    filler = bytes(place % 256 for place in range(length - 24))
    return struct.pack("<qqq", number, micros(), 0) + filler


def take(path, sent, found):
    """One datagram that has come."""
    echo = path.recv(4_096)
    number, sent_at, echoed = struct.unpack_from("<qqq", echo)
    original = sent.get(number)
    is_whole = original is not None and echoed > 0
    is_whole = is_whole and echo[:16] + bytes(8) + echo[24:] == original
    if not is_whole:
        found["corrupt"] += 1
        return
    found["received"].add(number)
    found["echo_times"].append(echoed)
    found["shortest_us"] = min(found["shortest_us"], micros() - sent_at)


def main():
    host, port, datagrams, length = sys.argv[1], *map(int, sys.argv[2:5])
    path = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    path.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    path.connect((host, port))
    found = {"received": set(), "corrupt": 0, "echo_times": [], "shortest_us": 1 << 62}
    give_up = time.monotonic() + PATIENCE_S
    pings = {}
    while -1 not in found["received"] and time.monotonic() < give_up:
        pings[-1] = datagram(-1, length)
        path.send(pings[-1])
        if select.select([path], [], [], 1.0)[0]:
            take(path, pings, found)
    found["received"].discard(-1)
    sent = {}
    for number in range(datagrams):
        if number % GROUPING == 0:
            tick = time.monotonic() + TICK_S
            while (left := tick - time.monotonic()) > 0:
                if select.select([path], [], [], left)[0]:
                    take(path, sent, found)
        sent[number] = datagram(number, length)
        path.send(sent[number])
    while len(found["received"]) < datagrams and time.monotonic() < give_up:
        if select.select([path], [], [], 1.0)[0]:
            take(path, sent, found)
    print(json.dumps({
        "sent": datagrams,
        "received": len(found["received"]),
        "corrupt": found["corrupt"],
        "shortest_us": found["shortest_us"],
        "is_monotonic": found["echo_times"] == sorted(found["echo_times"]),
    }))


main()
