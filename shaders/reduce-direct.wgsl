// A reduction over up to four groups of adjacent axes, one output per invocation.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = id.x + id.y * params.row_length;
  if (i >= params.count) {
    return;
  }
  let start = kept_offset(i);
  var result = initial();
  for (var r0 = 0u; r0 < params.reduced0; r0++) {
    for (var r1 = 0u; r1 < params.reduced1; r1++) {
      for (var r2 = 0u; r2 < params.reduced2; r2++) {
        let row = start + r0 * params.reduced_stride0 + r1 * params.reduced_stride1
          + r2 * params.reduced_stride2;
        for (var r3 = 0u; r3 < params.reduced3; r3++) {
          result = combine(result, element(row + r3 * params.reduced_stride3));
        }
      }
    }
  }
  finish(i, result);
}
