// Sums of weighted neighbours along one axis, one output element per invocation.
fn compute_at(i: u32) {
  let line = i / params.inner;
  let outer = line / params.out_size;
  let row = (line - outer * params.out_size) * params.width;
  let begin = load_table(row);
  if (begin < 0.0) {
    store(i, Element(load_table(row + 1u)));
    return;
  }
  let first = (outer * params.size + u32(begin)) * params.inner + i - line * params.inner;
  var sum = 0.0;
  for (var tap = 0u; tap + 1u < params.width; tap++) {
    sum += load_table(row + 1u + tap) * load_x(first + tap * params.inner);
  }
  store(i, Element(sum));
}
