"""Work that two callers share, and recursion."""


def mix(rounds):
    total = 0
    for i in range(rounds):
        total = (total * 31 + i) % 65521
    return total


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def parse(text):
    return sum(mix(len(word)) for word in text.split())


def render(rounds):
    return "".join(str(mix(rounds)) for _ in range(50))


if __name__ == "__main__":
    for _ in range(5):
        parse("word " * 2000)
        render(400)
    fib(15)
