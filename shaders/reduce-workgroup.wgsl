// A reduction over up to four groups of adjacent axes. A workgroup computes one output, or of one
// output the part that one of several pieces of its elements makes.
alias Part = Element;

fn joined(a: Part, b: Part) -> Part {
  return combine(a, b);
}

// Where the j-th of the elements of an output lies behind the first.
fn reduced_offset(j: u32) -> u32 {
  if (IS_ONE_RUN) {
    return j * params.reduced_stride3;
  }
  let r012 = j / params.reduced3;
  let r01 = r012 / params.reduced2;
  let r0 = r01 / params.reduced1;
  return r0 * params.reduced_stride0
    + (r01 - r0 * params.reduced1) * params.reduced_stride1
    + (r012 - r01 * params.reduced2) * params.reduced_stride2
    + (j - r012 * params.reduced3) * params.reduced_stride3;
}

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
  let step = WORKGROUP_SIZE_X;
  var result = initial();
  var j = first + lane;
  for (; j + 3u * step < end; j += 4u * step) {
    let a = combine(element(start + reduced_offset(j)), element(start + reduced_offset(j + step)));
    let b = combine(
      element(start + reduced_offset(j + 2u * step)),
      element(start + reduced_offset(j + 3u * step)),
    );
    result = combine(result, combine(a, b));
    if (IS_LONG) {
      result = after_round(result);
    }
  }
  for (; j < end; j += step) {
    result = combine(result, element(start + reduced_offset(j)));
  }
  result = join_lanes(lane, join_blocks(result));
  if (lane == 0u) {
    finish(i, result);
  }
}
