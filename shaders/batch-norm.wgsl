// Batch normalisation with given statistics, one element per invocation.
fn compute_at(i: u32) {
  let channel = i / params.spatial % params.channels;
  let factor = load_scale(channel) * inverseSqrt(load_variance(channel) + params.epsilon);
  store(i, (load_x(i) - load_mean(channel)) * factor + load_bias(channel));
}
