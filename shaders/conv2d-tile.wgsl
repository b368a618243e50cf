// Two-dimensional convolution for adapters without fast workgroup memory: every invocation keeps
// TILE_CHANNELS output channels of TILE_PIXELS adjacent pixels of one row in registers.
// `accumulate` and `store_tile` are unrolled for the tile and the window's width; `store_four` is in
// lib/store-four-*.wgsl.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) thread: vec3<u32>) {
  let id = thread + vec3<u32>(
    params.first_x * WORKGROUP_SIZE_X,
    params.first_y * WORKGROUP_SIZE_Y,
    params.first_z,
  );
  let lane = id.x & 3u;
  let y_out = id.x / params.blocks_w;
  let x_out = (id.x - y_out * params.blocks_w) * TILE_PIXELS;
  let group = min(id.y / params.group_blocks, params.groups - 1u);
  let channel = (id.y - group * params.group_blocks) * TILE_CHANNELS;
  let plane = params.in_h * params.in_w;
  var tile: Tile;
  accumulate(
    &tile,
    (id.z * params.groups + group) * params.group_in_channels * plane,
    group * params.group_out_channels + channel,
    (group + 1u) * params.group_out_channels - 1u,
    lane,
    i32(y_out * params.stride_h) - params.pad_h,
    i32(x_out * params.stride_w) - params.pad_w,
  );
  if (y_out < params.out_h) {
    store_tile(&tile, id.z, group, channel, lane, y_out, x_out);
  }
}

// Start of a channel's weights.
fn weights_of(channel: u32, last_channel: u32) -> u32 {
  return min(channel, last_channel) * params.group_in_channels * (params.kernel_h * params.kernel_w);
}

// The nearest column inside of the image; what is read outside of it is replaced by zero.
fn column_inside(x: i32) -> u32 {
  return u32(clamp(x, 0, i32(params.in_w) - 1));
}

fn is_column(x: i32) -> bool {
  return u32(x) < params.in_w;
}

fn row_inside(y: i32) -> u32 {
  return u32(clamp(y, 0, i32(params.in_h) - 1)) * params.in_w;
}

fn is_row(y: i32) -> bool {
  return u32(y) < params.in_h;
}

fn store_pixels(batch: u32, group: u32, channel: u32, y: u32, x: u32, sums: Element4) {
  if (channel >= params.group_out_channels) {
    return;
  }
  let out_channel = group * params.group_out_channels + channel;
  var result = sums;
  if (HAS_BIAS) {
    result += load_bias(out_channel);
  }
  let start = ((batch * params.out_channels + out_channel) * params.out_h + y) * params.out_w + x;
  store_four(start, x, result);
}
