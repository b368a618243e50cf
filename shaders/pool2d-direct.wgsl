// Maximum or average over a window, one output element per invocation.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let x_out = id.x;
  let y_out = id.y;
  if (x_out >= params.out_w || y_out >= params.out_h) {
    return;
  }
  let y0 = i32(y_out * params.stride_h) - params.pad_top;
  let x0 = i32(x_out * params.stride_w) - params.pad_left;
  let plane = id.z * params.in_h * params.in_w;
  var result = Element(select(0.0, -3.4028234663852886e38, IS_MAX));
  var count = 0u;
  for (var r = 0u; r < params.kernel_h; r++) {
    let y = y0 + i32(r * params.dilation_h);
    for (var s = 0u; s < params.kernel_w; s++) {
      let x = x0 + i32(s * params.dilation_w);
      if (y >= 0 && y < i32(params.in_h) && x >= 0 && x < i32(params.in_w)) {
        let value = load_x(plane + u32(y) * params.in_w + u32(x));
        if (IS_MAX) {
          result = max(result, value);
        } else {
          result += value;
          count++;
        }
      } else if (COUNTS_PAD && y < i32(params.counted_h) && x < i32(params.counted_w)) {
        // Padding that counts towards the mean; what ceil_mode adds beyond it never does.
        count++;
      }
    }
  }
  if (!IS_MAX) {
    result /= Element(max(count, 1u));
  }
  store((id.z * params.out_h + y_out) * params.out_w + x_out, result);
}
