// A program with recursion, inlined methods, a native one, allocations, and a lock that two threads want.
import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

public class Work {
    static final Object lock = new Object();
    static volatile long sink;

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static long mix(long x) {
        return (x ^ (x >>> 31)) * 0x7fb5d329728ea185L;
    }

    static long hash(int rounds) {
        long x = 1;
        for (int i = 0; i < rounds; i++) {
            x = mix(x + i);
        }
        return x;
    }

    static void allocate(int count) {
        List<byte[]> kept = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            kept.add(new byte[1_000]);
        }
        kept.add(new byte[1_000_000]);
        sink += kept.size();
    }

    static void hold(long milliseconds) throws InterruptedException {
        synchronized (lock) {
            Thread.sleep(milliseconds);
        }
    }

    static void run(long until) {
        byte[] bytes = new byte[8_000];
        try (FileInputStream zeros = new FileInputStream("/dev/zero")) {
            while (System.currentTimeMillis() < until) {
                sink += fib(29);
                sink += hash(3_000_000);
                allocate(1_000);
                for (int i = 0; i < 2_000; i++) {
                    sink += zeros.read(bytes);
                }
                hold(2);
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        long until = System.currentTimeMillis() + Long.parseLong(args[0]);
        Thread first = new Thread(() -> run(until), "worker 1");
        Thread second = new Thread(() -> run(until), "Arbeiterin №2");
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
