import java.util.concurrent.*;
import java.util.concurrent.locks.ReentrantLock;

public class Queue {
    static final Object lock = new Object();
    static final Object first = new Object(), second = new Object();
    static volatile long sum;

    static void compute() { while (true) sum += fib(25); }
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    static void hold() throws Exception { synchronized (lock) { Thread.sleep(100_000); } }
    static void wanted() { synchronized (lock) { sum++; } }
    static void both(Object a, Object b) throws Exception {
        synchronized (a) { Thread.sleep(100); synchronized (b) { sum++; } }
    }

    static void start(String name, Callable<?> work) {
        Thread thread = new Thread(() -> {
            try { work.call(); } catch (Exception e) { throw new RuntimeException(e); }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) throws Exception {
        start("compute", () -> { compute(); return 0; });
        start("holder \"one\" (tid=7)", () -> { hold(); return 0; });
        Thread.sleep(200);
        start("waiter", () -> { wanted(); return 0; });
        start("taker", () -> new LinkedBlockingQueue<Integer>().take());
        start("there", () -> { both(first, second); return 0; });
        start("back", () -> { both(second, first); return 0; });
        Executors.newFixedThreadPool(2).submit(() -> {
            synchronized (Queue.class) { Queue.class.wait(); }
            return 0;
        });
        Thread.sleep(100_000);
    }
}
