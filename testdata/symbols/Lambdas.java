// Prints the names of lambdas, anonymous classes, proxies and reflective calls as the JVM knows them:
// those of the classes and methods on the stack, hidden ones included. Build 2 makes one more of each
// before those of build 1.
import java.lang.reflect.*;
import java.util.*;
import java.util.function.*;
import java.util.stream.Collectors;

public class Lambdas {
    public interface Greeter { int greet(int n); }
    public interface Shouter { int shout(int n); }

    static final Set<String> seen = new LinkedHashSet<>();

    static int note(int n) {
        StackWalker walker = StackWalker.getInstance(EnumSet.of(
            StackWalker.Option.SHOW_HIDDEN_FRAMES, StackWalker.Option.RETAIN_CLASS_REFERENCE));
        // The class's own name, which StackTraceElement has too; SHOW_HIDDEN_FRAMES adds hidden ones.
        walker.forEach(frame -> seen.add(frame.getClassName() + "." + frame.getMethodName()));
        return n;
    }

    static int twice(IntUnaryOperator f, int n) { return f.applyAsInt(n) + 1; }

    static int total(int n) {
        //2 n += twice(x -> note(x) + 5, n);
        n += twice(x -> note(x) * 2, n);
        n += twice(Lambdas::note, n);
        return n;
    }

    public static int reflected(int n) { return note(n); }
    //2 public static int reflectedBefore(int n) { return note(n); }

    static Object proxy(Class<?> type) {
        return Proxy.newProxyInstance(Lambdas.class.getClassLoader(), new Class<?>[] {type},
            (self, method, args) -> note((Integer) args[0]));
    }

    public static void main(String[] args) throws Exception {
        int n = args.length + 1;
        //2 n += new Shouter() { public int shout(int x) { return note(x) + 1; } }.shout(n);
        n += new Greeter() { public int greet(int x) { return note(x) + 2; } }.greet(n);
        //2 ((Shouter) proxy(Shouter.class)).shout(n);
        n += ((Greeter) proxy(Greeter.class)).greet(n) + total(n);
        // A method that is often called by reflection gets an accessor class (before Java 18).
        //2 Method before = Lambdas.class.getMethod("reflectedBefore", int.class);
        //2 for (int i = 0; i < 40; i++) n += (Integer) before.invoke(null, 1);
        Method method = Lambdas.class.getMethod("reflected", int.class);
        for (int i = 0; i < 40; i++) n += (Integer) method.invoke(null, 1);
        List<String> words = List.of("a", "b");
        n += words.stream().map(w -> note(w.length())).collect(Collectors.toList()).size();
        seen.forEach(System.out::println);
    }
}
