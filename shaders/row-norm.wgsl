// Rows, with their mean taken off if asked, divided by their deviation, LANES invocations for each row.
alias Part = f32;

fn joined(a: Part, b: Part) -> Part {
  return a + b;
}

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(local_invocation_index) index: u32, @builtin(workgroup_id) group: vec3<u32>) {
  let place = (group.x + group.y * params.row_length) * WORKGROUP_SIZE_X + index;
  let row = place / LANES;
  let start = min(row, params.count - 1u) * params.size;
  var mean = 0.0;
  if (IS_CENTERED) {
    // Counted from the first element, as in row-norm-direct.wgsl.
    let first = load_x(start);
    var sum = 0.0;
    for (var k = index % LANES; k < params.size; k += LANES) {
      sum += load_x(start + k) - first;
      if (IS_LONG) {
        sum = after_round(sum);
      }
    }
    mean = first + join_lanes(index, join_blocks(sum)) / f32(params.size);
  }
  if (IS_LONG) {
    block_count = 0u;
  }
  var squares = 0.0;
  for (var k = index % LANES; k < params.size; k += LANES) {
    let x = load_x(start + k) - mean;
    squares += x * x;
    if (IS_LONG) {
      squares = after_round(squares);
    }
  }
  let deviation = sqrt(join_lanes(index, join_blocks(squares)) / f32(params.size) + params.epsilon);
  if (row >= params.count) {
    return;
  }
  for (var k = index % LANES; k < params.size; k += LANES) {
    store(start + k, (load_x(start + k) - mean) / deviation);
  }
}
