// Two-dimensional convolution, one output element per invocation.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) thread: vec3<u32>) {
  let id = thread + vec3<u32>(
    params.first_x * WORKGROUP_SIZE_X,
    params.first_y * WORKGROUP_SIZE_Y,
    params.first_z,
  );
  let pixel = id.x;
  let channel = id.y;
  if (pixel >= params.out_h * params.out_w || channel >= params.out_channels) {
    return;
  }
  let y0 = i32(pixel / params.out_w * params.stride_h) - params.pad_h;
  let x0 = i32(pixel % params.out_w * params.stride_w) - params.pad_w;
  let group = channel / params.group_out_channels;
  let plane = params.in_h * params.in_w;
  let x_start = (id.z * params.in_channels + group * params.group_in_channels) * plane;
  let w_start = channel * params.group_in_channels * params.kernel_h * params.kernel_w;
  var sum = Element();
  if (HAS_BIAS) {
    sum = load_bias(channel);
  }
  for (var c = 0u; c < params.group_in_channels; c++) {
    for (var r = 0u; r < params.kernel_h; r++) {
      let y = y0 + i32(r * params.dilation_h);
      if (y < 0 || y >= i32(params.in_h)) {
        continue;
      }
      for (var s = 0u; s < params.kernel_w; s++) {
        let x = x0 + i32(s * params.dilation_w);
        if (x < 0 || x >= i32(params.in_w)) {
          continue;
        }
        let w = load_w(w_start + (c * params.kernel_h + r) * params.kernel_w + s);
        sum += w * load_x(x_start + c * plane + u32(y) * params.in_w + u32(x));
      }
    }
  }
  store((id.z * params.out_channels + channel) * params.out_h * params.out_w + pixel, sum);
}
