import java.util.Collection;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock.ReadLock;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock.WriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

/** The calls by which one contender takes the lock. */
interface Way {
    long FOREVER = -1;

    /** How much of the limit it takes. */
    int weight();

    /** Waits at most so many milliseconds; null if it was not granted. */
    Hold take(long limit) throws Exception;

    /** Curator's semaphores, when interrupted, leave leases behind. */
    default boolean mayBeInterrupted() {
        return true;
    }

    /** What has been granted. */
    interface Hold {
        /** The path of its node, or null where Curator does not show it. */
        String node();

        void release() throws Exception;
    }

    static Way of(Map<String, String> given, CuratorFramework client, int number) {
        final String path = given.get("path");
        final int limit = Integer.parseInt(given.get("limit"));
        return switch (given.get("kind")) {
            case "mutex" -> new LockWay(new TellingMutex(client, path), 1);
            case "semaphore_mutex" ->
                new LockWay(new InterProcessSemaphoreMutex(client, path), 1);
            case "semaphore" -> new SemaphoreWay(
                new InterProcessSemaphoreV2(client, path, limit), Math.min(1 + number % 2, limit));
            case "shared_mutex" -> number % 3 == 0
                ? new LockWay(new TellingWriteLock(client, path), limit)
                : new LockWay(new TellingReadLock(client, path), 1);
            case "election" -> new LatchWay(client, path, given.get("name") + "." + number);
            default -> throw new IllegalArgumentException("kind=" + given.get("kind"));
        };
    }
}

/** A lock that shows its node, as Curator does for subclasses only. */
interface Telling {
    String node();
}

final class TellingMutex extends InterProcessMutex implements Telling {
    TellingMutex(CuratorFramework client, String path) {
        super(client, path);
    }

    @Override
    public String node() {
        return getLockPath();
    }
}

final class TellingWriteLock extends WriteLock implements Telling {
    TellingWriteLock(CuratorFramework client, String path) {
        super(client, path, null);
    }

    @Override
    public String node() {
        return getLockPath();
    }
}

final class TellingReadLock extends ReadLock implements Telling {
    TellingReadLock(CuratorFramework client, String path) {
        super(client, path, null, new WriteLock(client, path, null));
    }

    @Override
    public String node() {
        return getLockPath();
    }
}

record LockWay(InterProcessLock lock, int weight) implements Way, Way.Hold {
    @Override
    public boolean mayBeInterrupted() {
        return !(lock instanceof InterProcessSemaphoreMutex);
    }

    @Override
    public Way.Hold take(long limit) throws Exception {
        if (limit != FOREVER) {
            return lock.acquire(limit, TimeUnit.MILLISECONDS) ? this : null;
        }
        lock.acquire();
        return this;
    }

    @Override
    public String node() {
        return lock instanceof Telling telling ? telling.node() : null;
    }

    @Override
    public void release() throws Exception {
        lock.release();
    }
}

record SemaphoreWay(InterProcessSemaphoreV2 semaphore, int weight) implements Way {
    @Override
    public boolean mayBeInterrupted() {
        return false;
    }

    @Override
    public Way.Hold take(long limit) throws Exception {
        final Collection<Lease> leases = limit == FOREVER
            ? semaphore.acquire(weight)
            : semaphore.acquire(weight, limit, TimeUnit.MILLISECONDS);
        return leases == null ? null : new Leases(semaphore, leases);
    }

    record Leases(InterProcessSemaphoreV2 semaphore, Collection<Lease> leases) implements Way.Hold {
        @Override
        public String node() {
            return null; // leases are not granted in the order of their names
        }

        @Override
        public void release() {
            semaphore.returnAll(leases);
        }
    }
}

record LatchWay(CuratorFramework client, String path, String id) implements Way {
    @Override
    public int weight() {
        return 1;
    }

    @Override
    public Way.Hold take(long limit) throws Exception {
        final LeaderLatch latch = new LeaderLatch(client, path, id);
        boolean leads = false;
        try {
            latch.start();
            if (limit == FOREVER) {
                latch.await();
                leads = true;
            } else {
                leads = latch.await(limit, TimeUnit.MILLISECONDS);
            }
        } finally {
            if (!leads) {
                Thread.interrupted(); // else the latch leaves its node behind
                latch.close();
            }
        }
        return leads ? new Leadership(latch) : null;
    }

    record Leadership(LeaderLatch latch) implements Way.Hold {
        @Override
        public String node() {
            return latch.getOurPath();
        }

        @Override
        public void release() throws Exception {
            latch.close();
        }
    }
}
