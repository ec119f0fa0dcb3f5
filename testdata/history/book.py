"""Prints a book in Markdown, the same each time: sections with marked-up text, lists, code and many
footnotes, as scholarly books have them.

    python3 book.py SECTIONS
"""

import random
import sys

WORDS = """a about after all along also always an and answer any as at back be because been before
began between both but by came can city could day did each end even every example far few field first
for found from give good great had hand hard have he head her here him his house how hundred if in into
is it its kind land last left life light line little long look made man many may more most mother mountain
must name near never new next night no not now number of off often old on once one only or other our out
over own page paper part people place plant point river round same saw say school sea second seemed sentence
she should side small some something sound still stop story such take tell than that the their them then
there these they thing think this those thought three through time to together took tree turn two under
until up us very walk want was water way we well went were what when where which while white who why will
with without word work world would write year you young""".split()


class Book:
    def __init__(self):
        # Its numbers stay the same from version to version; those of other methods may not.
        self.draw = random.Random(1).random
        self.notes = 0

    def below(self, end):
        return int(self.draw() * end)

    def words(self, count):
        return " ".join(WORDS[self.below(len(WORDS))] for _ in range(count))

    def sentence(self):
        marked = ["*{}*", "**{}**", "`{}`", "[{}](https://example.org/)", "{} &"][self.below(5)]
        self.notes += 1
        return f"{self.words(8)} {marked.format(self.words(2))} {self.words(4)}.[^{self.notes}]"

    def section(self):
        first = self.notes + 1
        print(f"## {self.words(4)}\n")
        for _ in range(3):
            print(" ".join(self.sentence() for _ in range(4)) + "\n")
        for _ in range(3):
            print(f"- {self.words(6)}")
        print(f"\n```\n{self.words(6)}\n  {self.words(6)}\n```\n")
        for note in range(first, self.notes + 1):
            print(f"[^{note}]: {self.words(6)}, *{self.words(2)}*\n")


book = Book()
for _ in range(int(sys.argv[1])):
    book.section()
