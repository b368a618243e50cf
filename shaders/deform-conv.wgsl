// Convolution whose taps are moved by offsets, one output element per invocation.
fn compute_at(i: u32) {
  let pixels = params.out_h * params.out_w;
  let plane = i / pixels;
  let pixel = i - plane * pixels;
  let image = plane / params.out_channels;
  let channel = plane - image * params.out_channels;
  let y0 = f32(i32(pixel / params.out_w * params.stride_h) - params.pad_h);
  let x0 = f32(i32(pixel % params.out_w * params.stride_w) - params.pad_w);
  let taps = params.kernel_h * params.kernel_w;
  let first = channel / params.group_out_channels * params.group_in_channels;
  var sum = 0.0;
  for (var c = 0u; c < params.group_in_channels; c++) {
    let group = image * params.offset_groups + (first + c) / params.offset_channels;
    let start = (image * params.in_channels + first + c) * params.in_h * params.in_w;
    for (var tap = 0u; tap < taps; tap++) {
      let at = group * taps + tap;
      let r = tap / params.kernel_w;
      let s = tap - r * params.kernel_w;
      let y = y0 + f32(r * params.dilation_h) + load_offset(at * 2u * pixels + pixel);
      let x = x0 + f32(s * params.dilation_w) + load_offset((at * 2u + 1u) * pixels + pixel);
      var value = interpolated(start, y, x) * load_w((channel * params.group_in_channels + c) * taps + tap);
      if (HAS_MASK) {
        value *= load_mask(at * pixels + pixel);
      }
      sum += value;
    }
  }
  store(i, Element(sum));
}

// The image between its pixels, with zeros around it.
fn interpolated(start: u32, y: f32, x: f32) -> f32 {
  let top = clamp(floor(y), -2.0, f32(params.in_h));
  let left = clamp(floor(x), -2.0, f32(params.in_w));
  let down = clamp(y - top, 0.0, 1.0);
  let right = clamp(x - left, 0.0, 1.0);
  let row = i32(top);
  let column = i32(left);
  // mix may take the difference of two pixels, which is NaN of infinities.
  let shares = vec2<f32>(1.0 - right, right);
  let above = dot(shares, vec2<f32>(pixel_at(start, row, column), pixel_at(start, row, column + 1)));
  let below = dot(shares, vec2<f32>(pixel_at(start, row + 1, column), pixel_at(start, row + 1, column + 1)));
  return above * (1.0 - down) + below * down;
}

fn pixel_at(start: u32, row: i32, column: i32) -> f32 {
  let last = vec2<i32>(i32(params.in_h) - 1, i32(params.in_w) - 1);
  let nearest = clamp(vec2<i32>(row, column), vec2<i32>(), last);
  let value = load_x(start + u32(nearest.x) * params.in_w + u32(nearest.y));
  return select(0.0, value, nearest.x == row && nearest.y == column);
}
