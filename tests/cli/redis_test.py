#!/usr/bin/env python3
"""`paddock` with locks on Redis.
   redis_test.py SOURCE-ROOT PADDOCK [CHECK…]"""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from scene import SHORT, Authority, TlsProxy, checks_of, end, eventually, last_tick, run_checks, same

NEW = ["--new-servers"]


def a_lock_excludes_and_its_token_grows(s):
    path = s.path()
    holder = s.hold(path, *NEW)
    same(s.run("lock", path, *NEW, "--try", "--", "true").returncode, 124)
    same(s.run("lock", path, *NEW, "--timeout", "200ms", "--", "true").returncode, 124)
    same(end(holder)[0], 0)
    script = 'echo "$PADDOCK_FENCING_TOKEN"'
    tokens = [s.run("lock", path, *NEW, "--", "sh", "-c", script).out for _ in range(2)]
    assert "" < tokens[0] < tokens[1], tokens


def the_locks_of_keys_do_not_exclude_each_other(s):
    holder = s.hold("--key", "family", "plums", *NEW)
    same(s.run("lock", "--key", "family", "pears", *NEW, "--try", "--", "true").returncode, 0)
    same(s.run("lock", "--key", "family", "plums", *NEW, "--try", "--", "true").returncode, 124)
    end(holder)


def others_see_the_label_of_a_holder(s):
    path = s.path()
    holder = s.hold(path, *NEW, "--label", "first")
    assert "first" in s.run("ls", path).out
    end(holder)
    holder = s.hold(path, *NEW)
    assert str(holder.pid) in s.run("ls", path).out
    end(holder)


def no_error_shows_the_password(s):
    for words in (["lock", "/a", "--", "true"], ["ls", "/a"], ["doctor"]):
        tried = s.run(*words[:1], "--connect-timeout", "200ms", *words[1:], servers="redis://me:secret@127.0.0.1:1")
        assert tried.returncode in (1, 125), tried.returncode
        assert "secret" not in tried.out + tried.err, tried.out + tried.err


def what_redis_does_not_have_is_bad_usage(s):
    for words in (["--shared"], ["--exclusive"], ["--semaphore", "2"], ["--all", "/b"]):
        tried = s.run("lock", s.path(), *words, "--", "true")
        same((words, tried.returncode, tried.err), (words, 2, f"paddock: {words[0]} is not available on Redis\n"))
    same(s.run("once", s.path(), "--per", "day", "--", "true").returncode, 2)


def the_next_leader_runs_the_command(s):
    path = s.path()
    first = s.begin("elect", path, *NEW, "--", "sh", "-c", "echo leads; exec cat")
    same(first.stdout.readline(), "leads\n")
    second = s.begin("elect", path, *NEW, "--", "echo", "leads, too")
    same(end(first)[0], 0)
    same(end(second)[:2], (0, "leads, too\n"))


def a_server_that_stands_still_ends_the_command_in_time(s):
    path = s.path()
    holder, file = s.ticks(path, *NEW, *SHORT, trap="trap '' TERM")
    eventually("it works", lambda: file.exists() and file.read_text())
    os.kill(s.server.pid, signal.SIGSTOP)
    status, _, err = end(holder)
    os.kill(s.server.pid, signal.SIGCONT)
    same((status, "the lock was lost" in err), (123, True))
    after = s.run("lock", path, *NEW, *SHORT, "--", "date", "+%s.%N")
    assert last_tick(file) < float(after.out)


def credentials_come_from_a_file(s):
    port = s.server.address.split(":")[1]
    file = s.file()
    file.write_text("default:se cret/@1\n")

    def configure(*words, password=()):
        subprocess.run(["redis-cli", *password, "-p", port, "CONFIG", "SET", *words], check=True, capture_output=True)

    configure("requirepass", "se cret/@1")
    same(s.run("lock", s.path(), *NEW, "--auth-file", str(file), "--", "true").returncode, 0)
    refused = s.run("lock", s.path(), *NEW, "--connect-timeout", "2s", "--", "true")
    same(refused.returncode, 125)
    configure("requirepass", "", password=("--no-auth-warning", "-a", "se cret/@1"))


def connections_are_encrypted(s):
    authority = Authority(s.folder)
    proxy = TlsProxy(s.server.address, authority.issue("server"), wants=authority.ca)
    port = proxy.address.split(":")[1]
    certificate, key = authority.issue("client")
    ours = ["--tls-cert", certificate, "--tls-key", key]

    def locks(scheme, host, *words):
        return s.run("lock", s.path(), *NEW, "--connect-timeout", "3s", *words, "--", "true",
                     servers=f"{scheme}://{host}:{port}")

    same(locks("rediss", "localhost", "--tls-ca", authority.ca, *ours).returncode, 0)
    same(locks("rediss", "127.0.0.1", "--tls-ca", authority.ca, *ours).returncode, 0)
    for words, why in ((["--tls-ca", authority.ca], "certificate of the client"),
                       ([*ours], "self-signed certificate"),
                       (["--tls-ca", authority.ca, *ours, "--tls-name", "other"], "hostname mismatch")):
        refused = locks("rediss", "localhost", *words)
        same((refused.returncode, why in refused.err or "the client's certificate" in refused.err), (125, True))
    empty = locks("redis", "localhost", "--tls-ca", "")
    same((empty.returncode, "--tls-ca" in empty.err, "must not be empty" in empty.err), (2, True, True))
    unset = s.run("lock", s.path(), *NEW, "--", "true", more={"PADDOCK_TLS_CA": ""})
    same((unset.returncode, unset.err), (2, "paddock: PADDOCK_TLS_CA is set, and empty\n"))
    useless = locks("redis", "localhost", "--tls-ca", authority.ca)
    same((useless.returncode, useless.err),
         (2, "paddock: --tls-ca and its like have no use: no server has rediss://\n"))
    missing = locks("rediss", "localhost", "--tls-cert", "/nowhere.pem")
    same((missing.returncode, missing.err.startswith("paddock: --tls-cert '/nowhere.pem' cannot be used: ")), (2, True))
    looked = s.run("doctor", "--tls-ca", authority.ca, *ours, servers=f"rediss://localhost:{port}")
    assert "a client can use them for locks" in looked.out, looked.out + looked.err
    proxy.close()


def loads_openssl(process):
    return "libssl" in pathlib.Path(f"/proc/{process.pid}/maps").read_text()


def changed_certificates_are_read_again(s):
    old, new = (Authority(tempfile.mkdtemp(dir=s.folder)) for _ in range(2))
    proxy = TlsProxy(s.server.address, old.issue("server"))
    ca = s.file()
    shutil.copy(old.ca, ca)
    holder = s.hold(s.path(), *NEW, "--session-timeout", "60s", servers=f"rediss://{proxy.address}",
                    more={"PADDOCK_TLS_CA": str(ca)})
    shutil.copy(new.ca, ca)
    proxy.present(new.issue("server"))
    proxy.drop()
    eventually("a connection under the new authority", lambda: proxy.secured)
    assert loads_openssl(holder)
    status, _, err = end(holder)
    same((status, "the lock was lost" in err), (0, False))
    proxy.close()


def openssl_is_loaded_only_to_encrypt(s):
    holder = s.hold(s.path(), *NEW)
    assert not loads_openssl(holder)
    end(holder)


run_checks(checks_of(globals()), kind="redis",
           alone={a_server_that_stands_still_ends_the_command_in_time, credentials_come_from_a_file})
