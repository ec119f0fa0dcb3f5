/* A program for callgrind: two threads that call one function. */
#include <pthread.h>

static volatile unsigned long sums[2];

__attribute__((noinline)) static void spin(int which, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        if (i % 3)
            sums[which] += i;
}

__attribute__((noinline)) static void *run(void *argument) {
    spin(1, 5000);
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    spin(0, 1000);
    pthread_join(thread, 0);
    return 0;
}
