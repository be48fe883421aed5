"""A server of ctsTraffic's streams over UDP: streams frames to whoever asks for them. Written from the wire alone, to be measured by a
client that somebody else wrote.

    python3 ctstraffic_stream_server.py BITS_PER_SECOND FRAME_RATE SECONDS [UNHEARD] [LOST]

The first UNHEARD questions are not heard; of every LOST-th frame the first datagram is not sent.
"""

import select
import socket
import struct
import sys
import time

HEADER = 26
MOST = 1_400
PATTERN = b"".join(struct.pack("<H", number) for number in range(32_768))


def lengths_of(frame_bytes):
    """Datagrams are filled; a rest that has no room for a byte takes some of the one before it."""
    lengths = []
    while frame_bytes > 0:
        length = min(frame_bytes, MOST)
        rest = frame_bytes - length
        if 0 < rest <= HEADER:
            length -= HEADER + 1 - rest
        lengths.append(length)
        frame_bytes -= length
    return lengths


def stream(server, client, frames, rate, lengths, lost):
    server.sendto(b"\x00\x10" + b"01234567-89ab-cdef-0123-456789abcdef\x00", client)
    begun = time.monotonic_ns()
    for frame in range(1, frames + 1):
        due = begun + frame * 1_000 // rate * 1_000_000
        time.sleep(max(0, due - time.monotonic_ns()) / 1e9)
        for place, length in enumerate(lengths):
            if lost and frame % lost == 0 and place == 0:
                continue
            ticks = (time.monotonic_ns() - begun) // 100
            header = struct.pack("<hqqq", 0, frame, ticks, 10_000_000)
            server.sendto(header + PATTERN[:length - HEADER], client)


def main():
    bits, rate, seconds = map(int, sys.argv[1:4])
    unheard, lost = (*map(int, sys.argv[4:6]), 0, 0)[:2]
    frames = seconds * rate
    lengths = lengths_of(bits // 8 * seconds // frames)
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))
    print(f"listening on 127.0.0.1:{server.getsockname()[1]}", flush=True)
    asked = 0
    while True:
        question, client = server.recvfrom(1_024)
        asked += 1
        print(f"asked {asked} times, with {question!r}", flush=True)
        if asked > unheard:
            break
    stream(server, client, frames, rate, lengths, lost)
    while select.select([server], [], [], 0)[0]:
        print(f"asked again, with {server.recvfrom(1_024)[0]!r}", flush=True)
    print("sent all", flush=True)


main()
