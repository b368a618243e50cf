// Few updates: each element of each looks for others of its row. The last of them counts, or the first
// combines them all, in order.
fn compute_at(i: u32) {
  let update = i / params.run;
  let inner = i - update * params.run;
  let row = row_of(update);
  if (row == OUTSIDE) {
    return;
  }
  let at = row * params.run + inner;
  if (ONLY_LAST) {
    for (var other = update + 1u; other < params.updates; other++) {
      if (row_of(other) == row) {
        return;
      }
    }
    store(at, load_updates(i));
    return;
  }
  for (var other = 0u; other < update; other++) {
    if (row_of(other) == row) {
      return;
    }
  }
  var value = combine(load_x(at), load_updates(i));
  for (var other = update + 1u; other < params.updates; other++) {
    if (row_of(other) == row) {
      value = combine(value, load_updates(other * params.run + inner));
    }
  }
  store(at, value);
}
