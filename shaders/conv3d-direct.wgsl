// Three-dimensional convolution, one output element per invocation.
fn compute_at(i: u32) {
  let row_out = i / params.out_w;
  let slice_out = row_out / params.out_h;
  let volume = slice_out / params.out_d;
  let image = volume / params.out_channels;
  let channel = volume - image * params.out_channels;
  let z0 = i32((slice_out - volume * params.out_d) * params.stride_d) - params.pad_d;
  let y0 = i32((row_out - slice_out * params.out_h) * params.stride_h) - params.pad_h;
  let x0 = i32((i - row_out * params.out_w) * params.stride_w) - params.pad_w;
  let group = channel / params.group_out_channels;
  let first = image * params.in_channels + group * params.group_in_channels;
  var weight = channel * params.group_in_channels * params.kernel_d * params.kernel_h * params.kernel_w;
  var sum = Element();
  if (HAS_BIAS) {
    sum = load_bias(channel);
  }
  for (var c = 0u; c < params.group_in_channels; c++) {
    for (var q = 0u; q < params.kernel_d; q++) {
      let z = z0 + i32(q * params.dilation_d);
      let slice = ((first + c) * params.in_d + nearest(z, params.in_d)) * params.in_h;
      for (var r = 0u; r < params.kernel_h; r++) {
        let y = y0 + i32(r * params.dilation_h);
        let is_row = is_inside(z, params.in_d) & is_inside(y, params.in_h);
        let row = (slice + nearest(y, params.in_h)) * params.in_w;
        for (var s = 0u; s < params.kernel_w; s++) {
          let x = x0 + i32(s * params.dilation_w);
          let value = load_x(row + nearest(x, params.in_w));
          sum += load_w(weight) * select(Element(), value, is_row & is_inside(x, params.in_w));
          weight++;
        }
      }
    }
  }
  store(i, sum);
}

fn is_inside(at: i32, size: u32) -> bool {
  return (at >= 0) & (at < i32(size));
}

fn nearest(at: i32, size: u32) -> u32 {
  return u32(clamp(at, 0, i32(size) - 1));
}
