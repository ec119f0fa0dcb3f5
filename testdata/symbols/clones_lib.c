// A second unit with a static function of a name that the first unit has too: LTO renames one.
#include <stdio.h>

static int calls;

static __attribute__((noinline)) int scale(int *values, int count) {
    calls++;
    int sum = 0;
    for (int i = 0; i < count; i++) sum += values[i] ^ calls;
    return sum;
}

//2 static __attribute__((noinline)) int length_of(int from) { calls += from; return from * calls; }

// Small enough to be imported into the unit of its caller, which then calls a static function of
// this unit: ThinLTO makes that global, under a name of its own (.llvm).
static __attribute__((noinline)) int weigh(int from) { return printf("%d\n", from) + calls; }
int imported(int from) { return weigh(from) + 1; }

__attribute__((noinline)) int shared_total(int from) {
    int values[32];
    for (int i = 0; i < 32; i++) values[i] = from * i;
    //2 calls += length_of(from);
    printf("%d\n", calls);
    return scale(values, from & 31);
}
