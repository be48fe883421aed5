"""lagscope's wire, both ends, written from its description alone (what it says, not how pathscope says it).

    lagscope.py serve SIZE         echo whole messages of SIZE bytes, one client after the other; the port is printed first
    lagscope.py ping PORT SIZE N   one message ahead, N pings, each compared with its echo
"""

import socket
import struct
import sys


def whole(connection, size):
    """So many bytes, or none where the other end has closed first."""
    got = b""
    while len(got) < size:
        more = connection.recv(size - len(got))
        if not more:
            return None
        got += more
    return got


def serve(size):
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        connection, _ = listener.accept()
        messages = 0
        while True:
            message = whole(connection, size)
            if message is None:
                break
            # The first is no ping; the others are numbered from 0.
            expected = 5328 if messages == 0 else messages - 1
            said = struct.unpack("<I", message[:4])[0]
            if said != expected or message[4:] != b"A" * (size - 4):
                print("wrong message", messages, message[:16].hex(), flush=True)
                sys.exit(1)
            messages += 1
            connection.sendall(message)
        print("messages", messages, flush=True)
        connection.close()


def ping(port, size, pings):
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    for number in [5328] + list(range(pings)):
        message = struct.pack("<I", number) + b"A" * (size - 4)
        connection.sendall(message)
        if whole(connection, size) != message:
            print("ping", number, "came back as something else")
            sys.exit(1)
    connection.shutdown(socket.SHUT_WR)
    print("pings", pings, "then", connection.recv(1))


if sys.argv[1] == "serve":
    serve(int(sys.argv[2]))
else:
    ping(int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
