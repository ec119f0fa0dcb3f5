#define _GNU_SOURCE
/* A pool of four threads that answer lookups from a cache behind one lock, and a thread that flushes it.
 *
 * Two things are wrong in it. One of 1,200 reads of a block takes 200 ms instead of some microseconds, and the cache
 * is locked meanwhile, so that the other workers stand in lock_cache. And the flusher stands for the first 60 ms, as
 * nobody signals until then that there is something to flush. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define KEPT __attribute__((noinline))
enum { WORKERS = 4, LOOKUPS = 1200, SLOW = 700, BLOCKS = 256 };

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER, cache = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t dirt = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_dirty = PTHREAD_COND_INITIALIZER;
static int next, dirty, done;
static uint64_t blocks[BLOCKS];
static volatile uint64_t sink;

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void nap(long ms) {
    struct timespec t = {0, ms * 1000000};
    nanosleep(&t, NULL);
}

KEPT uint64_t hash(uint64_t key, int rounds) {
    for (int i = 0; i < rounds; i++) key = (key ^ (key >> 29)) * 0xbf58476d1ce4e5b9ull;
    return key;
}

KEPT uint64_t read_block(int number) {
    if (number == SLOW) nap(200);
    return hash(number, 2000);
}

KEPT void lock_cache(void) { pthread_mutex_lock(&cache); }
KEPT void unlock_cache(void) { pthread_mutex_unlock(&cache); }

KEPT uint64_t lookup(int number) {
    uint64_t key = hash(number, 500);
    lock_cache();
    uint64_t found = blocks[key % BLOCKS] ^= read_block(number);
    unlock_cache();
    return found;
}

KEPT void answer(int number) {
    uint64_t found = lookup(number);
    for (int i = 0; i < 4; i++) sink += hash(found + i, 3000);
}

KEPT int take(void) {
    pthread_mutex_lock(&queue);
    int number = next < LOOKUPS ? next++ : -1;
    pthread_mutex_unlock(&queue);
    return number;
}

KEPT void *worker(void *unused) {
    for (int number; (number = take()) >= 0;) {
        answer(number);
        if (number % 500 == 499) nap(5);
    }
    return unused;
}

KEPT void wait_until_dirty(void) {
    pthread_mutex_lock(&dirt);
    while (!dirty && !done) pthread_cond_wait(&is_dirty, &dirt);
    dirty = 0;
    pthread_mutex_unlock(&dirt);
}

KEPT void flush(void) {
    uint64_t copy[BLOCKS];
    lock_cache();
    for (int i = 0; i < BLOCKS; i++) copy[i] = blocks[i];
    unlock_cache();
    for (int i = 0; i < BLOCKS; i++) sink += hash(copy[i], 20);
}

KEPT void *flusher(void *unused) {
    while (!done) {
        wait_until_dirty();
        flush();
    }
    return unused;
}

KEPT void mark_dirty(int is_last) {
    pthread_mutex_lock(&dirt);
    dirty = 1;
    done = is_last;
    pthread_mutex_unlock(&dirt);
    pthread_cond_signal(&is_dirty);
}

int main(void) {
    pthread_t threads[WORKERS], flushes;
    uint64_t begin = now();
    pthread_create(&flushes, NULL, flusher, NULL);
    pthread_setname_np(flushes, "flusher");
    for (int i = 0; i < WORKERS; i++) {
        char name[16];
        pthread_create(&threads[i], NULL, worker, NULL);
        snprintf(name, sizeof name, "worker %d", i);
        pthread_setname_np(threads[i], name);
    }
    nap(60);
    for (int i = 0; i < 20; i++) {
        mark_dirty(0);
        nap(2);
    }
    for (int i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
    mark_dirty(1);
    pthread_join(flushes, NULL);
    fprintf(stderr, "%d lookups in %.0f ms\n", LOOKUPS, (now() - begin) / 1e6);
}
