// The transpose of a convolution, one output element per invocation, which looks for the inputs
// whose windows reach it.
fn compute_at(i: u32) {
  let row_out = i / params.out_w;
  let slice_out = row_out / params.out_h;
  let volume = slice_out / params.out_d;
  let image = volume / params.out_channels;
  let channel = volume - image * params.out_channels;
  let z1 = i32(slice_out - volume * params.out_d) + params.pad_d;
  let y1 = i32(row_out - slice_out * params.out_h) + params.pad_h;
  let x1 = i32(i - row_out * params.out_w) + params.pad_w;
  let group = channel / params.group_out_channels;
  let first = group * params.group_in_channels;
  let taps = params.kernel_d * params.kernel_h * params.kernel_w;
  let in_size = params.in_d * params.in_h * params.in_w;
  let x_start = (image * params.in_channels + first) * in_size;
  let w_start = (first * params.group_out_channels + channel - group * params.group_out_channels) * taps;
  var sum = Element();
  if (HAS_BIAS) {
    sum = load_bias(channel);
  }
  for (var q = 0u; q < params.kernel_d; q++) {
    let z = source(z1 - i32(q * params.dilation_d), params.stride_d, params.in_d);
    if (z < 0) {
      continue;
    }
    for (var r = 0u; r < params.kernel_h; r++) {
      let y = source(y1 - i32(r * params.dilation_h), params.stride_h, params.in_h);
      if (y < 0) {
        continue;
      }
      for (var s = 0u; s < params.kernel_w; s++) {
        let x = source(x1 - i32(s * params.dilation_w), params.stride_w, params.in_w);
        if (x < 0) {
          continue;
        }
        var at = x_start + (u32(z) * params.in_h + u32(y)) * params.in_w + u32(x);
        var weight = w_start + (q * params.kernel_h + r) * params.kernel_w + s;
        for (var c = 0u; c < params.group_in_channels; c++) {
          sum += load_w(weight) * load_x(at);
          at += in_size;
          weight += params.group_out_channels * taps;
        }
      }
    }
  }
  store(i, sum);
}

// Which element's window lies so that its tap falls on `at`; -1 for none.
fn source(at: i32, stride: u32, size: u32) -> i32 {
  let place = at / i32(stride);
  return select(-1, place, (at >= 0) & (place * i32(stride) == at) & (place < i32(size)));
}
