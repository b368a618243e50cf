// Rows of whole groups of four elements, four groups or more, with their mean taken off if asked, divided
// by their deviation, one row per invocation. As row-norm-direct.wgsl, but four groups an iteration, and a
// row's last block overlaps the one before it.
fn total(x: vec4<f32>) -> f32 {
  return (x.x + x.y) + (x.z + x.w);
}

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = id.x + id.y * params.row_length;
  if (i >= params.count) {
    return;
  }
  let groups = params.size / 4u;
  let start = i * groups;
  var sum = 0.0;
  var squares = 0.0;
  for (var k = 0u; k < groups; k += 4u) {
    let first = min(k, groups - 4u);
    let at = start + first;
    let fresh = vec3<bool>(first >= k, first + 1u >= k, first + 2u >= k);
    let x0 = load_x4(at);
    let x1 = load_x4(at + 1u);
    let x2 = load_x4(at + 2u);
    let x3 = load_x4(at + 3u);
    var mean = 0.0;
    if (IS_CENTERED) {
      let sums = select(vec3<f32>(), vec3<f32>(total(x0), total(x1), total(x2)), fresh);
      let more = (sums.x + sums.y) + (sums.z + total(x3));
      let before = f32(k * 4u);
      let count = f32((first + 4u - k) * 4u);
      mean = more / count;
      let difference = mean - sum / max(before, 1.0);
      squares += difference * difference * (before * count / (before + count));
      sum += more;
    }
    let c0 = x0 - mean;
    let c1 = x1 - mean;
    let c2 = x2 - mean;
    let c3 = x3 - mean;
    let parts = select(vec3<f32>(), vec3<f32>(dot(c0, c0), dot(c1, c1), dot(c2, c2)), fresh);
    squares += (parts.x + parts.y) + (parts.z + dot(c3, c3));
  }
  let size = f32(params.size);
  let mean = sum / size;
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
