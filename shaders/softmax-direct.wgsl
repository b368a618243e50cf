// Softmax or its logarithm along one axis, one row per invocation.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = id.x + id.y * params.row_length;
  if (i >= params.count) {
    return;
  }
  let start = i / params.inner * params.inner * params.size + i % params.inner;
  var largest = load_x(start);
  for (var k = 1u; k < params.size; k++) {
    largest = max(largest, load_x(start + k * params.inner));
  }
  var sum = 0.0;
  for (var k = 0u; k < params.size; k++) {
    sum += exp(load_x(start + k * params.inner) - largest);
  }
  let scale = select(1.0 / sum, log(sum), IS_LOG);
  for (var k = 0u; k < params.size; k++) {
    let at = start + k * params.inner;
    let x = load_x(at) - largest;
    if (IS_LOG) {
      store(at, x - scale);
    } else {
      store(at, exp(x) * scale);
    }
  }
}
