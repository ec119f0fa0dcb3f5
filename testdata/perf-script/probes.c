/* A scan that takes as long as its input, and a search in pairs that takes the square of that and scans half of it. */
#include <stdlib.h>

static volatile long sum;

__attribute__((noinline)) void note(long x) { sum += x; }

__attribute__((noinline)) long scan(int n, const long *of) {
    long found = 0;
    for (int i = 0; i < n; i++)
        found += of[i % 64] > 1;
    note(found);
    return found;
}

__attribute__((noinline)) long pairs(int n, const long *of) {
    long found = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            found += of[(i * j) % 64] == of[j % 64];
    return found + scan(n / 2, of);
}

int main(void) {
    long of[64] = {1, 2, 3};
    for (int round = 0; round < 3; round++)
        for (int n = 50; n <= 1600; n *= 2) {
            scan(n * 100, of);
            pairs(n, of);
        }
    return 0;
}
