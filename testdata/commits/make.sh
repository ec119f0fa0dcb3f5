#!/bin/sh
# Makes a git repository of six commits of a small C program in a new folder: make.sh DIR. The third commit turns a sort
# into a bubble sort (tag `bubbles`), the fifth a hash set into a list (tag `list`). Dates and names are always the same, so
# the commits' ids are, too.
set -eu
mkdir "$1"
cd "$1"
day=0
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_NAME=ann GIT_AUTHOR_EMAIL=ann@example.org GIT_COMMITTER_NAME=ann GIT_COMMITTER_EMAIL=ann@example.org
git init -q -b main

commit() {
    day=$((day + 1))
    GIT_AUTHOR_DATE="2026-01-0${day}T12:00:00Z" GIT_COMMITTER_DATE="2026-01-0${day}T12:00:00Z"
    export GIT_AUTHOR_DATE GIT_COMMITTER_DATE
    git add -A
    git commit -q -m "$1"
}

cat >Makefile <<'END'
CFLAGS = -O1 -g -fno-omit-frame-pointer
bench: bench.c numbers.h
	$(CC) $(CFLAGS) -o $@ bench.c
END
printf 'bench\n' >.gitignore
cat >bench.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include "numbers.h"

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 20000;
    int count = argc > 2 ? atoi(argv[2]) : 120;
    static unsigned numbers[MOST];
    if (count < 2 || count > MOST) return 1;
    unsigned seed = 1, distinct = 0, middle = 0;
    for (int round = 0; round < rounds; round++) {
        seed = make_numbers(numbers, count, seed);
        distinct += count_distinct(numbers, count);
        sort_numbers(numbers, 0, count - 1);
        middle ^= numbers[count / 2];
    }
    printf("%u %u\n", distinct, middle);
    return 0;
}
END
cat >numbers.h <<'END'
#define MOST 4096
#define ALONE __attribute__((noinline)) static

ALONE unsigned make_numbers(unsigned *numbers, int count, unsigned seed) {
    for (int i = 0; i < count; i++) {
        for (int turn = 0; turn < 8; turn++) seed = seed * 1664525u + 1013904223u;
        numbers[i] = seed >> 12;
    }
    return seed;
}

/* A hash set. */
ALONE unsigned count_distinct(const unsigned *numbers, int count) {
    static unsigned slots[2 * MOST];
    unsigned found = 0, size = 2 * count;
    for (unsigned i = 0; i < size; i++) slots[i] = ~0u;
    for (int i = 0; i < count; i++) {
        unsigned slot = numbers[i] * 2654435761u % size;
        while (slots[slot] != ~0u && slots[slot] != numbers[i]) slot = (slot + 1) % size;
        found += slots[slot] == ~0u;
        slots[slot] = numbers[i];
    }
    return found;
}

/* Quicksort. */
ALONE void sort_numbers(unsigned *numbers, int from, int to) {
    while (from < to) {
        unsigned middle = numbers[(from + to) / 2];
        int low = from, high = to;
        while (low <= high) {
            while (numbers[low] < middle) low++;
            while (numbers[high] > middle) high--;
            if (low <= high) {
                unsigned number = numbers[low];
                numbers[low++] = numbers[high];
                numbers[high--] = number;
            }
        }
        sort_numbers(numbers, from, high);
        from = low;
    }
}
END
commit 'Sort numbers, and count how many differ'

sed -i 's/%u %u\\n", distinct/distinct: %u, middle: %u\\n", distinct/' bench.c
commit 'Say what the numbers are'

# Everything from the comment on.
sed -i '/Quicksort/,$d' numbers.h
cat >>numbers.h <<'END'
/* Bubble sort: shorter. */
ALONE void sort_numbers(unsigned *numbers, int from, int to) {
    for (int end = to; end > from; end--) {
        for (int i = from; i < end; i++) {
            unsigned low = numbers[i] < numbers[i + 1] ? numbers[i] : numbers[i + 1];
            unsigned high = numbers[i] < numbers[i + 1] ? numbers[i + 1] : numbers[i];
            numbers[i] = low;
            numbers[i + 1] = high;
        }
    }
}
END
commit 'Sort with fewer lines'
git tag bubbles

printf 'Sorts numbers: `./bench ROUNDS COUNT`.\n' >README
commit 'Say how to run it'

sed -i '/A hash set/,/^}/d' numbers.h
cat >>numbers.h <<'END'

/* A list needs no hash function. */
ALONE unsigned count_distinct(const unsigned *numbers, int count) {
    static struct node { unsigned number; struct node *next; } nodes[MOST];
    struct node *first = 0;
    unsigned found = 0;
    for (int i = 0; i < count; i++) {
        struct node *node = first;
        while (node && node->number != numbers[i]) node = node->next;
        if (!node) {
            nodes[found].number = numbers[i];
            nodes[found].next = first;
            first = &nodes[found++];
        }
    }
    return found;
}
END
commit 'Do without a hash function'
git tag list

sed -i 's/int rounds = /const int rounds = /' bench.c
commit 'Do not change the number of rounds'
