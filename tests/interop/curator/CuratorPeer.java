import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * The Curator side of the interop tests: contenders that are threads of one client. Its arguments
 * are those of all peers (peers.hpp); the kinds are those of {@link Way#of}.
 */
public final class CuratorPeer {
    /** Milliseconds; about as long as it takes to come to the head of the queue. */
    private static final long PATIENCE = 5;
    private static final int LINE_LENGTH = 64;

    private final Map<String, String> given;
    private final String name;
    private final Path stop;
    private final FileChannel journal;

    private final ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();

    private CuratorPeer(Map<String, String> given) throws Exception {
        this.given = given;
        name = given.get("name");
        final Path folder = Path.of(given.get("folder"));
        stop = folder.resolve(name + ".stop");
        journal = FileChannel.open(folder.resolve("journal"), StandardOpenOption.APPEND,
            StandardOpenOption.CREATE);
    }

    private void note(String line) throws Exception {
        final String padded = String.format("%-" + (LINE_LENGTH - 1) + "s\n", line);
        journal.write(ByteBuffer.wrap(padded.getBytes(StandardCharsets.US_ASCII)));
    }

    private boolean toldToStop() {
        return Files.exists(stop);
    }

    private void stay(int round) throws InterruptedException {
        if (given.get("mode").equals("loop")) {
            Thread.sleep(round % 3);
            return;
        }
        while (!toldToStop()) {
            Thread.sleep(PATIENCE);
        }
    }

    /** Takes the lock by all of its calls, one after the other. */
    private Way.Hold take(Way way, int round) throws Exception {
        switch (round % 6) {
            case 1: return way.take(PATIENCE);
            case 3: return way.take(0);
            case 5:
                return way.mayBeInterrupted() ? takeUntilInterrupted(way) : way.take(PATIENCE);
            default: return way.take(Way.FOREVER);
        }
    }

    /** Interrupts the thread that made it, but not after its end. */
    private static final class Interrupter {
        private final Thread thread = Thread.currentThread();
        private boolean over;

        synchronized void interrupt() {
            if (!over) {
                thread.interrupt();
            }
        }

        synchronized void end() {
            over = true;
        }
    }

    private Way.Hold takeUntilInterrupted(Way way) throws Exception {
        final Interrupter interrupter = new Interrupter();
        final Future<?> timer =
            timers.schedule(interrupter::interrupt, PATIENCE, TimeUnit.MILLISECONDS);
        try {
            return way.take(Way.FOREVER);
        } catch (InterruptedException stopped) {
            return null;
        } finally {
            interrupter.end();
            timer.cancel(false);
            Thread.interrupted(); // it may have come too late to be noticed
        }
    }

    private void contend(CuratorFramework client, int number) throws Exception {
        final String contender = name + "." + number;
        final Way way = Way.of(given, client, number);
        for (int round = 0; !toldToStop(); ++round) {
            final Way.Hold hold = take(way, round);
            if (hold == null) {
                note("gave-up " + contender);
                continue;
            }
            final String node = hold.node();
            final String sequence = node == null ? "-" : node.substring(node.length() - 10);
            note("in " + contender + " " + way.weight() + " " + sequence);
            stay(round);
            note("out " + contender);
            hold.release();
        }
    }

    private void guarded(CuratorFramework client, int number) {
        try {
            contend(client, number);
        } catch (Throwable problem) {
            problem.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private void run() throws Exception {
        final int session = Integer.parseInt(given.get("session"));
        final CuratorFramework client = CuratorFrameworkFactory.newClient(
            given.get("server"), session, session, new ExponentialBackoffRetry(100, 5));
        client.start();
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(given.get("contenders")); ++i) {
            final int number = i;
            threads.add(new Thread(() -> guarded(client, number)));
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        timers.shutdown();
        client.close();
        note("done " + name);
    }

    public static void main(String[] words) throws Exception {
        final Map<String, String> given = new HashMap<>();
        for (String word : words) {
            final int middle = word.indexOf('=');
            given.put(word.substring(0, middle), word.substring(middle + 1));
        }
        new CuratorPeer(given).run();
    }
}
