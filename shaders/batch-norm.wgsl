// Batch normalisation with given statistics, one element per invocation.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = id.x + id.y * params.row_length;
  if (i >= params.count) {
    return;
  }
  let channel = i / params.spatial % params.channels;
  let factor = load_scale(channel) * inverseSqrt(load_variance(channel) + params.epsilon);
  store(i, (load_x(i) - load_mean(channel)) * factor + load_bias(channel));
}
