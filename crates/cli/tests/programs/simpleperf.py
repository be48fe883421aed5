"""simpleperf's wire, as far as tests need one: reference section 2. Shares nothing with the program that is tested.

server CONNECTIONS echo|silent: says on which port it listens, and how many bytes each connection brought.
client PORT MESSAGES CONNECTIONS: sends so many messages of 1,000 bytes on each.
"""
import socket
import sys


def serve(connection, echoes):
    received = 0
    while True:
        data = connection.recv(4096)
        text = data.decode()
        if text.endswith("BYE"):
            received += len(text) - len("BYE")
            break
        if not data:
            raise SystemExit("closed without BYE")
        received += len(text)
        if echoes:
            connection.sendall(data)
    connection.sendall(b"ACK: BYE")
    if connection.recv(1) != b"":
        raise SystemExit("more came after BYE")
    connection.close()
    print("received %d" % received, flush=True)


def ask(port, messages):
    connection = socket.create_connection(("127.0.0.1", port))
    for _ in range(messages):
        connection.sendall(b"x" * 1000)
    connection.sendall(b"BYE")
    answer = b""
    while len(answer) < 8:
        piece = connection.recv(1024)
        if not piece:
            raise SystemExit("closed without an answer: %r" % answer)
        answer += piece
    if answer != b"ACK: BYE":
        raise SystemExit("another answer: %r" % answer)
    connection.close()


def main(words):
    socket.setdefaulttimeout(60)
    if words[0] == "server":
        listener = socket.create_server(("127.0.0.1", 0))
        print("port %d" % listener.getsockname()[1], flush=True)
        for _ in range(int(words[1])):
            serve(listener.accept()[0], words[2] == "echo")
    else:
        for _ in range(int(words[3])):
            ask(int(words[1]), int(words[2]))
    print("all is well", flush=True)


main(sys.argv[1:])
