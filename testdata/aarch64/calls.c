// Calls with saved and unsaved link registers, for a stack that is unwound on aarch64.
static volatile unsigned long sink;

__attribute__((noinline)) static unsigned long leaf(unsigned long n) {
    unsigned long sum = n;
    for (unsigned long i = 0; i < 8; i++) sum = sum * 31 + i;
    sink = sum;
    return sum;
}

__attribute__((noinline)) static unsigned long recurse(unsigned long n) {
    if (n == 0) return leaf(7) + 1;
    return recurse(n - 1) + n + sink;
}

__attribute__((noinline)) static unsigned long large(unsigned long n) {
    volatile unsigned long room[24];
    room[n % 24] = n;
    return recurse(2) + room[(n + 1) % 24];
}

int main(void) { return (int)(large(3) + sink); }

// As that of libc begins.
__asm__(".globl _start\n"
        ".type _start, %function\n"
        "_start:\n"
        ".cfi_startproc\n"
        ".cfi_undefined x30\n"
        "mov x29, #0\n"
        "mov x30, #0\n"
        "bl main\n"
        "mov x8, #93\n"
        "svc #0\n"
        ".cfi_endproc\n"
        ".size _start, . - _start\n");
