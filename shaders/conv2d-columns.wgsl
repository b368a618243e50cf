// The windows of images as the columns of matrices (channels and taps, pixels), of which the product
// with the weights is a convolution; four adjacent pixels of one channel per invocation.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) thread: vec3<u32>) {
  let id = thread + vec3<u32>(
    params.first_x * WORKGROUP_SIZE_X,
    params.first_y * WORKGROUP_SIZE_Y,
    params.first_z,
  );
  if (id.x >= params.vectors || id.y >= params.in_channels) {
    return;
  }
  let pixels = id.x * 4u + vec4<u32>(0u, 1u, 2u, 3u);
  let y_out = pixels / params.out_w;
  let y0 = vec4<i32>(y_out * params.stride_h) - params.pad_h;
  let x0 = vec4<i32>((pixels - y_out * params.out_w) * params.stride_w) - params.pad_w;
  let plane = (id.z * params.in_channels + id.y) * params.in_h * params.in_w;
  // Images of a lot lie where those of the last one did.
  let channel = id.z % params.images * params.in_channels + id.y;
  let last = vec2<i32>(i32(params.in_h), i32(params.in_w)) - 1;
  var at = channel * params.kernel_h * params.kernel_w * params.vectors + id.x;
  for (var r = 0u; r < params.kernel_h; r++) {
    let y = y0 + i32(r * params.dilation_h);
    let near_y = clamp(y, vec4<i32>(), vec4<i32>(last.x));
    let rows = plane + vec4<u32>(near_y) * params.in_w;
    for (var s = 0u; s < params.kernel_w; s++) {
      let x = x0 + i32(s * params.dilation_w);
      let near_x = clamp(x, vec4<i32>(), vec4<i32>(last.y));
      let i = rows + vec4<u32>(near_x);
      let values = Element4(load_x(i.x), load_x(i.y), load_x(i.z), load_x(i.w));
      store_columns4(at, select(Element4(), values, (y == near_y) & (x == near_x)));
      at += params.vectors;
    }
  }
}
