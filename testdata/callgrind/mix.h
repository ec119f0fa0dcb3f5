static inline __attribute__((always_inline)) unsigned long mix(unsigned long x) {
    x ^= x >> 7;
    return x * 31;
}
