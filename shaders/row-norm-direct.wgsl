// Rows, with their mean taken off if asked, divided by their deviation, one row per invocation. Sum and
// squares come from one pass, group by group: T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating
// formulae and a pairwise algorithm for computing sample variances" (1979).
// What the squares of two groups' elements about their own means lack of those about their common one.
fn apart(mean: f32, sum: f32, before: f32, count: f32) -> f32 {
  let difference = mean - sum / max(before, 1.0);
  return difference * difference * (before * count / (before + count));
}

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = id.x + id.y * params.row_length;
  if (i >= params.count) {
    return;
  }
  let start = i * params.size;
  var sum = 0.0;
  var squares = 0.0;
  let groups = params.size / 4u;
  for (var group = 0u; group < groups; group++) {
    let x = load_four(start, group);
    let total = (x.x + x.y) + (x.z + x.w);
    let mean = select(0.0, total * 0.25, IS_CENTERED);
    let c = x - mean;
    squares += dot(c, c);
    if (IS_CENTERED) {
      squares += apart(mean, sum, f32(group * 4u), 4.0);
      sum += total;
    }
  }
  if (HAS_TAIL) {
    for (var k = groups * 4u; k < params.size; k++) {
      let x = load_one(start + k);
      if (IS_CENTERED) {
        squares += apart(x, sum, f32(k), 1.0);
        sum += x;
      } else {
        squares += x * x;
      }
    }
  }
  let size = f32(params.size);
  let mean = sum / size;
  let scale = 1.0 / sqrt(squares / size + params.epsilon);
  for (var group = 0u; group < groups; group++) {
    store_four(start, group, (load_four(start, group) - mean) * scale);
  }
  if (HAS_TAIL) {
    for (var k = groups * 4u; k < params.size; k++) {
      store_one(start + k, (load_one(start + k) - mean) * scale);
    }
  }
}
