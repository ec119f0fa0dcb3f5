#include <stdlib.h>
#include <string.h>

static volatile unsigned long sum;
static void *kept[300];

__attribute__((noinline)) void inner(int n) { for (int i = 0; i < n; i++) sum += i * i; }
__attribute__((noinline)) void outer(int n) { inner(n); inner(n / 2); sum++; }
__attribute__((noinline)) void *small(void) { return memset(malloc(100), 1, 100); }
__attribute__((noinline)) void *large(void) { return memset(malloc(10000), 1, 10000); }

__attribute__((noinline)) void fill(int n) {
    for (int i = 0; i < n; i++) kept[i] = i % 3 ? small() : large();
    for (int i = 0; i < n; i += 2) free(kept[i]);
}

int main(void) {
    fill(60);
    for (int i = 0; i < 3000; i++) outer(200000);
    return 0;
}
