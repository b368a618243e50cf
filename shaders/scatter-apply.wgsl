// Each element of the result: that of x, and what the updates of its row make of it, in order.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = id.x + id.y * params.row_length;
  if (i >= params.count) {
    return;
  }
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
