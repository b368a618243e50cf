// Maximum or average over a window, one output element per invocation. Every tap is loaded, from the
// nearest element inside of the image, and replaced where it is outside: no branches that differ.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = id.x + id.y * params.row_length;
  if (i >= params.count) {
    return;
  }
  let row_out = i / params.out_w;
  let x_out = i - row_out * params.out_w;
  let image = row_out / params.out_h;
  let y_out = row_out - image * params.out_h;
  let y0 = i32(y_out * params.stride_h) - params.pad_top;
  let x0 = i32(x_out * params.stride_w) - params.pad_left;
  let plane = image * params.in_h * params.in_w;
  let outside = Element(select(0.0, -3.4028234663852886e38, IS_MAX));
  var result = outside;
  for (var r = 0u; r < params.kernel_h; r++) {
    let y = y0 + i32(r * params.dilation_h);
    let is_row = is_inside(y, params.in_h);
    let row = plane + nearest(y, params.in_h) * params.in_w;
    for (var s = 0u; s < params.kernel_w; s++) {
      let x = x0 + i32(s * params.dilation_w);
      let loaded = load_x(row + nearest(x, params.in_w));
      let value = select(outside, loaded, is_row && is_inside(x, params.in_w));
      if (IS_MAX) {
        result = max(result, value);
      } else {
        result += value;
      }
    }
  }
  if (!IS_MAX) {
    let rows = taps_counted(y0, vec3<u32>(params.kernel_h, params.dilation_h, params.in_h), params.counted_h);
    let columns = taps_counted(x0, vec3<u32>(params.kernel_w, params.dilation_w, params.in_w), params.counted_w);
    result /= Element(max(rows * columns, 1u));
  }
  store(i, result);
}

fn is_inside(at: i32, size: u32) -> bool {
  return at >= 0 && at < i32(size);
}

fn nearest(at: i32, size: u32) -> u32 {
  return u32(clamp(at, 0, i32(size) - 1));
}

// Taps along one axis that count towards the mean: those inside, or those in the image with its
// padding; what ceil_mode adds beyond that never counts. `window`: taps, dilation, size.
fn taps_counted(start: i32, window: vec3<u32>, padded_size: u32) -> u32 {
  var count = 0u;
  for (var tap = 0u; tap < window.x; tap++) {
    let at = start + i32(tap * window.y);
    let counts = select(is_inside(at, window.z), at < i32(padded_size), COUNTS_PAD);
    count += select(0u, 1u, counts);
  }
  return count;
}
