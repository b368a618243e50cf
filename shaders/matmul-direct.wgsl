// C = alpha * A B + beta * bias, one element per invocation.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) thread: vec3<u32>) {
  let id = thread + vec3<u32>(
    params.first_x * WORKGROUP_SIZE_X,
    params.first_y * WORKGROUP_SIZE_Y,
    params.first_z,
  );
  let column = id.x;
  let row = id.y;
  if (row >= params.m || column >= params.n) {
    return;
  }
  let batch = id.z;
  let starts = batch_starts(batch);
  let a0 = starts.x + row * params.a_row;
  let b0 = starts.y + column * params.b_column;
  var sum = Element();
  for (var k = 0u; k < params.k; k++) {
    sum += load_a(a0 + k * params.a_k) * load_b(b0 + k * params.b_k);
  }
  sum *= Element(params.alpha);
  if (HAS_C) {
    sum += Element(params.beta) * load_c(row * params.c_row + column * params.c_column);
  }
  store((batch * params.m + row) * params.n + column, sum);
}
