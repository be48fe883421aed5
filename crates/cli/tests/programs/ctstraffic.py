"""ctsTraffic's TCP wire, as far as tests need one: reference sections 0 and 2. Shares nothing with the program that is tested.

server PATTERN TRANSFER CONNECTIONS: says on which port it listens, serves so many connections, and ends with 0 if all were right.
client PORT PATTERN TRANSFER CONNECTIONS graceful|rude: makes so many, one after the other.
"""
import socket
import struct
import sys

BLOCK = b"".join(struct.pack("<H", number) for number in range(32768))
PUSH, PULL = 7000, 9999


class Wrong(Exception):
    pass


def expect(is_right, what):
    if not is_right:
        raise Wrong(what)


def take(connection, length):
    data = b""
    while len(data) < length:
        piece = connection.recv(length - len(data))
        expect(piece, "closed after %d of %d bytes" % (len(data), length))
        data += piece
    return data


def slice_of(start, length):
    first = start % len(BLOCK)
    return (BLOCK[first:] + BLOCK * (length // len(BLOCK) + 1))[:length]


def send(connection, start, length):
    connection.sendall(slice_of(start, length))


def receive(connection, start, length):
    expect(take(connection, length) == slice_of(start, length), "the pattern does not match")


def turns(transfer):
    """Who sends how many bytes, in turns: True is the client."""
    is_client, left = True, transfer
    while left > 0:
        length = min(PUSH if is_client else PULL, left)
        yield is_client, length
        left -= length
        is_client = not is_client


def data(connection, pattern, transfer, is_client):
    sent = received = 0
    if pattern == "pushpull":
        for of_client, length in turns(transfer):
            if of_client == is_client:
                send(connection, sent, length)
                sent += length
            else:
                receive(connection, received, length)
                received += length
    elif pattern == "duplex":
        half, chunk = (transfer + 1) // 2, 1000
        # In step: neither waits for the other with full buffers.
        while sent < half:
            length = min(chunk, half - sent)
            send(connection, sent, length)
            receive(connection, sent, length)
            sent += length
    elif (pattern == "push") == is_client:
        send(connection, 0, transfer)
    else:
        receive(connection, 0, transfer)


def serve(connection, pattern, transfer, number):
    connection.sendall(("%08x-0000-4000-8000-000000000000" % number).encode() + b"\0")
    data(connection, pattern, transfer, False)
    connection.sendall(b"DONE")
    try:
        expect(connection.recv(4) == b"", "data where FIN was expected")
    except ConnectionResetError:
        pass
    connection.close()


def ask(port, pattern, transfer, shutdown):
    connection = socket.create_connection(("127.0.0.1", port))
    name = take(connection, 37)
    expect(name[36] == 0 and name.count(b"-") == 4, "no id: %r" % name)
    data(connection, pattern, transfer, True)
    expect(take(connection, 4) == b"DONE", "no DONE")
    if shutdown == "rude":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    else:
        connection.shutdown(socket.SHUT_WR)
        expect(connection.recv(4) == b"", "data where FIN was expected")
    connection.close()


def main(words):
    socket.setdefaulttimeout(60)
    if words[0] == "server":
        pattern, transfer, connections = words[1], int(words[2]), int(words[3])
        listener = socket.create_server(("127.0.0.1", 0))
        print("port %d" % listener.getsockname()[1], flush=True)
        for number in range(connections):
            serve(listener.accept()[0], pattern, transfer, number)
    else:
        for _ in range(int(words[4])):
            ask(int(words[1]), words[2], int(words[3]), words[5])
    print("all is well", flush=True)


main(sys.argv[1:])
