// Sum, mean or maximum over up to three groups of adjacent axes, one output per workgroup.
var<workgroup> partial: array<Element, WORKGROUP_SIZE_X>;

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(
  @builtin(local_invocation_index) lane: u32,
  @builtin(workgroup_id) group: vec3<u32>,
) {
  let i = min(group.x + group.y * params.row_length, params.count - 1u);
  let k0k1 = i / params.kept2;
  let k0 = k0k1 / params.kept1;
  let start = k0 * params.kept_stride0
    + (k0k1 - k0 * params.kept1) * params.kept_stride1
    + (i - k0k1 * params.kept2) * params.kept_stride2;
  let total = params.reduced0 * params.reduced1 * params.reduced2;
  var result = Element();
  if (IS_MAX) {
    result = load_x(start);
  }
  for (var j = lane; j < total; j += WORKGROUP_SIZE_X) {
    let r0r1 = j / params.reduced2;
    let r0 = r0r1 / params.reduced1;
    let value = load_x(start + r0 * params.reduced_stride0
      + (r0r1 - r0 * params.reduced1) * params.reduced_stride1
      + (j - r0r1 * params.reduced2) * params.reduced_stride2);
    result = combine(result, value);
  }
  partial[lane] = result;
  for (var half = WORKGROUP_SIZE_X / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      partial[lane] = combine(partial[lane], partial[lane + half]);
    }
  }
  if (lane == 0u) {
    result = partial[0];
    if (IS_MEAN) {
      result /= Element(total);
    }
    store(i, result);
  }
}

fn combine(a: Element, b: Element) -> Element {
  if (IS_MAX) {
    return max(a, b);
  }
  return a + b;
}
