// A reduction over up to four groups of adjacent axes. A workgroup computes one output, or of one
// output the part that one of several pieces of its elements makes.
var<workgroup> partial: array<Element, WORKGROUP_SIZE_X>;

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(
  @builtin(local_invocation_index) lane: u32,
  @builtin(workgroup_id) group: vec3<u32>,
) {
  let i = min(group.x + group.y * params.row_length, params.count - 1u);
  let output = i / params.pieces;
  let start = kept_offset(output);
  let first = (i - output * params.pieces) * params.piece_size;
  let end = min(first + params.piece_size, params.divisor);
  var result = initial();
  for (var j = first + lane; j < end; j += WORKGROUP_SIZE_X) {
    let r012 = j / params.reduced3;
    let r01 = r012 / params.reduced2;
    let r0 = r01 / params.reduced1;
    result = combine(result, element(start + r0 * params.reduced_stride0
      + (r01 - r0 * params.reduced1) * params.reduced_stride1
      + (r012 - r01 * params.reduced2) * params.reduced_stride2
      + (j - r012 * params.reduced3) * params.reduced_stride3));
  }
  partial[lane] = result;
  for (var half = WORKGROUP_SIZE_X / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      partial[lane] = combine(partial[lane], partial[lane + half]);
    }
  }
  if (lane == 0u) {
    finish(i, partial[0]);
  }
}
