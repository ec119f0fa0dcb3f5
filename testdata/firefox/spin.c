#include <stdint.h>
#include <pthread.h>
static volatile uint64_t sink;
static inline uint64_t mix(uint64_t x) { for (int i = 0; i < 64; i++) x = x * 6364136223846793005u + i; return x; }
__attribute__((noinline)) static void leaf(uint64_t n) { for (uint64_t i = 0; i < n; i++) sink += mix(i); }
__attribute__((noinline)) static void deep(int depth, uint64_t n) { if (depth) deep(depth - 1, n); else leaf(n); sink++; }
static void *worker(void *arg) { leaf(400000); sink++; return arg; }
int main(void) { pthread_t t; pthread_create(&t, 0, worker, 0); deep(4, 400000); pthread_join(t, 0); return 0; }
