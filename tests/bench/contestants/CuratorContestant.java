import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's locks, a thread for each contender; input and output are those of contestant.hpp. */
public final class CuratorContestant {
    private static final OperatingSystemMXBean SYSTEM =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final Map<String, String> given = new HashMap<>();
    private final String workload;
    private final int contenders;
    private final String path;
    private final CuratorFramework client;

    private double[] waited = new double[1 << 16]; // milliseconds
    private int operations;
    private int late; // operations after the measurement
    private long begun;
    private long ended;
    private long cpu;
    private volatile boolean over;

    private CuratorContestant(String servers, String line) throws Exception {
        final String[] words = line.trim().split(" ");
        workload = words[0];
        for (String word : Arrays.asList(words).subList(1, words.length)) {
            final String[] both = word.split("=", 2);
            given.put(both[0], both[1]);
        }
        contenders = number("contenders");
        path = given.get("path");
        client = connect(servers);
    }

    private static CuratorFramework connect(String servers) throws Exception {
        final CuratorFramework client = CuratorFrameworkFactory.newClient(
            servers, 10_000, 10_000, new ExponentialBackoffRetry(100, 5));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    private int number(String name) {
        return Integer.parseInt(given.get(name));
    }

    private void begin() {
        cpu = SYSTEM.getProcessCpuTime();
        begun = System.nanoTime();
    }

    /** Ends the measurement before its time. */
    private synchronized void end() {
        if (!over) {
            endNow(System.nanoTime());
        }
    }

    private void endNow(long now) {
        ended = now;
        cpu = SYSTEM.getProcessCpuTime() - cpu;
        over = true;
    }

    private synchronized void count(long asked) {
        final long now = System.nanoTime();
        if (over) {
            ++late;
            return;
        }
        if (operations == waited.length) {
            waited = Arrays.copyOf(waited, 2 * operations);
        }
        waited[operations++] = (now - Math.max(asked, begun)) / 1e6;
        final double length = Double.parseDouble(given.get("seconds")) * 1e9;
        if (now - begun >= (operations >= contenders ? length : 5 * length)) {
            endNow(now);
        }
    }

    private void contend(InterProcessLock lock) throws Exception {
        final boolean once = given.containsKey("once");
        do {
            final long asked = System.nanoTime();
            lock.acquire();
            count(asked);
            lock.release();
        } while (!once && !over);
    }

    private void byKey(int first) throws Exception {
        final int end = given.containsKey("keys") ? number("first_key") + number("keys")
                                                  : Integer.MAX_VALUE;
        for (int key = first; key < end && !over; key += contenders) {
            final long asked = System.nanoTime();
            final InterProcessMutex lock = new InterProcessMutex(client, path + "/" + key);
            lock.acquire();
            count(asked);
            lock.release();
        }
    }

    private void readMostly(InterProcessReadWriteLock lock, int first) throws Exception {
        for (int turn = first; !over; ++turn) {
            final InterProcessLock half =
                turn % number("one_in") == 0 ? lock.writeLock() : lock.readLock();
            final long asked = System.nanoTime();
            half.acquire();
            count(asked);
            half.release();
        }
    }

    private void tryBusy(InterProcessLock lock) throws Exception {
        while (!over) {
            final long asked = System.nanoTime();
            if (lock.acquire(0, TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("the lock was free");
            }
            count(asked);
        }
    }

    /** The leader's client closes, and another one, which waits for that, leads. */
    private void failOver(String servers) throws Exception {
        LeaderLatch leads = new LeaderLatch(client, path);
        CuratorFramework leader = client;
        leads.start();
        leads.await();
        begin();
        while (!over) {
            final CuratorFramework follower = connect(servers);
            final LeaderLatch follows = new LeaderLatch(follower, path);
            follows.start();
            while (follower.checkExists().forPath(path).getNumChildren() < 2) {
                Thread.sleep(1);
            }
            final CuratorFramework closes = leader;
            final long asked = System.nanoTime();
            final Thread closing = start(closes::close);
            follows.await();
            count(asked);
            closing.join();
            leads = follows;
            leader = follower;
        }
        leads.close();
        leader.close();
    }

    /** Clients that hold a lock each, wait for one, or do nothing. */
    private void rest(String servers) throws Exception {
        final String what = given.get("what");
        final List<CuratorFramework> clients = new ArrayList<>();
        final List<InterProcessMutex> holds = new ArrayList<>();
        final List<Thread> waiters = new ArrayList<>();
        for (int i = 0; i < contenders; ++i) {
            final CuratorFramework own = connect(servers);
            clients.add(own);
            if (what.equals("idle")) {
                continue;
            }
            final String lock = path + "-" + i;
            final InterProcessMutex held =
                new InterProcessMutex(what.equals("hold") ? own : client, lock);
            held.acquire();
            holds.add(held);
            if (what.equals("hold")) {
                continue;
            }
            final InterProcessMutex wanted = new InterProcessMutex(own, lock);
            waiters.add(start(() -> {
                wanted.acquire();
                wanted.release();
            }));
            while (client.checkExists().forPath(lock).getNumChildren() < 2) {
                Thread.sleep(1);
            }
        }
        Thread.sleep(3000);
        Files.createFile(Paths.get(given.get("ready")));
        begin();
        while (!over) {
            final long asked = System.nanoTime();
            Thread.sleep(1000);
            for (int i = 0; i < contenders; ++i) {
                count(asked);
            }
        }
        Thread.sleep(1000);
        for (InterProcessMutex held : holds) {
            held.release();
        }
        for (Thread waiter : waiters) {
            waiter.join();
        }
        for (CuratorFramework own : clients) {
            own.close();
        }
        client.close();
    }

    private int locks() {
        return given.containsKey("locks") ? number("locks") : 1;
    }

    private interface Work {
        void run() throws Exception;
    }

    private Work workOf(int number) {
        switch (workload) {
            case "contend":
            case "recover": {
                final String lock = path + "-" + number % locks();
                final InterProcessMutex mutex = new InterProcessMutex(client, lock);
                return () -> contend(mutex);
            }
            case "keys":
                return () -> byKey(number("first_key") + number);
            case "shared": {
                final InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path);
                return () -> readMostly(lock, number);
            }
            case "try": {
                final InterProcessMutex mutex = new InterProcessMutex(client, path);
                return () -> tryBusy(mutex);
            }
            default:
                throw new IllegalArgumentException(workload);
        }
    }

    private Thread start(Work work) {
        final Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Throwable problem) {
                problem.printStackTrace();
                Runtime.getRuntime().halt(1);
            }
        });
        thread.start();
        return thread;
    }

    /** Where they are more than the locks, all contenders wait behind a holder before it begins. */
    private void measure(String servers) throws Exception {
        if (workload.equals("failover")) {
            failOver(servers);
            return;
        }
        if (workload.equals("rest")) {
            rest(servers);
            return;
        }
        final CuratorFramework rival = connect(servers);
        final boolean queued = workload.equals("recover")
            || (workload.equals("contend") && contenders > locks());
        final String held = path + (queued ? "-0" : "");
        final InterProcessMutex holder = new InterProcessMutex(rival, held);
        if (queued || workload.equals("try")) {
            holder.acquire();
        }
        if (given.containsKey("at")) {
            Thread.sleep(Math.max(0, Long.parseLong(given.get("at")) - System.currentTimeMillis()));
        }
        if (!queued) {
            begin();
        }
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < contenders; ++i) {
            threads.add(start(workOf(i)));
        }
        if (queued) {
            while (rival.checkExists().forPath(held).getNumChildren() <= contenders) {
                Thread.sleep(10);
            }
            if (workload.equals("recover")) {
                awaitRestart(rival);
            }
            begin();
            holder.release();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        end();
        if (holder.isAcquiredInThisProcess()) {
            holder.release();
        }
        client.close();
        rival.close();
    }

    /** The server is started again: waits until both clients have reconnected. */
    private void awaitRestart(CuratorFramework rival) throws Exception {
        final CountDownLatch reconnected = new CountDownLatch(2);
        for (CuratorFramework each : Arrays.asList(client, rival)) {
            each.getConnectionStateListenable().addListener((of, state) -> {
                if (state == ConnectionState.RECONNECTED) {
                    reconnected.countDown();
                }
            });
        }
        Files.createFile(Paths.get(given.get("ready")));
        reconnected.await();
    }

    private double percentile(double part) {
        return waited[(int) (part * (operations - 1))];
    }

    private String figures() {
        waited = Arrays.copyOf(waited, operations);
        Arrays.sort(waited);
        return String.format(Locale.ROOT,
            "{\"operations\": %d, \"rate\": %.3f, \"p50_ms\": %.6f, \"p99_ms\": %.6f,"
                + " \"cpu_us\": %.4f, \"late\": %d}",
            operations, operations * 1e9 / (ended - begun), percentile(0.5), percentile(0.99),
            cpu / 1e3 / operations, late);
    }

    public static void main(String[] arguments) throws Exception {
        final BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            final CuratorContestant contestant = new CuratorContestant(arguments[0], line);
            contestant.measure(arguments[0]);
            System.out.println(contestant.figures());
        }
        System.exit(0);
    }
}
