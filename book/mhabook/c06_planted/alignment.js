// --- chapter 6: the alignment with a planted head ---------------------------------------------------------------

// The cosine of (W_1, …, W_H) with W* repeated H times, and the same for U; 0 where nothing has moved. Copies of a head
// change neither.
function alignmentWith(of, from, to) {
  return ({ heads, head }, data, values, { data: { teacher } }) => ({ theta }) => {
    let inner = 0, size = 0;
    for (let h = 0; h < heads; h++) {
      const part = theta.subarray(h * head + from(head, teacher), h * head + to(head, teacher));
      inner += dot(part, teacher[of]);
      size += dot(part, part);
    }
    return size === 0 ? 0 : inner / (Math.sqrt(heads * size) * norm(teacher[of]));
  };
}

measured.multihead = {
  ...(measured.multihead ?? {}),
  align_W: alignmentWith("W", () => 0, (head, { W }) => W.length),
  align_U: alignmentWith("U", (head, { W }) => W.length, (head) => head),
};
