// A program that allocates and frees, for gperftools.
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

__attribute__((noinline)) static long count_words(int n) {
	std::map<std::string, int> words;
	for (int i = 0; i < n; i++)
		words[std::string(i % 50, 'w')]++;
	return (long)words.size();
}

__attribute__((noinline)) static void keep(std::vector<char *> &kept) {
	kept.push_back((char *)malloc(10000));
}

int main() {
	std::vector<char *> kept;
	long sum = 0;
	for (int i = 0; i < 400; i++) {
		sum += count_words(3000);
		keep(kept);
	}
	return sum == 0;
}
