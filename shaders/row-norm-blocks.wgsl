// Rows of whole groups of four elements, four groups or more, with their mean taken off if asked, divided
// by their deviation, one row per invocation. As row-norm-direct.wgsl, but four groups an iteration, and a
// row's last block overlaps the one before it.
fn total(x: vec4<f32>) -> f32 {
  return (x.x + x.y) + (x.z + x.w);
}

fn compute_at(i: u32) {
  let groups = params.size / 4u;
  let start = i * groups;
  var first = 0.0;
  if (IS_CENTERED) {
    first = load_x4(start).x;
  }
  // Of the elements so far, less the first.
  var offset = 0.0;
  var squares = 0.0;
  // Where the block of a long row begins.
  var origin = 0u;
  for (var k = 0u; k < groups; k += 4u) {
    let begin = min(k, groups - 4u);
    let at = start + begin;
    let fresh = vec3<bool>(begin >= k, begin + 1u >= k, begin + 2u >= k);
    var center = 0.0;
    if (IS_CENTERED) {
      center = first + offset;
    }
    let c0 = load_x4(at) - center;
    let c1 = load_x4(at + 1u) - center;
    let c2 = load_x4(at + 2u) - center;
    let c3 = load_x4(at + 3u) - center;
    let parts = select(vec3<f32>(), vec3<f32>(dot(c0, c0), dot(c1, c1), dot(c2, c2)), fresh);
    squares += (parts.x + parts.y) + (parts.z + dot(c3, c3));
    if (IS_CENTERED) {
      let sums = select(vec3<f32>(), vec3<f32>(total(c0), total(c1), total(c2)), fresh);
      let sum = (sums.x + sums.y) + (sums.z + total(c3));
      let rest = (center - first) - offset;
      let all = sum + f32((begin + 4u - k) * 4u) * rest;
      let step = all / f32((begin + 4u - origin) * 4u);
      squares += rest * (sum + all) - all * step;
      offset += step;
    }
    if (IS_LONG) {
      if (ends_block()) {
        keep_block(Part(offset, squares, f32((begin + 4u - origin) * 4u)));
        offset = 0.0;
        squares = 0.0;
        origin = begin + 4u;
      }
    }
  }
  if (IS_LONG) {
    let row = join_blocks(Part(offset, squares, f32((groups - origin) * 4u)));
    offset = row.x;
    squares = row.y;
  }
  let size = f32(params.size);
  let mean = first + offset;
  let scale = 1.0 / sqrt(squares / size + params.epsilon);
  for (var k = 0u; k < groups; k += 4u) {
    let at = start + min(k, groups - 4u);
    let x0 = load_x4(at);
    let x1 = load_x4(at + 1u);
    let x2 = load_x4(at + 2u);
    let x3 = load_x4(at + 3u);
    store4(at, (x0 - mean) * scale);
    store4(at + 1u, (x1 - mean) * scale);
    store4(at + 2u, (x2 - mean) * scale);
    store4(at + 3u, (x3 - mean) * scale);
  }
}
