import time
def parse(n):
    return sum(i * i for i in range(n))
def render(depth, n):
    return parse(n) if depth == 0 else render(depth - 1, n)
end = time.time() + 3
while time.time() < end:
    parse(20000)
    render(8, 10000)
