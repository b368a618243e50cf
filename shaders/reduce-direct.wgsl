// Sum, mean or maximum over up to three groups of adjacent axes, one output per invocation.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = id.x + id.y * params.row_length;
  if (i >= params.count) {
    return;
  }
  var rest = i;
  let k2 = rest % params.kept2;
  rest /= params.kept2;
  let k1 = rest % params.kept1;
  let k0 = rest / params.kept1;
  let start = k0 * params.kept_stride0 + k1 * params.kept_stride1 + k2 * params.kept_stride2;
  var result = Element();
  if (IS_MAX) {
    result = load_x(start);
  }
  for (var r0 = 0u; r0 < params.reduced0; r0++) {
    for (var r1 = 0u; r1 < params.reduced1; r1++) {
      let row = start + r0 * params.reduced_stride0 + r1 * params.reduced_stride1;
      for (var r2 = 0u; r2 < params.reduced2; r2++) {
        let value = load_x(row + r2 * params.reduced_stride2);
        if (IS_MAX) {
          result = max(result, value);
        } else {
          result += value;
        }
      }
    }
  }
  if (IS_MEAN) {
    result /= Element(params.reduced0 * params.reduced1 * params.reduced2);
  }
  store(i, result);
}
