// Each element of the result: that of x, and what the updates of its row make of it, in order.
fn compute_at(i: u32) {
  let row = i / params.run;
  let inner = i - row * params.run;
  var value = load_x(i);
  var node = load_head(row);
  if (ONLY_LAST) {
    if (node != 0u) {
      value = load_updates((node - 1u) * params.run + inner);
    }
  } else {
    while (node != 0u) {
      value = combine(value, load_updates((node - 1u) * params.run + inner));
      node = load_next(node - 1u);
    }
  }
  store(i, value);
}
