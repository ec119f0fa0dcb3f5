// A program that computes and sleeps in turns, below two functions.
#include <time.h>

__attribute__((noinline)) void sleep_for(long milliseconds) {
    struct timespec time = {0, milliseconds * 1000000};
    nanosleep(&time, 0);
}

__attribute__((noinline)) void compute(void) {
    for (volatile int round = 0; round < 200000; round++)
        ;
}

__attribute__((noinline)) void read_input(void) {
    compute();
    sleep_for(6);
    compute();
}

__attribute__((noinline)) void write_output(void) {
    compute();
    sleep_for(2);
    compute();
}

int main(void) {
    for (int round = 0; round < 200; round++) {
        read_input();
        write_output();
    }
}
