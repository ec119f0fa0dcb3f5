/* A server that answers made-up requests, to be profiled: no network, no clock, the same work in
 * every run. Built twice, with -DVERSION=1 and -DVERSION=2. The versions differ in one thing:
 * version two formats the log line anew for each of ten sinks, so that doLogging costs ten times
 * as much. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if VERSION == 1
enum { SINKS = 1 };
#else
enum { SINKS = 10 };
#endif

enum { REQUESTS = 240000, BODY = 640, USERS = 4096, BUCKETS = 128 };
enum { SIDE = 16, RULE_DEPTH = 9, WINDOW = 24 };

#define NOINLINE __attribute__((noinline))

struct request {
	uint32_t user, item, amount, status, size;
	char body[BODY];
};

struct user {
	uint32_t id, visits;
	struct user *next;
};

struct rule {
	uint32_t limit;
	struct rule *below, *above;
};

struct server {
	struct user users[USERS];
	struct user *buckets[BUCKETS];
	struct rule *rules;
	uint32_t taste[SIDE][SIDE], offer[SIDE][SIDE];
	FILE *log;
};

static uint32_t state = 2463534242u;

/* Marsaglia, Xorshift RNGs (2003). */
static inline uint32_t random_number(void)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

/* FNV-1a. */
static inline uint32_t hash(const char *text, size_t size)
{
	uint32_t sum = 2166136261u;
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ (unsigned char)text[i]) * 16777619u;
	return sum;
}

static inline uint32_t bucket_of(uint32_t id)
{
	return hash((const char *)&id, sizeof id) % BUCKETS;
}

static NOINLINE size_t receive(char *text)
{
	size_t size = (size_t)sprintf(text, "user=%u&item=%u&amount=%u&body=", random_number() % USERS,
				      random_number() % 1000, random_number() % 100);
	for (int word = 0; word < 48; word++) {
		size_t length = 2 + random_number() % 10;
		memset(text + size, 'a' + (int)(random_number() % 16), length);
		size += length;
	}
	text[size] = '\0';
	return size;
}

static inline uint32_t parse_number(const char **cursor)
{
	uint32_t number = 0;
	while (**cursor >= '0' && **cursor <= '9')
		number = number * 10 + (uint32_t)(*(*cursor)++ - '0');
	return number;
}

static NOINLINE void parse_request(const char *text, struct request *request)
{
	const char *cursor = text;
	memset(request, 0, sizeof *request);
	while (*cursor) {
		const char *key = cursor;
		while (*cursor && *cursor != '=')
			cursor++;
		size_t length = (size_t)(cursor++ - key);
		if (!strncmp(key, "user", length))
			request->user = parse_number(&cursor);
		else if (!strncmp(key, "item", length))
			request->item = parse_number(&cursor);
		else if (!strncmp(key, "amount", length))
			request->amount = parse_number(&cursor);
		else
			while (*cursor && *cursor != '&' && request->size < BODY - 1)
				request->body[request->size++] = *cursor++;
		if (*cursor)
			cursor++;
	}
}

static NOINLINE struct user *find_user(struct server *server, uint32_t id)
{
	struct user *user = server->buckets[bucket_of(id)];
	while (user && user->id != id)
		user = user->next;
	return user;
}

/* How many of the rules below this one an amount meets. */
static NOINLINE uint32_t count_rules(const struct rule *rule, uint32_t amount)
{
	if (!rule)
		return 0;
	return (amount < rule->limit) + count_rules(rule->below, amount) +
	       count_rules(rule->above, amount);
}

static NOINLINE uint32_t multiply(const uint32_t left[SIDE][SIDE], const uint32_t right[SIDE][SIDE],
				  uint32_t seed)
{
	uint32_t trace = 0;
	for (int row = 0; row < SIDE; row++)
		for (int column = 0; column < SIDE; column++) {
			uint32_t sum = seed;
			for (int i = 0; i < SIDE; i++)
				sum = sum * 31 + left[row][i] * right[i][column];
			trace ^= sum;
		}
	return trace;
}

static uint32_t recommend(const struct server *server, const struct request *request)
{
	uint32_t first = multiply(server->taste, server->offer, request->item);
	return first ^ multiply(server->offer, server->taste, request->amount);
}

static inline size_t match_length(const char *left, const char *right, const char *end)
{
	size_t length = 0;
	while (right + length < end && left[length] == right[length])
		length++;
	return length;
}

/* Size of the text when repeats within a short window become references. */
static NOINLINE uint32_t compress(const char *text, size_t size)
{
	const char *end = text + size;
	uint32_t packed = 0;
	for (const char *cursor = text; cursor < end;) {
		size_t longest = 0;
		const char *from = cursor - text > WINDOW ? cursor - WINDOW : text;
		for (const char *candidate = from; candidate < cursor; candidate++) {
			size_t length = match_length(candidate, cursor, end);
			if (length > longest)
				longest = length;
		}
		cursor += longest > 3 ? longest : 1;
		packed += longest > 3 ? 2 : 1;
	}
	return packed;
}

static inline char *append_text(char *to, const char *text)
{
	while (*text)
		*to++ = *text++;
	return to;
}

static inline char *append_number(char *to, uint32_t number)
{
	char digits[10];
	int count = 0;
	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (count)
		*to++ = digits[--count];
	return to;
}

static NOINLINE void doLogging(const struct server *server, const struct request *request)
{
	for (uint32_t sink = 0; sink < SINKS; sink++) {
		char line[256 + BODY];
		char *end = append_number(append_text(line, "sink="), sink);
		end = append_number(append_text(end, " user="), request->user);
		end = append_number(append_text(end, " item="), request->item);
		end = append_number(append_text(end, " amount="), request->amount);
		end = append_number(append_text(end, " status="), request->status);
		end = append_number(append_text(end, " size="), request->size);
		end = append_text(append_text(end, " body="), request->body);
		end = append_number(append_text(end, " sum="), hash(line, (size_t)(end - line)));
		*end++ = '\n';
		fwrite(line, 1, (size_t)(end - line), server->log);
	}
}

static NOINLINE uint32_t serve(struct server *server)
{
	char text[BODY];
	struct request request;
	receive(text);
	parse_request(text, &request);
	struct user *user = find_user(server, request.user);
	user->visits++;
	request.status = count_rules(server->rules, request.amount);
	uint32_t answer = recommend(server, &request) + compress(request.body, request.size);
	doLogging(server, &request);
	return answer;
}

static struct rule *make_rules(int depth)
{
	if (depth == 0)
		return NULL;
	struct rule *rule = malloc(sizeof *rule);
	rule->limit = random_number() % 100;
	rule->below = make_rules(depth - 1);
	rule->above = make_rules(depth - 1);
	return rule;
}

static struct server *start(void)
{
	struct server *server = calloc(1, sizeof *server);
	for (uint32_t id = 0; id < USERS; id++) {
		struct user *user = &server->users[id];
		struct user **bucket = &server->buckets[bucket_of(id)];
		*user = (struct user){.id = id, .next = *bucket};
		*bucket = user;
	}
	for (int row = 0; row < SIDE; row++)
		for (int column = 0; column < SIDE; column++) {
			server->taste[row][column] = random_number();
			server->offer[row][column] = random_number();
		}
	server->rules = make_rules(RULE_DEPTH);
	server->log = fopen("/dev/null", "w");
	return server;
}

int main(int count, char **arguments)
{
	long requests = count > 1 ? atol(arguments[1]) : REQUESTS;
	struct server *server = start();
	uint32_t sum = 0;
	while (requests-- > 0)
		sum += serve(server);
	printf("%u\n", sum);
	return 0;
}
