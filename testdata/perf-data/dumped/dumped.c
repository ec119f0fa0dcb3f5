// A program that makes a function without a frame pointer at run time, describes it and how to unwind it in a jitdump,
// and calls a function of its own through it.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
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

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ull + time.tv_nsec;
}

// sub rsp, 24; call rdi; add rsp, 24; ret
static const unsigned char code[] = {0x48, 0x83, 0xec, 0x18, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x18, 0xc3};
static const char name[] = "dumped_at_run_time";

// .eh_frame, which is behind the code at the next multiple of 8: at 16.
static const unsigned char eh_frame[] = {
    // Common information: augmentation "zR", addresses relative to their place; the CFA is rsp + 8, the return address
    // is below it.
    20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
    // The function, 11 bytes at -48 from here: the CFA is rsp + 32 after the first instruction, up to the last one.
    20, 0, 0, 0, 28, 0, 0, 0, 0xd0, 0xff, 0xff, 0xff, 11, 0, 0, 0, 0, 0x44, 0x0e, 32, 0x46, 0x0e, 8, 0,
    0, 0, 0, 0};
// .eh_frame_hdr: version 1, and no search table.
static const unsigned char eh_frame_hdr[] = {1, 0x1b, 0xff, 0xff, 0xc8, 0xff, 0xff, 0xff};

static void write_dump(FILE *dump, const void *made) {
    struct {
        uint32_t magic, version, size, machine, padding, pid;
        uint64_t time, flags;
    } header = {0x4a695444, 1, 40, 62, 0, getpid(), now(), 0};
    fwrite(&header, sizeof header, 1, dump);
    struct {
        uint32_t kind, size;
        uint64_t time, data_size, header_size, mapped_size;
    } unwinding = {4, 40 + sizeof eh_frame + sizeof eh_frame_hdr, now(), sizeof eh_frame + sizeof eh_frame_hdr,
                   sizeof eh_frame_hdr, 0};
    fwrite(&unwinding, sizeof unwinding, 1, dump);
    fwrite(eh_frame, sizeof eh_frame, 1, dump);
    fwrite(eh_frame_hdr, sizeof eh_frame_hdr, 1, dump);
    struct {
        uint32_t kind, size;
        uint64_t time;
        uint32_t pid, tid;
        uint64_t vma, address, code_size, index;
    } load = {0, 56 + sizeof name + sizeof code, now(), getpid(), getpid(), (uintptr_t)made, (uintptr_t)made,
              sizeof code, 0};
    fwrite(&load, sizeof load, 1, dump);
    fwrite(name, sizeof name, 1, dump);
    fwrite(code, sizeof code, 1, dump);
    fflush(dump);
}

int main(void) {
    unsigned char *made = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
        return 1;
    memcpy(made, code, sizeof code);
    if (mprotect(made, 4096, PROT_READ | PROT_EXEC))
        return 1;
    char path[64];
    snprintf(path, sizeof path, "jit-%d.dump", getpid());
    FILE *dump = fopen(path, "w+");
    if (!dump)
        return 1;
    // The mapping tells perf about the file.
    if (mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
        return 1;
    write_dump(dump, made);
    void (*call)(void (*)(void)) = (void (*)(void (*)(void)))made;
    for (int round = 0; round < 200000; round++)
        call(called);
    return 0;
}
