// A program that computes, allocates, and waits for a lock, for profilers of native programs.
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::mutex lock;
static long total;

__attribute__((noinline)) static long count_words(int n) {
	std::map<std::string, int> words;
	for (int i = 0; i < n; i++)
		words[std::string(i % 50, 'w')]++;
	return (long)words.size();
}

__attribute__((noinline)) static void keep(std::vector<char *> &kept) {
	kept.push_back((char *)malloc(10000));
}

__attribute__((noinline)) static long fib(int n) {
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static void work(int rounds) {
	std::vector<char *> kept;
	for (int i = 0; i < rounds; i++) {
		long sum = count_words(3000) + fib(20);
		keep(kept);
		std::lock_guard<std::mutex> guard(lock);
		total += sum + fib(12);
	}
}

int main(int argc, char **argv) {
	int rounds = argc > 1 ? atoi(argv[1]) : 400;
	std::thread other(work, rounds);
	work(rounds / 2);
	other.join();
	return total == 0;
}
