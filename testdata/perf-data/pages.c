/* Computes and touches new memory in turns, to be profiled: page faults come in the second half of each turn. */

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TURNS = 4, PAGE = 4096, PAGES = 6000 };

static __attribute__((noinline)) uint64_t compute(uint64_t rounds)
{
	uint64_t sum = 0;
	for (uint64_t i = 1; i < rounds; i++)
		sum += (sum | 1u << 31) / i;
	return sum;
}

static __attribute__((noinline)) void touch(void)
{
	size_t size = (size_t)PAGES * PAGE;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < size; at += PAGE)
		memory[at] = 1;
	munmap(memory, size);
}

int main(void)
{
	uint64_t sum = 0;
	for (int turn = 0; turn < TURNS; turn++) {
		sum += compute(8000000);
		touch();
		usleep(5000);
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
