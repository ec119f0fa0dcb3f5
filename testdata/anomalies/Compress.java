import java.util.Arrays;
import java.util.Random;

/// Compresses blocks of text by LZW and reads them again: nearly all of it in two methods.
public class Compress {
    private static final int BITS = 14;
    private static final int CODES = 1 << BITS;
    private static final int SLOTS = 1 << (BITS + 1);
    private final int[] keys = new int[SLOTS];
    private final int[] codes = new int[SLOTS];
    private final int[] prefixes = new int[CODES];
    private final byte[] suffixes = new byte[CODES];
    private final byte[] reversed = new byte[CODES];

    private int compress(byte[] text, int[] out) {
        Arrays.fill(keys, -1);
        int next = 256;
        int length = 0;
        int prefix = text[0] & 0xff;
        for (int i = 1; i < text.length; i++) {
            int key = prefix << 8 | text[i] & 0xff;
            int slot = (key * 0x9e3779b1) >>> (32 - BITS - 1);
            while (keys[slot] != key && keys[slot] != -1) {
                slot = (slot + 1) & (SLOTS - 1);
            }
            if (keys[slot] == key) {
                prefix = codes[slot];
                continue;
            }
            out[length++] = prefix;
            prefix = text[i] & 0xff;
            if (next < CODES) {
                keys[slot] = key;
                codes[slot] = next++;
            }
        }
        out[length++] = prefix;
        return length;
    }

    private int decompress(int[] in, int length, byte[] text) {
        int next = 256;
        int at = 0;
        int before = -1;
        byte first = 0;
        for (int i = 0; i < length; i++) {
            int code = in[i];
            int depth = 0;
            if (code >= next) {
                reversed[depth++] = first;
                code = before;
            }
            while (code >= 256) {
                reversed[depth++] = suffixes[code];
                code = prefixes[code];
            }
            first = (byte) code;
            reversed[depth++] = first;
            while (depth > 0) {
                text[at++] = reversed[--depth];
            }
            if (before >= 0 && next < CODES) {
                prefixes[next] = before;
                suffixes[next++] = first;
            }
            before = in[i];
        }
        return at;
    }

    public static void main(String[] args) throws Exception {
        Random random = new Random(1);
        byte[] text = new byte[20_000];
        for (int i = 0; i < text.length; i++) {
            text[i] = (byte) "etaoin shrdlu".charAt((int) Math.abs(random.nextGaussian() * 4) % 13);
        }
        byte[] again = new byte[text.length];
        int[] codes = new int[text.length];
        Compress lzw = new Compress();
        try (Reporter report = new Reporter(args[0], 10).start()) {
            int seconds = Integer.parseInt(args[1]);
            for (long end = System.nanoTime() + seconds * 1_000_000_000L; System.nanoTime() < end;) {
                int length = lzw.compress(text, codes);
                if (lzw.decompress(codes, length, again) != text.length || !Arrays.equals(text, again)) {
                    throw new AssertionError("not what was compressed");
                }
                report.operations++;
            }
        }
    }
}
