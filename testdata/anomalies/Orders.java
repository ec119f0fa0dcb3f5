import java.util.ArrayDeque;
import java.util.Random;

/// Takes orders and keeps the newest: most of what is allocated is garbage soon, and what is kept grows.
public class Orders {
    record Order(int id, byte[] text, long[] lines) { }

    public static void main(String[] args) throws Exception {
        Random random = new Random(1);
        ArrayDeque<Order> kept = new ArrayDeque<>();
        try (Reporter report = new Reporter(args[0], 5).start()) {
            int seconds = Integer.parseInt(args[1]);
            int keepEvery = Integer.parseInt(args[2]);
            for (long end = System.nanoTime() + seconds * 1_000_000_000L; System.nanoTime() < end;) {
                for (int i = 0; i < 100; i++) {
                    Order order = new Order(i, new byte[2_000], new long[50]);
                    long sum = 0;
                    for (int line = 0; line < order.lines.length; line++) {
                        order.lines[line] = random.nextInt(1_000) * (long) line;
                        sum += order.lines[line];
                    }
                    order.text[(int) (sum % order.text.length)] = 1;
                    if (i % keepEvery == 0) {
                        kept.add(order);
                    }
                }
                report.operations += 100;
            }
        }
    }
}
