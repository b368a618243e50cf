// Changes the elements of each row that updates go to, in the place of the update that heads its list.
fn compute_at(i: u32) {
  let update = i / params.run;
  let inner = i - update * params.run;
  var node = load_begin(update);
  if (node == 0u) {
    return;
  }
  let at = row_of(update) * params.run + inner;
  if (ONLY_LAST) {
    store(at, load_updates((node - 1u) * params.run + inner));
    return;
  }
  var value = load_x(at);
  while (node != 0u) {
    value = combine(value, load_updates((node - 1u) * params.run + inner));
    node = load_next(node - 1u);
  }
  store(at, value);
}
