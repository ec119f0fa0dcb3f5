/* Shell sorts of records that are behind pointers, as in a database: of the first 2,000 for 50 ms, then of a
 * quarter more until all are sorted, and then again of 2,000. The working set grows until no cache holds it. A second
 * thread reports how far the sorts got: lines of time (CLOCK_MONOTONIC, in seconds), name, kind and value. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct record { char *key; char rest[56]; };

enum { KEY = 16 };

static struct record **records;
static size_t count; /* of the records that are sorted */
static volatile uint64_t comparisons, gap;
static volatile int done;
static clockid_t worker;

static __attribute__((noinline)) int compare(const struct record *a, const struct record *b) {
	comparisons++;
	return memcmp(a->key, b->key, KEY);
}

static __attribute__((noinline)) void insertion_sort(size_t start, size_t step) {
	for (size_t i = start + step; i < count; i += step) {
		struct record *one = records[i];
		size_t at = i;
		while (at >= start + step && compare(records[at - step], one) > 0) {
			records[at] = records[at - step];
			at -= step;
		}
		records[at] = one;
	}
}

static __attribute__((noinline)) void shell_sort(void) {
	for (size_t h = count / 2; h > 0; h /= 2) {
		gap = h;
		for (size_t start = 0; start < h; start++)
			insertion_sort(start, h);
	}
}

static __attribute__((noinline)) void shuffle(void) {
	for (size_t i = count - 1; i > 0; i--) {
		size_t other = (size_t)random() % (i + 1);
		struct record *one = records[i];
		records[i] = records[other];
		records[other] = one;
	}
}

static void *report(void *path) {
	FILE *out = fopen(path, "w");
	if (!out)
		exit(1);
	fputs("time,name,kind,value\n", out);
	uint64_t before[5] = {0};
	for (int first = 1; !done; first = 0) {
		nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
		struct rusage used;
		getrusage(RUSAGE_SELF, &used);
		struct timespec at, cpu;
		clock_gettime(CLOCK_MONOTONIC, &at);
		clock_gettime(worker, &cpu);
		uint64_t counters[] = {comparisons, cpu.tv_sec * 1000000000ULL + cpu.tv_nsec,
			used.ru_minflt, used.ru_nvcsw, used.ru_nivcsw};
		const char *counted[] = {"comparisons", "cpu", "minor faults", "switches", "preempted"};
		for (size_t i = 0; i < 5; i++) {
			fprintf(out, "%ld.%06ld,%s,count,%" PRIu64 "\n", at.tv_sec, at.tv_nsec / 1000, counted[i],
				first ? 0 : counters[i] - before[i]);
			before[i] = counters[i];
		}
		uint64_t levels[] = {count * (sizeof(struct record) + KEY), gap, used.ru_maxrss};
		const char *names[] = {"working set", "gap", "resident set"};
		for (size_t i = 0; i < 3; i++)
			fprintf(out, "%ld.%06ld,%s,level,%" PRIu64 "\n", at.tv_sec, at.tv_nsec / 1000, names[i], levels[i]);
	}
	fclose(out);
	return NULL;
}

int main(int argc, char **argv) {
	if (argc != 4)
		return fprintf(stderr, "usage: sort TRACE.csv RECORDS ROUNDS\n"), 2;
	size_t all = strtoul(argv[2], NULL, 10);
	records = malloc(all * sizeof *records);
	for (size_t i = 0; i < all; i++) {
		records[i] = calloc(1, sizeof(struct record));
		records[i]->key = malloc(KEY);
		for (size_t c = 0; c < KEY; c++)
			records[i]->key[c] = 'a' + random() % 26;
	}
	pthread_t reporter;
	pthread_getcpuclockid(pthread_self(), &worker);
	pthread_create(&reporter, NULL, report, argv[1]);
	for (unsigned long rounds = strtoul(argv[3], NULL, 10); rounds > 0; rounds--)
		for (count = 2000; count <= all; count += count / 4)
			for (clock_t end = clock() + CLOCKS_PER_SEC / 20; clock() < end;) {
				shuffle();
				shell_sort();
			}
	done = 1;
	return pthread_join(reporter, NULL);
}
