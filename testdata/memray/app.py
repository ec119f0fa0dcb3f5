"""What memray's recordings in testdata are of: functions, recursion, threads, frees and memory of several sizes."""
import mmap
import threading

kept = []


def buffer(size):
    return bytearray(size)


def grow(depth):
    if depth == 0:
        return [buffer(3000)]
    return grow(depth - 1) + [buffer(1000 * depth)]


def transient():
    for size in (100_000, 5_000, 100_000):
        buffer(size)


def keep(count):
    for _ in range(count):
        kept.append(buffer(20_000))


def mapped():
    kept.append(mmap.mmap(-1, 1 << 20))
    gone = mmap.mmap(-1, 1 << 19)
    gone.close()


def worker():
    keep(3)
    peak = [buffer(400_000) for _ in range(4)]
    transient()
    del peak


def main():
    grow(6)
    transient()
    mapped()
    threads = [threading.Thread(target=worker, name=f"worker-{n}") for n in range(2)]
    for thread in threads:
        thread.start()
        thread.join()
    keep(5)
    kept[2:4] = []


main()
