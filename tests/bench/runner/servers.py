"""Private servers: on loopback, in temporary folders, ended by their own process ids."""
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

import server_probe

PATIENCE = 60  # seconds
REDIS = "/usr/bin/redis-check-rdb"  # Debian's redis-tools has the server under this name
JARS = "/usr/share/java"
ZOOKEEPER = os.environ.get("PADDOCK_ZOOKEEPER_CLASSPATH",
                           ":".join(f"{JARS}/{jar}.jar" for jar in ("zookeeper", "slf4j-simple", "netty-codec")))
# The kernel ends a server whose runner was killed.
WITH_RUNNER = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []


class Failed(Exception):
    pass


class Servers:
    """Some servers of one system, and their common end, for which `closing` has a callback."""

    def __init__(self, closing):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="paddock-bench-"))
        self.processes = []
        self.addresses = []
        closing.callback(self.close)

    def launch(self, name, command, **more):
        log = self.folder / f"{name}.log"
        with open(log, "wb") as output:
            process = subprocess.Popen([*WITH_RUNNER, *map(str, command)], stdin=subprocess.DEVNULL,
                                       stderr=output, **{"stdout": output, **more})
        self.processes.append(process)
        return process, log

    def wait(self, process, log, ready):
        deadline = time.monotonic() + PATIENCE
        while not ready():
            if process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"{log.stem} does not run; its log ends with:\n{log.read_text()[-2000:]}")
            time.sleep(0.02)

    def close(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def pings(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(100).startswith(b"+PONG")
    except OSError:
        return False


def sent_packets():
    """TCP segments, in both directions, as all are sent on this machine."""
    with open("/proc/net/snmp", encoding="ascii") as lines:
        names, values = [line.split() for line in lines if line.startswith("Tcp:")]
    return int(values[names.index("OutSegs")])


class Certificate:
    """Of this machine's servers, which is its own authority."""

    def __init__(self, closing):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="paddock-bench-"))
        closing.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.file, self.key, self.both = (self.folder / name for name in ("own.pem", "own.key", "both.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-out", self.file, "-keyout", self.key], check=True, capture_output=True)
        self.both.write_text(self.key.read_text() + self.file.read_text())


class Redis(Servers):
    """With a certificate: with TLS beside plain connections."""

    def __init__(self, closing, count, certificate=None):
        super().__init__(closing)
        self.tls_addresses = []
        program = self.folder / "redis-server"
        program.symlink_to(REDIS)
        for i in range(count):
            port = server_probe.free_port()
            encrypted = []
            if certificate:
                tls_port = server_probe.free_port()
                self.tls_addresses.append(f"127.0.0.1:{tls_port}")
                encrypted = ["--tls-port", tls_port, "--tls-cert-file", certificate.file, "--tls-key-file",
                             certificate.key, "--tls-ca-cert-file", certificate.file, "--tls-auth-clients", "no"]
            process, log = self.launch(f"redis-{i}", [
                program, "--port", port, "--cluster-port", server_probe.free_port(),
                "--bind", "127.0.0.1", "--save", "", "--dir", self.folder, "--daemonize", "no", *encrypted])
            self.wait(process, log, lambda port=port: pings(port))
            self.addresses.append(f"127.0.0.1:{port}")


