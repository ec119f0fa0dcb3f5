/* A program for callgrind: a function with two callers, recursion, and an inlined function. */
#include "mix.h"

static volatile unsigned long sink;

__attribute__((noinline)) static unsigned long fib(unsigned n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static void leaf(unsigned n) {
    for (unsigned i = 0; i < n; i++)
        sink += mix(i);
}

__attribute__((noinline)) static void step(unsigned n) {
    leaf(n);
    sink += n;
}

__attribute__((noinline)) static void cheap(void) { step(100); }

__attribute__((noinline)) static void dear(void) {
    step(900);
    leaf(1);
}

int main(void) {
    for (int i = 0; i < 10; i++) {
        cheap();
        dear();
    }
    sink += fib(12);
    return 0;
}
