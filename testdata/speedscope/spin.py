"""A program with recursion and two threads."""

import threading


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def total(numbers):
    return sum(number * number for number in numbers)


def work():
    for _ in range(150):
        fib(14)
        total(range(5000))


thread = threading.Thread(target=work, name="helper")
thread.start()
work()
thread.join()
