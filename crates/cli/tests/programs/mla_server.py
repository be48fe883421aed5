"""A server of MultipathLatencyAnalyzer's datagrams: writes its time at offset 16 of each, and sends it back. Written from the wire alone,
to be measured by a client that somebody else wrote.

    python3 mla_server.py [LOST]      every LOST-th number is not answered
"""

import socket
import struct
import sys
import time


def main():
    lost = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    server.bind(("127.0.0.1", 0))
    print(f"listening on 127.0.0.1:{server.getsockname()[1]}", flush=True)
    buffer = bytearray(1_024)
    pings, wrong = 0, 0
    while True:
        length, client = server.recvfrom_into(buffer)
        number, _, echoed = struct.unpack_from("<qqq", buffer)
        filler = all(byte == place % 256 for place, byte in enumerate(buffer[24:length]))
        wrong += length != 1_024 or echoed != 0 or not filler
        pings += number == -1
        if wrong or number == 0:
            print(f"number {number} of {length} bytes, {pings} pings, {wrong} wrong", flush=True)
        if lost and number >= 0 and number % lost == lost - 1:
            continue
        struct.pack_into("<q", buffer, 16, time.monotonic_ns() // 1_000)
        server.sendto(buffer[:length], client)


main()
