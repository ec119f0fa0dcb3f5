import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/// Reports how far the thread that makes it got, and what the virtual machine and the system did meanwhile: lines of
/// time, name, kind and value, by one thread that reads all of them every few milliseconds. Times are in seconds
/// since 1970, as JFR has them, or with -Dmonotonic=true by CLOCK_MONOTONIC, as perf.
final class Reporter implements AutoCloseable {
    private static final boolean MONOTONIC = Boolean.getBoolean("monotonic");
    private final Map<String, LongSupplier> levels = new LinkedHashMap<>();
    private final Map<String, LongSupplier> counters = new LinkedHashMap<>();
    private final Map<String, Long> before = new LinkedHashMap<>();
    private final PrintStream out;
    private final Thread thread = new Thread(this::run, "reporter");
    private final long every;
    private volatile boolean closed;
    /// How far the program got; written by one thread.
    volatile long operations;

    Reporter(String path, long everyMilliseconds) throws IOException {
        out = new PrintStream(path);
        every = everyMilliseconds * 1_000_000;
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long worker = Thread.currentThread().getId();
        counters.put("operations", () -> operations);
        counters.put("cpu", () -> threads.getThreadCpuTime(worker));
        counters.put("compiling", ManagementFactory.getCompilationMXBean()::getTotalCompilationTime);
        var classes = ManagementFactory.getClassLoadingMXBean();
        levels.put("classes", classes::getLoadedClassCount);
        for (var pool : ManagementFactory.getMemoryPoolMXBeans()) {
            levels.put(pool.getName() + ", used", () -> pool.getUsage().getUsed());
            levels.put(pool.getName() + ", committed", () -> pool.getUsage().getCommitted());
        }
        for (var collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            counters.put(collector.getName() + ", collections", collector::getCollectionCount);
            counters.put(collector.getName() + ", time", collector::getCollectionTime);
        }
        thread.setDaemon(true);
    }

    Reporter start() {
        thread.start();
        return this;
    }

    private void run() {
        out.println("time,name,kind,value");
        while (!closed) {
            LockSupport.parkNanos(every);
            report();
        }
    }

    private void report() {
        long micros = MONOTONIC ? System.nanoTime() / 1_000 : ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
        String time = micros / 1_000_000 + "." + String.format("%06d", micros % 1_000_000);
        var values = new LinkedHashMap<String, Long>();
        counters.forEach((name, value) -> values.put(name, value.getAsLong()));
        system(values);
        values.forEach((name, value) -> {
            long since = value - before.getOrDefault(name, value);
            before.put(name, value);
            out.println(time + "," + quoted(name) + ",count," + since);
        });
        levels.forEach((name, value) -> out.println(time + "," + quoted(name) + ",level," + value.getAsLong()));
    }

    private static String quoted(String name) {
        return name.contains(",") ? '"' + name + '"' : name;
    }

    /// What the kernel counts for this process (see proc(5)), and for the machine.
    private static void system(Map<String, Long> values) {
        try {
            String stat = Files.readString(Path.of("/proc/self/stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            values.put("minor faults", Long.parseLong(fields[7]));
            values.put("major faults", Long.parseLong(fields[9]));
            values.put("user time", Long.parseLong(fields[11]));
            values.put("system time", Long.parseLong(fields[12]));
            for (String line : Files.readAllLines(Path.of("/proc/stat"))) {
                String[] words = line.split(" +");
                switch (words[0]) {
                    case "cpu" -> {
                        values.put("machine, user", Long.parseLong(words[1]));
                        values.put("machine, system", Long.parseLong(words[3]));
                        values.put("machine, idle", Long.parseLong(words[4]));
                    }
                    case "ctxt" -> values.put("machine, switches", Long.parseLong(words[1]));
                    case "intr" -> values.put("machine, interrupts", Long.parseLong(words[1]));
                    case "processes" -> values.put("machine, forks", Long.parseLong(words[1]));
                    default -> { }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws InterruptedException {
        closed = true;
        thread.join();
        out.close();
    }
}
