// Lambdas, unnamed types, anonymous namespaces, templates and operators. Build 2 has one more lambda
// before each of those that build 1 has.
#include <cstdio>
#include <string>
#include <vector>

#define KEEP __attribute__((noinline))

namespace {
KEEP int hidden(int value) { std::printf("%d\n", value); return value * 3; }
template <typename F> KEEP int apply(F f, int value) { std::printf("%d\n", value); return f(value); }
}  // namespace

namespace shop {
template <typename T> struct Box {
    T value;
    KEEP T get(int scale) const { std::printf("%d\n", scale); return value * scale; }
    KEEP bool operator<(const Box &other) const { std::puts("<"); return value < other.value; }
    template <typename U> KEEP Box &operator<<(U add) { std::puts("<<"); value += add; return *this; }
    KEEP const Box *operator->() const { std::puts("->"); return this; }
    KEEP T operator()(T by) const { std::puts("()"); return value * by; }
};
template <typename A, typename B> KEEP bool operator<(const std::pair<A, B> &a, A b) {
    std::puts("<");
    return a.first < b;
}
template <typename A> KEEP A *operator<<(A *a, std::vector<A> b) { std::puts("<<"); return a + b.size(); }

KEEP int total(int n) {
    //2 auto before = [](int x) KEEP { std::puts("before"); return x + 7; };
    auto twice = [](int x) KEEP { std::puts("twice"); return x * 2; };
    auto named = [](const char *text) KEEP { std::puts(text); return 4; };
    auto either = [](auto x, auto y) KEEP { std::puts("either"); return int(x + y); };
    struct { KEEP int run(int x) { std::puts("run"); return x * 5; } } local;
    //2 n += apply(before, n) + before(n);
    n += apply(twice, n) + named("x") + either(n, 2.0) + local.run(n);
    return n;
}
}  // namespace shop

// Of internal linkage: Clang calls its lambdas $_0, $_1.
static KEEP int quiet(int n) {
    //2 auto before = [](int x) KEEP { std::puts("quiet before"); return x + 9; };
    auto loud = [](int x) KEEP { std::puts("loud"); return x * 11; };
    //2 n += before(n) + apply(before, n);
    return loud(n) + apply(loud, n);
}

// A variable's initialiser.
//2 static int (*first)(int) = [](int x) { std::puts("first"); return x - 1; };
static int (*second)(int) = [](int x) { std::puts("second"); return x + 1; };

typedef struct { int a, b; } Unnamed;
template <typename T> KEEP int measure(T *t) { std::puts("measure"); return t->a; }

int main(int argc, char **argv) {
    Unnamed unnamed{argc, 2};
    shop::Box<long> box{argc};
    shop::Box<int> small{argc};
    box << 3 << 2L;
    int n = shop::total(argc) + quiet(argc) + hidden(argc) + second(argc) + measure(&unnamed);
    //2 n += first(argc);
    n += box.get(2) + small.get(3) + (box < box) + box->get(4) + box(7);
    n += shop::operator<(std::pair<int, char>(argc, 'c'), 3);
    n += shop::operator<<(argv[0], std::vector<char>(3))[0];
    return n;
}