class ZooKeeper(Servers):
    """One server, or an ensemble. Without `disk` a write does not wait for the disk; with a certificate there is TLS
    beside plain connections."""

    def __init__(self, closing, count, disk, certificate=None):
        super().__init__(closing)
        self.certificate = certificate
        self.tls_ports = [server_probe.free_port() for _ in range(count)]
        self.ports = [server_probe.free_port() for _ in range(count)]
        self.members = [(server_probe.free_port(), server_probe.free_port()) for _ in range(count)]
        self.disk = disk
        self.start_all()
        self.addresses = [f"127.0.0.1:{port}" for port in self.ports]
        self.tls_addresses = [f"127.0.0.1:{port}" for port in self.tls_ports]

    def start_all(self):
        launched = [self.start(i) for i in range(len(self.ports))]
        for port, (process, log) in zip(self.ports, launched):
            self.wait(process, log, lambda port=port: "Mode: " in server_probe.ask(port, "srvr"))

    def restart(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
        self.processes.clear()
        self.start_all()

    def start(self, i):
        data = self.folder / str(i)
        data.mkdir(exist_ok=True)
        lines = [f"dataDir={data}", f"clientPort={self.ports[i]}", "clientPortAddress=127.0.0.1",
                 "admin.enableServer=false", "tickTime=500", "minSessionTimeout=1000",
                 "maxSessionTimeout=60000", "maxClientCnxns=0", "4lw.commands.whitelist=*"]
        if self.certificate:
            lines += ["serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
                      "secureClientPortAddress=127.0.0.1", f"secureClientPort={self.tls_ports[i]}",
                      "ssl.protocol=TLSv1.3", "ssl.enabledProtocols=TLSv1.3,TLSv1.2", "ssl.clientAuth=none",
                      f"ssl.keyStore.location={self.certificate.both}"]
        if len(self.ports) > 1:
            (data / "myid").write_text(str(i + 1))
            lines += ["initLimit=10", "syncLimit=10"]
            lines += [f"server.{k + 1}=127.0.0.1:{quorum}:{election}"
                      for k, (quorum, election) in enumerate(self.members)]
        config = self.folder / f"{i}.cfg"
        config.write_text("\n".join(lines) + "\n")
        main = "quorum.QuorumPeerMain" if len(self.ports) > 1 else "ZooKeeperServerMain"
        return self.launch(f"zookeeper-{i}", [
            "java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
            "-Djava.awt.headless=true", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-Dzookeeper.extendedTypesEnabled=true", "-Dzookeeper.admin.enableServer=false",
            f"-Dzookeeper.forceSync={'yes' if self.disk else 'no'}",
            "-cp", ZOOKEEPER, f"org.apache.zookeeper.server.{main}", config])

    def said(self):
        return [dict(line.split("\t", 1) for line in server_probe.ask(port, "mntr").splitlines())
                for port in self.ports]

    def counts(self):
        """How many nodes there are, and how many requests and packets there have been."""
        said = self.said()
        return {"nodes": int(said[0]["zk_znode_count"]),
                "requests": sum(int(each["zk_packets_received"]) for each in said),
                "packets": sent_packets()}

    def efforts(self):
        """How many transactions there have been, and how long the servers have used a processor."""
        zxids = [int(line.split()[1], 16) for port in self.ports
                 for line in server_probe.ask(port, "srvr").splitlines() if line.startswith("Zxid:")]
        ticks = 0
        for process in self.processes:
            with open(f"/proc/{process.pid}/stat", encoding="ascii") as stat:
                user, system = stat.read().rsplit(")", 1)[1].split()[11:13]
            ticks += int(user) + int(system)
        return {"transactions": max(zxids) & 0xffffffff, "server_us": ticks * 1e6 / os.sysconf("SC_CLK_TCK")}

    def watches(self):
        return sum(int(each["zk_watch_count"]) for each in self.said())

    @staticmethod
    def wait_for(condition):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                raise Failed("the contestant is not ready")
            time.sleep(0.02)


class Delay(Servers):
    """A proxy before each of some addresses, with so many microseconds more for a round trip."""

    def __init__(self, closing, program, microseconds, targets):
        super().__init__(closing)
        ports = [server_probe.free_port() for _ in targets]
        process, log = self.launch("delay", [program, microseconds, *(
            f"{port}={target}" for port, target in zip(ports, targets))], stdout=subprocess.PIPE)
        if process.stdout.readline() != b"ready\n":
            raise Failed(f"the proxy does not run: {log.read_text()}")
        self.addresses = [f"127.0.0.1:{port}" for port in ports]
