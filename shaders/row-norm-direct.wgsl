// Rows, with their mean taken off if asked, divided by their deviation, one row per invocation. Sum and
// squares come from one pass, group by group: T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating
// formulae and a pairwise algorithm for computing sample variances" (1979). The mean is counted from the
// row's first element, so that those of a row of equal ones deviate from it by 0 exactly: a small epsilon
// magnifies whatever is left.
struct Moments {
  first: f32,
  // Of the elements so far, less the first.
  mean: f32,
  squares: f32,
}

// What a group has in squares about `center`, which is the mean but for its rounding, and as their sum.
fn with_group(before: Moments, center: f32, squares: f32, sum: f32, counts: vec2<f32>) -> Moments {
  let rest = (center - before.first) - before.mean;
  let total = sum + counts.x * rest;
  let step = total / counts.y;
  let about = squares + rest * (sum + total) - total * step;
  return Moments(before.first, before.mean + step, before.squares + about);
}

fn compute_at(i: u32) {
  let start = i * params.size;
  let groups = params.size / 4u;
  var moments = Moments();
  if (IS_CENTERED) {
    if (HAS_TAIL && groups == 0u) {
      moments.first = load_one(start);
    } else {
      moments.first = load_four(start, 0u).x;
    }
  }
  // Where the block of a long row begins.
  var origin = 0u;
  for (var group = 0u; group < groups; group++) {
    let x = load_four(start, group);
    if (IS_CENTERED) {
      let center = moments.first + moments.mean;
      let c = x - center;
      let sum = (c.x + c.y) + (c.z + c.w);
      moments = with_group(moments, center, dot(c, c), sum, vec2<f32>(4.0, f32((group - origin) * 4u + 4u)));
    } else {
      moments.squares += dot(x, x);
    }
    if (IS_LONG) {
      if (ends_block()) {
        keep_block(Part(moments.mean, moments.squares, f32((group + 1u - origin) * 4u)));
        moments = Moments(moments.first, 0.0, 0.0);
        origin = group + 1u;
      }
    }
  }
  if (HAS_TAIL) {
    for (var k = groups * 4u; k < params.size; k++) {
      let x = load_one(start + k);
      if (IS_CENTERED) {
        let center = moments.first + moments.mean;
        let c = x - center;
        moments = with_group(moments, center, c * c, c, vec2<f32>(1.0, f32(k - origin * 4u + 1u)));
      } else {
        moments.squares += x * x;
      }
    }
  }
  if (IS_LONG) {
    let row = join_blocks(Part(moments.mean, moments.squares, f32(params.size - origin * 4u)));
    moments = Moments(moments.first, row.x, row.y);
  }
  let size = f32(params.size);
  let mean = moments.first + moments.mean;
  let scale = 1.0 / sqrt(moments.squares / size + params.epsilon);
  for (var group = 0u; group < groups; group++) {
    store_four(start, group, (load_four(start, group) - mean) * scale);
  }
  if (HAS_TAIL) {
    for (var k = groups * 4u; k < params.size; k++) {
      store_one(start + k, (load_one(start + k) - mean) * scale);
    }
  }
}
