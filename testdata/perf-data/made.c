// A program that makes a function at run time, says so in a perf map, and calls a function of its own through it.
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

volatile unsigned long sink;

__attribute__((noinline)) void compute(void) {
    for (int round = 0; round < 1000; round++)
        sink += sink ^ round;
}

__attribute__((noinline)) void called(void) {
    compute();
    sink++; // No tail call.
}

int main(void) {
    // push rbp; mov rbp, rsp; call rdi; pop rbp; ret
    static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
    unsigned char *made = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
        return 1;
    memcpy(made, code, sizeof code);
    if (mprotect(made, 4096, PROT_READ | PROT_EXEC))
        return 1;
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    FILE *map = fopen(path, "w");
    if (!map)
        return 1;
    fprintf(map, "%lx %zx made_at_run_time\n", (unsigned long)made, sizeof code);
    fclose(map);
    void (*call)(void (*)(void)) = (void (*)(void (*)(void)))made;
    for (int round = 0; round < 200000; round++)
        call(called);
    return 0;
}
