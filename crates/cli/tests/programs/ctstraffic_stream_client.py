"""A client of ctsTraffic's streams over UDP: asks for one until it comes, judges each frame by its bytes, and prints what came, as JSON.
Written from the wire alone, to be set upon a server that somebody else wrote.

    python3 ctstraffic_stream_client.py HOST PORT BITS_PER_SECOND FRAME_RATE SECONDS
"""

import json
import select
import socket
import struct
import sys
import time

HEADER = 26
PATIENCE_S = 60
PATTERN = b"".join(struct.pack("<H", number) for number in range(32_768))


def main():
    host, port, bits, rate, seconds = sys.argv[1], *map(int, sys.argv[2:6])
    frames = seconds * rate
    frame_bytes = bits // 8 * seconds // frames
    stream = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    stream.bind(("127.0.0.1", 0))
    came, names, wrong, lengths, clocks = {}, [], 0, [], []
    asked, ask_at = 0, time.monotonic()
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up and sum(came.values()) < frames * frame_bytes:
        if not came and time.monotonic() >= ask_at:
            stream.sendto(b"START", (host, port))
            asked += 1
            ask_at = time.monotonic() + (1_000 // rate + 500) / 1_000
        if not select.select([stream], [], [], 0.1)[0]:
            continue
        datagram, sender = stream.recvfrom(4_096)
        if sender[1] != port:
            wrong += 1
        elif datagram[:2] == b"\x00\x10" and len(datagram) == 39:
            names.append(datagram[2:].decode())
        elif datagram[:2] == b"\x00\x00" and len(datagram) > HEADER:
            frame, ticks, a_second = struct.unpack_from("<qqq", datagram, 2)
            body = datagram[HEADER:]
            wrong += not 1 <= frame <= frames or body != PATTERN[:len(body)]
            came[frame] = came.get(frame, 0) + len(datagram)
            clocks.append(ticks / a_second)
            if frame == 1:
                lengths.append(len(datagram))
        else:
            wrong += 1
    # What comes after the last frame.
    after = len(select.select([stream], [], [], 0)[0])
    print(json.dumps({
        "completed": sum(length == frame_bytes for length in came.values()),
        "wrong": wrong,
        "after": after,
        "names": names,
        "asked": asked,
        "first_frame": lengths,
        "lasted_s": clocks[-1] - clocks[0] if clocks else 0,
        "is_monotonic": clocks == sorted(clocks),
    }))


main()
