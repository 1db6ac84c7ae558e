"""What is measured: contestants, and cases with what is asked of them."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Contestant:
    title: str
    system: str  # whose addresses it gets
    program: str
    package: str = ""  # what may be missing
    warm_up: bool = False  # works for a second before it is measured


CONTESTANTS = {
    "paddock-zk": Contestant("paddock on ZooKeeper", "zookeeper", "paddock_zookeeper"),
    "mt": Contestant("zookeeper_mt, synchronous", "zookeeper", "zookeeper_mt", "libzookeeper-mt2"),
    "bare-zk": Contestant("bare loop of the C client", "zookeeper", "bare_zookeeper"),
    "curator": Contestant("Curator", "zookeeper", "curator_contestant.jar",
                          "default-jdk-headless and libcurator-recipes-java", warm_up=True),
    "kazoo": Contestant("kazoo", "zookeeper", "kazoo_lock.py", "python3-kazoo"),
    "paddock-redis": Contestant("paddock on Redis", "redis", "paddock_redis"),
    "paddock-redis-3": Contestant("paddock on three Redis", "redis3", "paddock_redis"),
    "bare-redis": Contestant("bare SET and EVAL", "redis", "bare_redis"),
    "plain-zk": Contestant("paddock on ZooKeeper (Netty)", "zookeeper-plain", "paddock_zookeeper"),
    "tls-zk": Contestant("the same with TLS", "zookeeper-tls", "paddock_zookeeper"),
    "plain-redis": Contestant("paddock on Redis with a port for TLS", "redis-plain", "paddock_redis"),
    "tls-redis": Contestant("paddock on Redis with TLS", "redis-tls", "paddock_redis"),
    "redis-py": Contestant("redis-py's Lock", "redis", "redis_py_lock.py", "python3-redis"),
}


@dataclasses.dataclass(frozen=True)
class Case:
    title: str
    workload: str
    words: dict
    contestants: tuple
    curve: tuple = ()  # the scaling curve that it is a point of: what is on its axis, the number
    processes: int = 1
    fresh: bool = False  # by a new process each time: its memory is measured
    restarts: bool = False  # the server, when the contestant is ready for that
    rests: bool = False  # nothing is asked of its clients: what they cost in a second is measured
    most_rounds: int = 1000
    shows: tuple = ()  # figures beside those of all cases: figures.REMARKS

    @property
    def baseline(self):
        return self.contestants[0]


def uncontended(title, contestants, **more):
    return Case(title, "contend", {"contenders": 1, "locks": 1, **more}, contestants,
                () if more else ("locks at once", 1))


def locks(count, contestants):
    return Case(f"{count} locks at once", "contend", {"contenders": count, "locks": count},
                contestants, ("locks at once", count))


def waiters(count, contestants, **more):
    return Case(f"{count} waiters", "contend", {"contenders": count, "locks": 1}, contestants,
                ("waiters", count), **more)


ON_REDIS = ("paddock-redis", "redis-py", "paddock-zk")
REDIS = [
    uncontended("uncontended", ("paddock-redis", "bare-redis", "redis-py", "paddock-zk", "paddock-redis-3")),
    locks(64, ("paddock-redis", "bare-redis", "redis-py", "paddock-zk", "paddock-redis-3")),
    waiters(50, (*ON_REDIS, "paddock-redis-3"), shows=("handoffs",)),
    waiters(500, ON_REDIS, shows=("handoffs",)),
    Case("50 clients, one lock", "contend", {"contenders": 50, "locks": 1, "clients": 50}, ON_REDIS,
         shows=("handoffs",)),
]

OF_ZOOKEEPER = ("paddock-zk", "curator", "kazoo")
def rest(title, what):
    """A hundred clients; an operation is a second of one of them."""
    return Case(title, "rest", {"contenders": 100, "what": what, "seconds": 10}, ("paddock-zk", "curator"),
                rests=True, most_rounds=1, shows=("transactions", "server_us"))


WARM_UP = Case("warm-up", "contend", {"contenders": 4, "locks": 4}, ())
ZOOKEEPER = [
    uncontended("uncontended, unlock awaited", ("paddock-zk", "mt", "bare-zk", "curator", "kazoo")),
    uncontended("uncontended, guard dropped", ("paddock-zk", "bare-zk"), drop=1),
    uncontended("uncontended, with an observer", ("paddock-zk",), observed=1),
    uncontended("sticky, taken again, unlock awaited", ("paddock-zk", "curator"), sticky=1),
    uncontended("sticky, taken again, guard dropped", ("paddock-zk", "curator"), sticky=1, drop=1),
    uncontended("sticky, guard dropped, with an observer", ("paddock-zk",), sticky=1, drop=1, observed=1),
    *(locks(count, ("paddock-zk", "mt", "curator", "kazoo")) for count in (4, 16, 64, 256)),
    waiters(50, OF_ZOOKEEPER, shows=("watches",)),
    waiters(500, ("paddock-zk", "curator"), shows=("watches",)),
    Case("500 waiters, sticky", "contend", {"contenders": 500, "locks": 1, "sticky": 1},
         ("paddock-zk", "curator")),
    waiters(5000, ("paddock-zk",), shows=("watches",)),
    Case("10000 waiters, once", "contend", {"contenders": 10000, "locks": 1, "once": 1},
         ("paddock-zk",), fresh=True, shows=("kib_per_waiter",)),
    Case("4 processes, one lock", "contend", {"contenders": 1, "locks": 1}, OF_ZOOKEEPER, processes=4),
    Case("16 readers, 5 % writes", "shared", {"contenders": 16, "one_in": 20}, ("paddock-zk", "curator")),
    Case("16 × try_lock, busy", "try", {"contenders": 16}, OF_ZOOKEEPER),
    Case("guard.valid(), 1000 times", "valid", {"contenders": 1}, ("paddock-zk",)),
    *(Case(f"{count} new keys at once", "keys", {"contenders": count}, ("paddock-zk", "curator"),
           ("keys at once", count), shows=("nodes",)) for count in (4, 16, 64, 256)),
    Case("100000 new keys, 64 at once", "keys", {"contenders": 64, "keys": 100_000, "seconds": 600},
         ("paddock-zk", "curator"), shows=("nodes",), most_rounds=1),
    Case("the leader's client closes", "failover", {"contenders": 1}, ("paddock-zk", "curator")),
    rest("a client that holds a lock, for a second", "hold"),
    rest("a client that waits for a lock", "wait"),
    rest("an idle client", "idle"),
    Case("1000 waiters, once, after a restart", "recover",
         {"contenders": 1000, "once": 1, "seconds": 60}, ("paddock-zk", "curator"), restarts=True,
         most_rounds=3),
]

TLS = [case for pair in (("plain-zk", "tls-zk"), ("plain-redis", "tls-redis")) for case in (
    uncontended(f"uncontended, {pair[0]} and with TLS", pair), locks(64, pair))]

CASES = {"redis": REDIS, "zookeeper": ZOOKEEPER, "tls": TLS}
