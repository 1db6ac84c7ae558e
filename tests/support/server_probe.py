#!/usr/bin/env python3
"""Usage: server_probe.py port                    prints a free port of the loopback interface
       server_probe.py wait PORT PID COMMAND TEXT    waits until the process answers COMMAND with TEXT in it

For private_server.sh, tasks that plain shell cannot do; and for the benchmark."""

import os
import random
import select
import socket
import sys
import time


def free_port():
    while True:
        port = random.randint(15000, 32000)  # the kernel picks outgoing ports above
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


def ask(port, command):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
            connection.sendall(command.encode())
            answer = b""
            while part := connection.recv(4096):
                answer += part
            return answer.decode()
    except OSError:
        return ""


def wait(port, pid, command, text):
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if text in ask(port, command):
            return True
        if select.select([process], [], [], 0.02)[0]:
            return False
    return False


if __name__ == "__main__":
    if sys.argv[1] == "port":
        print(free_port())
    else:
        sys.exit(0 if wait(int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:]) else 1)
