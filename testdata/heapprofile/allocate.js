// Keeps arrays that two callers make.
globalThis.kept = [];
function fill(length) {
  return new Array(length).fill(0).map((_, i) => ({ i, text: "x".repeat(i % 7) }));
}
function few() { kept.push(fill(2000)); }
function many() { for (let i = 0; i < 20; i++) kept.push(fill(2000)); }
few();
many();
