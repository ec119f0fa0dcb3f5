// A program with phases, one that repeats itself, or one that does not change; see README.md.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEPT __attribute__((noinline))

static unsigned state = 1;
static int numbers[4096];
static char text[65536];

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

KEPT void generate(void)
{
	for (int i = 0; i < 4096; i++)
		numbers[i] = (state = state * 1103515245 + 12345) >> 8;
}

KEPT void sort_down(int from, int to)
{
	while (from < to) {
		int pivot = numbers[(from + to) / 2], i = from, j = to;
		while (i <= j) {
			while (numbers[i] < pivot) i++;
			while (numbers[j] > pivot) j--;
			if (i <= j) { int kept = numbers[i]; numbers[i++] = numbers[j]; numbers[j--] = kept; }
		}
		sort_down(from, j);
		from = i;
	}
}

KEPT void format(void)
{
	size_t at = 0;
	for (int i = 0; i < 4096 && at < sizeof text - 16; i++) {
		for (unsigned rest = numbers[i]; rest; rest /= 10)
			text[at++] = '0' + rest % 10;
		text[at++] = ' ';
	}
	text[at] = 0;
}

KEPT unsigned hash(void)
{
	unsigned sum = 5381;
	for (const char *at = text; *at; at++)
		sum = sum * 33 ^ *at;
	return sum;
}

KEPT void parse(double until) { while (now() < until) { generate(); format(); } }
KEPT void compute(double until) { while (now() < until) { generate(); sort_down(0, 4095); } }
KEPT void publish(double until) { format(); while (now() < until) state += hash(); }
KEPT void mixed(double until) { while (now() < until) { generate(); format(); sort_down(0, 4095); state += hash(); } }

int main(int count, char **argument)
{
	double start = now(), seconds = count > 2 ? atof(argument[2]) : 2;
	if (!strcmp(argument[1], "phases")) {
		parse(start + seconds * 0.2);
		compute(start + seconds * 0.7);
		publish(start + seconds);
	} else if (!strcmp(argument[1], "cycle")) {
		double period = atof(argument[3]);
		for (double from = start; from < start + seconds; from += period) {
			compute(from + period * 0.6);
			publish(from + period);
		}
	} else {
		mixed(start + seconds);
	}
	return state == 0;
}
