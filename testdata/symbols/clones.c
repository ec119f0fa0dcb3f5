// Functions of which GCC and LLVM make clones, parts and cold pieces: build 2 calls them otherwise.
#include <stdio.h>
#include <stdlib.h>

int shared_total(int from);
int imported(int from);

// Called with one constant in build 1 (.constprop), with two in build 2.
static __attribute__((noinline)) int scale(int *values, int count, int factor) {
    int sum = 0;
    for (int i = 0; i < count; i++) sum += values[i] * factor + values[i] / (factor | 1);
    return sum;
}

// Passes a structure of which one field is read: .isra.
struct request { int kind, length; char text[64]; };
static __attribute__((noinline)) int length_of(struct request *request) {
    int sum = 0;
    for (int i = 0; i < request->length; i++) sum += i ^ (sum << 1);
    return sum;
}

// A cheap test before a large rest: .part.
static int checked(int *values, int count, struct request *request) {
    if (count <= 0) return 0;
    int sum = 0;
    for (int i = 0; i < count; i++) {
        if (values[i] % 7 == 3) { puts(request->text); sum -= length_of(request); }
        if (values[i] % 5 == 2) { printf("%d\n", i); sum += 3; }
        sum += values[i] * (i | 3);
    }
    printf("%d %d\n", sum, request->kind);
    return sum;
}

// A rest of its own: a part of another function must not be taken for this one's.
static int checked_twice(int *values, int count, struct request *request) {
    if (count <= 0) return 0;
    int sum = 0;
    for (int i = 0; i < count; i++) {
        if (values[i] % 11 == 3) { puts("twice"); sum -= length_of(request); }
        if (values[i] % 13 == 2) { printf("%d twice\n", i); sum += 3; }
        sum += values[i] / (i | 5);
    }
    printf("%d twice %d\n", sum, request->kind);
    return sum;
}

// A branch that is never taken: .cold.
__attribute__((noinline)) int parse(int *values, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++) {
        if (__builtin_expect(values[i] < 0, 0)) {
            fprintf(stderr, "negative: %d\n", values[i]);
            abort();
        }
        sum += values[i];
    }
    return sum;
}

// Called through an alias within a shared library: .localalias.
int depth(int n) { return n <= 0 ? 0 : depth(n - 1) * 3 + depth(n - 2) + n; }

// A region that several threads run: _omp_fn.
void spread(int *values, int count) {
    //2 #pragma omp parallel for
    //2 for (int i = 0; i < count; i++) values[i] -= i;
#pragma omp parallel for
    for (int i = 0; i < count; i++) values[i] *= i;
}

int main(int argc, char **argv) {
    int values[64];
    struct request request = {argc, argc * 3, "text"};
    for (int i = 0; i < 64; i++) values[i] = argc * i;
    int sum = parse(values, 64) + scale(values, argc * 2, 17) + length_of(&request);
    sum += checked(values, argc, &request) + checked(values, argc + 1, &request);
    sum += checked_twice(values, argc, &request) + checked_twice(values, argc + 1, &request);
    //2 sum += scale(values, argc * 3, 23) + scale(values, argc, argc);
    spread(values, argc);
    return sum + depth(argc) + imported(argc) + shared_total(argc) + shared_total(argv[0][0]);
}
