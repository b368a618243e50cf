// Two-dimensional convolution as the product of weights (channels, taps) and the image's windows
// (taps, pixels), which are gathered as they are loaded; goes with lib/workgroup-tile.wgsl.
var<private> image_start: u32;
var<private> first_channel: u32;
var<private> image: u32;

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let group = workgroup + vec3<u32>(params.first_x, params.first_y, params.first_z);
  image = group.z / params.groups;
  let channel_group = group.z - image * params.groups;
  first_channel = channel_group * params.group_out_channels;
  image_start = group.z * params.group_in_channels * params.in_h * params.in_w;
  multiply_tile(group, local, tap_count());
}

fn tap_count() -> u32 {
  return params.group_in_channels * params.kernel_h * params.kernel_w;
}

fn load_left(channel: u32, tap: u32) -> Element {
  if (channel >= params.group_out_channels || tap >= tap_count()) {
    return Element();
  }
  return load_w((first_channel + channel) * tap_count() + tap);
}

fn load_right(tap: u32, pixel: u32) -> Element4 {
  if (tap >= tap_count()) {
    return Element4();
  }
  let row_of_taps = tap / params.kernel_w;
  let s = tap - row_of_taps * params.kernel_w;
  let channel = row_of_taps / params.kernel_h;
  let r = row_of_taps - channel * params.kernel_h;
  let plane = image_start + channel * params.in_h * params.in_w;
  let offset_y = i32(r * params.dilation_h) - params.pad_top;
  let offset_x = i32(s * params.dilation_w) - params.pad_left;
  return Element4(
    load_pixel(plane, pixel, offset_y, offset_x),
    load_pixel(plane, pixel + 1u, offset_y, offset_x),
    load_pixel(plane, pixel + 2u, offset_y, offset_x),
    load_pixel(plane, pixel + 3u, offset_y, offset_x),
  );
}

fn load_pixel(plane: u32, pixel: u32, offset_y: i32, offset_x: i32) -> Element {
  let y_out = pixel / params.out_w;
  let y = i32(y_out * params.stride_h) + offset_y;
  let x = i32((pixel - y_out * params.out_w) * params.stride_w) + offset_x;
  let is_inside = y >= 0 && y < i32(params.in_h) && x >= 0 && x < i32(params.in_w);
  if (!is_inside || y_out >= params.out_h) {
    return Element();
  }
  return load_x(plane + u32(y) * params.in_w + u32(x));
}

fn store_row(channel: u32, pixel: u32, sums: Element4) {
  if (channel >= params.group_out_channels) {
    return;
  }
  let out_channel = first_channel + channel;
  var results = sums;
  if (HAS_BIAS) {
    results += load_bias(out_channel);
  }
  let pixels = params.out_h * params.out_w;
  let start = (image * params.out_channels + out_channel) * pixels;
  for (var i = 0u; i < 4u; i++) {
    if (pixel + i < pixels) {
      store(start + pixel + i, results[i]);
    }
  }
}
