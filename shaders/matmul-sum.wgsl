// Adds up the products of parts of k, always in the same order.
alias Part = Element4;

fn joined(a: Part, b: Part) -> Part {
  return a + b;
}

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) thread: vec3<u32>) {
  let id = thread + vec3<u32>(
    params.first_x * WORKGROUP_SIZE_X,
    params.first_y * WORKGROUP_SIZE_Y,
    params.first_z,
  );
  let column = id.x * 4u;
  if (column >= params.n || id.y >= params.m) {
    return;
  }
  var at = ((id.z * params.m + id.y) * params.n + column) / 4u;
  var sums = Element4();
  for (var part = 0u; part < params.parts; part++) {
    sums += load_partial4(at);
    if (IS_LONG) {
      sums = after_round(sums);
    }
    at += params.part_size;
  }
  store_four(id.y, column, id.z, join_blocks(sums));
}
